#pragma once
/*
 * The place of a shim on disk: its directory, locked as long as it lives, and the socket in it.
 * Made by whoever starts the shim, so that nobody ever sees a shim without them.
 */
#include <sys/un.h>

#include "base/error.h"

struct place {
    int dir_fd; /* its open file holds the lock: hand it on, do not keep a copy */
    int listen_fd;
};

/** Make the directory `id` in `shims_fd` locked, with its socket. EXISTS when there is one. */
bool place_make(int shims_fd, const char *id, struct place *out, struct error *err);
void place_close(struct place *place);

/** The address of the socket in a directory; through the descriptor, for paths of any length. */
void place_address(int dir_fd, struct sockaddr_un *out);

/** Remove what a place holds and the place itself, from inside. */
void place_remove(int dir_fd);
