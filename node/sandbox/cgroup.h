#pragma once
/*
 * Limits of a container by control groups, where this process may make them: as root on hosts with
 * the old hierarchies, and wherever a subtree of the unified one was handed over with its
 * controllers. One group per container and hierarchy, below our own.
 *
 *   memory   memory.max | memory.limit_in_bytes, and the count of OOM kills
 *   cpu      cpu.max | cpu.cfs_quota_us
 *   pids     pids.max, for every container whose processes no rlimit bounds
 */
#include <sys/types.h>

#include "node/sandbox/sockaddr_bpf.h"
#include "node/wire/message.h"

enum { CGROUP_HIERARCHIES = 4 };

struct cgroup {
    char *dirs[CGROUP_HIERARCHIES]; /* [n]; owned */
    int join_fds[CGROUP_HIERARCHIES];
    size_t n;
    int unified;    /* which of them is in the unified hierarchy, -1 = none, */
    int unified_fd; /* and its directory */
    bool limits_memory, limits_cpu, limits_processes;
    bool sockaddr_bpf;    /* its socket calls go through the bpf, */
    uint64_t storage_key; /* with this one as its own */
};

/** Which limits the kernel would enforce here; tried with a group that is removed again. */
void cgroup_check_limits(bool *memory, bool *cpu, bool *processes);

/** Would BPF programs work? Tried with a group that is removed again. */
bool cgroup_check_sockaddr_bpf(void);

/** Groups for one container of a pod, or NULL when none can be made. `bpf`: attached to the one of
 * the unified hierarchy, for `rules`; or both NULL. */
struct cgroup *cgroup_new(const char *uid, unsigned index, const struct shim_limits *limits,
                          const struct sockaddr_bpf *bpf, const struct sockaddr_rules *rules);
/** clone3 with `flags`, the child in_unified in the group of the unified hierarchy, which saves it a move
 * that waits for all processors. `out_in_unified` is false where the kernel cannot, and when `group` is
 * NULL or has none there. */
pid_t cgroup_clone(const struct cgroup *group, uint64_t flags, bool *out_in_unified);
/** Move this process in, but for the unified hierarchy if it was in_unified there; its descendants are
 * in_unified there. Any process that inherited the descriptors. */
void cgroup_join(const struct cgroup *group, bool in_unified);
/** Has the kernel killed a process in it for want of memory? */
bool cgroup_was_oom(const struct cgroup *group);
/** Removes the groups; all processes must have been reaped. */
void cgroup_free(struct cgroup *group);
/** Remove what shims left behind when they died, for pods or under their own name; what still runs
 * there is killed. Blocks. */
void cgroup_remove_lost(const char *const *uids, size_t count);
/** Remove the empty groups of all who have died, whoever they were. Blocks. */
void cgroup_remove_orphaned(void);
