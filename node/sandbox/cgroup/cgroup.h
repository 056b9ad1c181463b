#pragma once
/*
 * Resource limits of a container, and of a pod as a whole, enforced by control groups.
 *
 * A container gets one group per cgroup hierarchy, made below the group of this process. Groups can
 * be made as root on hosts with cgroup v1 hierarchies, and wherever a subtree of the unified
 * hierarchy (cgroup v2) was delegated to this user together with its controllers. A pod with limits
 * of its own gets groups likewise, and the groups of its containers are made in them.
 *
 *   memory   memory.max | memory.limit_in_bytes, and the count of OOM kills
 *   cpu      cpu.max | cpu.cfs_quota_us; of a pod also cpu.weight | cpu.shares
 *   pids     pids.max, for every container whose processes no rlimit bounds
 *
 * The shim that makes a group removes it. A group whose shim was killed stays behind:
 * cgroup_remove_lost and cgroup_remove_orphaned find it again by its name, "jobflow-<uid>-<index>"
 * or "jobflow-<uid>-pod".
 */
#include <limits.h>
#include <sys/types.h>

#include "node/sandbox/cgroup/find.h"
#include "node/sandbox/filter/sockaddr_bpf.h"
#include "node/wire/message.h"

enum { CGROUP_HIERARCHIES = 4 };

struct cgroup {
    char *dirs[CGROUP_HIERARCHIES];   /* directories of the container's groups, [n]; owned */
    int join_fds[CGROUP_HIERARCHIES]; /* [n] descriptors; a process that writes "0" to one joins
                                       * that group */
    size_t n;
    int unified;    /* index in `dirs` of the directory in the unified hierarchy; -1 = none */
    int unified_fd; /* descriptor of the directory in the unified hierarchy, or -1 */
    bool limits_memory, limits_cpu, limits_processes, weighs_cpu;
    bool sockaddr_bpf;    /* BPF programs rewrite the socket addresses of the group's processes */
    uint64_t storage_key; /* key of the group's entry in the map of the BPF programs */
};

/* The index of the groups of a pod as a whole. */
enum { CGROUP_OF_POD = INT_MAX };

/* Describes the control group of one container, or of a pod as a whole, that is to be made. */
struct cgroup_spec {
    const char *uid; /* uid of the pod */
    unsigned index;  /* index of the container in its pod, or CGROUP_OF_POD */
    /* The pod's groups, in which those of the container are made; NULL = none. */
    const struct cgroup *of_pod;
    struct shim_limits limits;
    const struct sockaddr_bpf *bpf;     /* BPF programs to attach to the group; NULL = none */
    const struct sockaddr_rules *rules; /* rules that the BPF programs apply; unused without
                                         * `bpf` */
};

/** Returns the processor time of each period of 100 ms, in microseconds, for a limit of `milli`
 * thousandths of a processor. It is at least 1000, the least that the kernel takes. */
int64_t cgroup_cpu_quota_us(int64_t milli);
/** Returns the share of a pod that requests `milli` thousandths of a processor, in the unit of
 * cpu.weight or, in cgroup v1, of cpu.shares. One processor is the kernel's default of 100 or 1024.
 */
int64_t cgroup_cpu_weight(int64_t milli, bool unified);

/** Finds out which limits the kernel enforces here, with a group that is removed again. */
void cgroup_check_limits(bool *memory, bool *cpu, bool *processes);

/** Returns whether BPF programs for socket addresses can be attached to groups here. It tries so
 * with a group that is removed again. */
bool cgroup_check_sockaddr_bpf(void);

/** Makes the groups of a container. Returns NULL when none is needed or none can be made. A limit
 * that cannot be set leaves its flag in struct cgroup false. */
struct cgroup *cgroup_new(const struct cgroup_spec *spec);

/**
 * Calls clone3 with `flags`. The child starts inside the group of the unified hierarchy, which
 * saves it a move that waits for all processors. `out_in_unified` tells whether it did: it does not
 * when `group` is NULL or has no such hierarchy, or when the kernel lacks the call.
 */
pid_t cgroup_clone(const struct cgroup *group, uint64_t flags, bool *out_in_unified);

/** Moves this process into the group; its descendants start there. `in_unified`: the process
 * already is in the group of the unified hierarchy. It works in any process that inherited the
 * descriptors of the group. */
void cgroup_join(const struct cgroup *group, bool in_unified);

/** Returns whether the kernel has killed a process of the group because its memory ran out. */
bool cgroup_oom_killed(const struct cgroup *group);

/** Removes the groups of a container. All processes in them must have been reaped. NULL is
 * ignored. */
void cgroup_free(struct cgroup *group);

/** Removes the groups that killed shims left behind for these pods or for themselves, and kills the
 * processes in them. It blocks. */
void cgroup_remove_lost(const char *const *uids, size_t count);

/** Removes empty groups whose maker has died, whatever data directory they belong to. It blocks. */
void cgroup_remove_orphaned(void);
