#pragma once
/*
 * What sshd needs in a sandbox whose root is not the real one: host keys it may read, and, where there
 * is a single id, an account of its own that is that id, and a kernel that lets it pretend to
 * change groups. Ref: local-runtime.md 5.
 */
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/rootfs.h"

enum { SSHD_FILES_MAX = 3 };

/** Make the files below `own_fd`, the pod's directory, of the two halves of a host key. */
bool sshd_make(int own_fd, enum isolation_level level, const char *host_key,
               const char *host_public, struct error *err);

/* One of them: where it is, and where programs want it. False when there is no i-th. */
bool sshd_file(enum isolation_level level, size_t i, const char **out_name, const char **out_path);

/** In a child that has no_new_privs: it and its descendants pretend to change groups. */
void sshd_pretend_groups(void);
