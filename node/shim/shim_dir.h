#pragma once
/*
 * The directory of a shim, locked as long as the shim lives, and the socket in it. The node makes
 * both before it starts the shim, so a shim without them is never seen.
 */
#include <sys/un.h>

#include "base/error.h"

struct shim_dir {
    int dir_fd; /* its open file description holds the lock: pass the descriptor on, and keep no
                 * copy */
    int listen_fd;
};

/** Makes the directory `id` in `shims_fd`, locks it, and listens on a socket in it. Sets EXISTS
 * when there is such a directory. */
bool shim_dir_create(int shims_fd, const char *id, struct shim_dir *out, struct error *err);
void shim_dir_close(struct shim_dir *dir);

/** Composes the address of the socket in a directory. It leads through the descriptor, so the
 * length of the path does not matter. */
void shim_dir_address(int dir_fd, struct sockaddr_un *out);

/** Finds the absolute path of an open directory; "" when it is not known. */
enum { SHIM_DIR_PATH_MAX = 4096 };
void shim_dir_path(int dir_fd, char out[SHIM_DIR_PATH_MAX]);

/** Removes the files of a shim and its directory. */
void shim_dir_remove(int dir_fd);
