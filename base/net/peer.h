#pragma once
/*
 * The process at the other end of a unix socket.
 */
#include "base/error.h"

/**
 * Refuses a connected unix socket whose listener belongs to neither our user nor root. FORBIDDEN
 * with `err`, which names `where`. The kernel tells the credentials that the listener had when it
 * began to listen (SO_PEERCRED, unix(7)).
 */
bool peer_is_ours(int socket_fd, const char *where, struct error *err);
