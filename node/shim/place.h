#pragma once
/*
 * The place of a shim on disk: its directory, the lock it holds for life, the socket it listens on.
 * Made by whoever starts the shim, so that nobody ever sees a shim without them.
 */
#include "base/error.h"
#include <sys/un.h>

struct place {
    int dir_fd, lock_fd, listen_fd;
};

/** Make the directory `id` in `shims_fd` with lock and socket. EXISTS when there is one. */
bool place_make(int shims_fd, const char *id, struct place *out, struct error *err);
void place_close(struct place *place);

/** The address of the socket in a directory; through the descriptor, for paths of any length. */
void place_address(int dir_fd, struct sockaddr_un *out);
