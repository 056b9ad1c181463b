#pragma once
/*
 * The mark by which processes of a pod are found after they left their parents, process group and
 * session. It is inherited by descendants and has two parts: the variable SHIM_MARKER in the
 * environment, and, for processes that replaced their environment, the soft value of RLIMIT_LOCKS,
 * which the kernel has ignored since 2.4.25. That value is a number made from the pod's uid.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define SHIM_MARKER "JOBFLOW_POD_UID"

/** Returns the number that marks the processes of a pod, made from the pod's uid. */
rlim_t pod_mark_number(const char *uid);
/** Returns the RLIMIT_LOCKS that marks programs of a pod. It is zeroed where the machine sets a
 * lower limit: then only the environment marks them. */
struct rlimit pod_mark_limit(const char *uid);
/** Returns the number with which a process is marked; 0 = none, or its limit may not be read. */
rlim_t pod_mark_of(pid_t pid);

enum { POD_MARK_ENVIRON_MAX = 256 << 10 };
/** Reads the environment of a process into `env` [POD_MARK_ENVIRON_MAX + 1]. Returns its length, or
 * 0 when it cannot be read. */
size_t pod_mark_read_environ(pid_t pid, char *env);
/** Returns the uid in the first marker of an environment, or in the first one behind `after`, the
 * result of an earlier call. Returns NULL when there are no more. */
const char *pod_mark_next_uid(const char *env, size_t len, const char *after);
