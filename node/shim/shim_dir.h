#pragma once
/*
 * The place of a shim on disk: its directory, locked as long as it lives, and the socket in it.
 * Made by whoever starts the shim, so that nobody ever sees a shim without them.
 */
#include <sys/un.h>

#include "base/error.h"

struct shim_dir {
    int dir_fd; /* its open file holds the lock: hand it on, do not keep a copy */
    int listen_fd;
};

/** Make the directory `id` in `shims_fd` locked, with its socket. EXISTS when there is one. */
bool shim_dir_create(int shims_fd, const char *id, struct shim_dir *out, struct error *err);
void shim_dir_close(struct shim_dir *dir);

/** The address of the socket in a directory; through the descriptor, for paths of any length. */
void shim_dir_address(int dir_fd, struct sockaddr_un *out);

/** Remove what a place holds and the place itself, from inside. */
void shim_dir_remove(int dir_fd);
