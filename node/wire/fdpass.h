#pragma once
/*
 * A message of fixed size over a unix socket, with descriptors.
 */
#include <stdbool.h>
#include <stddef.h>

enum { FDPASS_MAX = 2 };

/** Send all of it, with `n` (up to FDPASS_MAX) descriptors, which stay ours. False with errno. */
bool fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, size_t n, int flags);

/** Receive exactly that much: how many descriptors came with it (close on exec), or -1. */
int fdpass_receive(int socket_fd, void *out, size_t len, int out_fds[FDPASS_MAX], int flags);
