#pragma once
/*
 * Finds the directories in which control groups can be made: below the group of this process, in
 * the cgroup v1 hierarchy of each controller and in the unified hierarchy (cgroup v2).
 */
#include <stdbool.h>

enum cgroup_limit { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_LIMITS };

/* The directories in which groups of containers are made. NULL: that hierarchy cannot be used. */
struct cgroup_parents {
    char *v1[CGROUP_LIMITS]; /* directory in the cgroup v1 hierarchy of each controller */
    char *unified;
};

/** Finds the directories in which groups can be made. The first call searches, later calls return
 * its result. It may be called from any thread and in forked children. */
const struct cgroup_parents *cgroup_find_parents(void);

/**
 * Returns the directory of a process's group in the hierarchy of `controller`, as an owned string;
 * the controller "" stands for the unified hierarchy. `groups` is what cgroups(7) says stands in
 * /proc/PID/cgroup, `mounts` the text of its mountinfo; both are changed. `*out_point` is the
 * directory at which the hierarchy is mounted, owned, in which the result always lies. It is the
 * result itself if the mount does not show the group. NULL if there is no such hierarchy or mount.
 */
char *cgroup_dir_of(char *groups, char *mounts, const char *controller, char **out_point);

/** Writes a file of the group in `dir`. Returns whether the kernel took it. */
bool cgroup_write(const char *dir, const char *file, const char *value);
/** Lets the groups made in this directory of the unified hierarchy have all controllers that it has
 * itself. */
void cgroup_enable_controllers(const char *dir);
