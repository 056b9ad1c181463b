#pragma once
/*
 * Paths of unix sockets of any length. The kernel takes at most 107 bytes; a longer path is reached
 * through a descriptor of its directory (/proc/self/fd/N/NAME).
 */
#include <sys/un.h>

#include "base/error.h"
#include "base/scoped.h"

struct unix_path {
    int directory; /* descriptor of the socket's directory; -1: not needed */
    char text[sizeof((struct sockaddr_un){0}).sun_path];
};

/** Opens the directory of the socket. NOT_FOUND when the directory does not exist; INVALID when
 * even the name is too long. */
bool unix_path_open(const char *path, struct unix_path *out, struct error *err);
void unix_path_release(struct unix_path *path);
SCOPED_DEFINE(unix_path, struct unix_path, unix_path_release)
