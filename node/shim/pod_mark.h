#pragma once
/*
 * How processes of a pod are known when they have left their parents, their process group and their
 * session: by a variable in their environment, and, where they have another environment, by a
 * resource limit that means nothing to the kernel (RLIMIT_LOCKS, since 2.4.25), whose soft value is
 * the pod's number. Descendants inherit both.
 */
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#define SHIM_MARKER "JOBFLOW_POD_UID"

/** The number of a pod, by its uid. */
rlim_t pod_mark_number(const char *uid);
/** RLIMIT_LOCKS of its programs, which bear the number then. All 0 where somebody has lowered that
 * limit: they are known by their environment alone. */
struct rlimit pod_mark_limit(const char *uid);
/** The number a process bears; 0 = none, or it may not be asked. */
rlim_t pod_mark_of(pid_t pid);
