#pragma once
/*
 * Between cgroup.c, which makes groups, and cgroup_remove.c, which removes those that killed shims
 * left behind.
 */
#include "node/sandbox/cgroup/cgroup.h"

/* The names of all groups begin with it. */
#define CGROUP_PREFIX "jobflow-"

enum { CGROUP_TEXT_MAX = 1 << 20 }; /* largest size in bytes of a file of the kernel */

/** Returns the path of the file by which one thread joins the group in `dir`; owned. Joining
 * processes have a single thread, and cgroup v1 has a file for threads: a move by cgroup.procs
 * stops all forks of the machine and waits for every processor, about ten milliseconds. In the
 * unified hierarchy programs start inside their group instead (cgroup_clone). */
char *cgroup_join_file(const char *dir, bool unified);
/** Returns whether this user made the group. In a tree that is delegated to another user, that user
 * may make groups under our names. */
bool cgroup_is_ours(const char *dir);
