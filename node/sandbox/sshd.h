#pragma once
/*
 * What sshd needs in a sandbox whose root is not the machine's root: host keys it may read
 * and, at level user, where there is a single id, an account of its own with that id and a
 * setgroups call that seems to succeed. Ref: local-runtime.md 5.
 */
#include "node/sandbox/isolation_level.h"

enum { SSHD_FILES_MAX = 3 };

/** Writes the files for sshd below `own_fd`, the pod's directory, with the two halves of a host
 * key. */
bool sshd_make(int own_fd, enum isolation_level level, const char *host_key,
               const char *host_public, struct error *err);

/* Returns the i-th file for sshd: its name below the pod's directory, and the path at which
 * programs expect it. Returns false when there is no i-th file at this level. */
bool sshd_file(enum isolation_level level, size_t i, const char **out_name, const char **out_path);

/** Lets setgroups do nothing and succeed, in this process and its descendants. The process must
 * have no_new_privs. */
void sshd_pretend_groups(void);
