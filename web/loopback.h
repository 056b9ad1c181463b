#pragma once
/*
 * The listener of `jobflow ui`: plain HTTP on 127.0.0.1 and, where there is IPv6, ::1.
 */
#include "api/server/http/listener.h"

/** Listens on both addresses. `port` 0 takes 6481, or a free one when that is taken; any other port
 * is taken or refused with EXISTS. Borrows the handler. NULL on failure. */
struct listener *loopback_listen(struct loop *loop, struct http_handler *handler, int port,
                                 int *out_port, struct error *err);
