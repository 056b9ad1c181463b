#pragma once
/*
 * The API on a unix socket: mode 0600 in the data directory, for the user of this process alone
 * (SEC-01).
 */
#include "api/server/api.h"

struct listener;

/** Listen on `path`, of any length (a stale socket of an earlier life is replaced). Borrows `api`.
 */
struct listener *listener_start(struct loop *loop, struct api *api, const char *path,
                                struct error *err);
/** Stop listening, drop the connections, remove the socket. NULL is fine. */
void listener_stop(struct listener *listener);
