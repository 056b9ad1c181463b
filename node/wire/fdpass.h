#pragma once
/*
 * Messages of a fixed size over a unix socket, which carry file descriptors (SCM_RIGHTS).
 */
#include <stdbool.h>
#include <stddef.h>

enum { FDPASS_MAX = 2 };

/** Sends `len` bytes with `n` file descriptors, at most FDPASS_MAX. The descriptors stay open in
 * this process. Returns false with errno set when it fails. */
bool fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, size_t n, int flags);

/** Receives exactly `len` bytes. Returns the number of file descriptors that came with them, which
 * are owned by the caller and close on exec. Returns -1 on failure; no descriptor is then left
 * open. */
int fdpass_receive(int socket_fd, void *out, size_t len, int out_fds[FDPASS_MAX], int flags);
