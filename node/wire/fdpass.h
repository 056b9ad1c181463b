#pragma once
/*
 * Messages of a fixed size over a unix socket, which carry file descriptors (SCM_RIGHTS).
 */
#include <stdbool.h>
#include <stddef.h>

enum { FDPASS_MAX = 2 };

/** Send `len` bytes with `n` (up to FDPASS_MAX) descriptors, which stay open here. False with
 * errno. */
bool fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, size_t n, int flags);

/** Receive exactly `len` bytes. Returns the number of descriptors that came with them (owned, close
 * on exec), or -1; then none is left open. */
int fdpass_receive(int socket_fd, void *out, size_t len, int out_fds[FDPASS_MAX], int flags);
