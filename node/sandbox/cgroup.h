#pragma once
/*
 * Resource limits of a container, enforced by control groups.
 *
 * A container gets one group per cgroup hierarchy, made below the group of this process. Groups can
 * be made as root on hosts with cgroup v1 hierarchies, and wherever a subtree of the unified
 * hierarchy (cgroup v2) was delegated to this user together with its controllers.
 *
 *   memory   memory.max | memory.limit_in_bytes, and the count of OOM kills
 *   cpu      cpu.max | cpu.cfs_quota_us
 *   pids     pids.max, for every container whose processes no rlimit bounds
 *
 * The shim that makes a group removes it. A group whose shim was killed stays behind:
 * cgroup_remove_lost and cgroup_remove_orphaned find it again by its name, "jobflow-<uid>-<index>".
 */
#include <sys/types.h>

#include "node/sandbox/sockaddr_bpf.h"
#include "node/wire/message.h"

enum cgroup_limit { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_LIMITS };
enum { CGROUP_HIERARCHIES = 4 };

/* Directories in which groups of containers are made; NULL: that hierarchy cannot be used. */
struct cgroup_parents {
    char *v1[CGROUP_LIMITS]; /* the cgroup v1 hierarchy of that controller */
    char *unified;
};

/** Find the directories. The first call searches, later ones return its result, from any thread and
 * in forked children. */
const struct cgroup_parents *cgroup_find_parents(void);

struct cgroup {
    char *dirs[CGROUP_HIERARCHIES];   /* [n]; owned */
    int join_fds[CGROUP_HIERARCHIES]; /* [n]: writing "0" moves the calling process in */
    size_t n;
    int unified;    /* index of the unified hierarchy's directory in dirs; -1 = none */
    int unified_fd; /* that directory, or -1 */
    bool limits_memory, limits_cpu, limits_processes;
    bool sockaddr_bpf;    /* BPF programs rewrite socket addresses of its processes */
    uint64_t storage_key; /* the group's entry in the map of those programs */
};

/* A group to be made. */
struct cgroup_spec {
    const char *uid; /* of the pod */
    unsigned index;  /* of the container */
    struct shim_limits limits;
    const struct sockaddr_bpf *bpf;     /* attach these programs; NULL = none */
    const struct sockaddr_rules *rules; /* what they apply; unused without `bpf` */
};

/** Which limits does the kernel enforce here? Tries with a group that is removed again. */
void cgroup_check_limits(bool *memory, bool *cpu, bool *processes);

/** Can BPF programs for socket addresses be attached here? Tries with a group that is removed
 * again. */
bool cgroup_check_sockaddr_bpf(void);

/** Make the groups of a container. NULL when none is needed or none can be made; a limit that
 * cannot be set leaves its flag in struct cgroup false. */
struct cgroup *cgroup_new(const struct cgroup_spec *spec);

/**
 * clone3 with `flags`; the child starts inside the group of the unified hierarchy, which saves it a
 * move that waits for all processors. `out_in_unified` tells whether it did: it does not when
 * `group` is NULL or has no such hierarchy, or the kernel lacks the call.
 */
pid_t cgroup_clone(const struct cgroup *group, uint64_t flags, bool *out_in_unified);

/** Move this process into the group; its descendants start there. `in_unified`: it already is in
 * the group of the unified hierarchy. Works in any process that inherited the descriptors. */
void cgroup_join(const struct cgroup *group, bool in_unified);

/** Has the kernel killed a process of the group because its memory ran out? */
bool cgroup_oom_killed(const struct cgroup *group);

/** Remove the groups. All their processes must have been reaped. NULL is fine. */
void cgroup_free(struct cgroup *group);

/** Remove groups that killed shims left behind for these pods (or under their own name), and kill
 * the processes in them. Blocks. */
void cgroup_remove_lost(const char *const *uids, size_t count);

/** Remove empty groups whose maker has died, of any data directory. Blocks. */
void cgroup_remove_orphaned(void);
