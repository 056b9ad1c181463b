/*
 * Bounds the number of processes of programs that are in no sandbox. Where the shim runs as root,
 * rlimits do not bound them. So all such programs of a shim start in one control group with a pids
 * limit. A program that forks without end then exhausts that group, and not the machine.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/sandbox/cgroup/cgroup.h"
#include "node/shim/shim.h"
#include "node/shim/shim_dir.h"

enum { SHARED_PROCESSES_MAX = 16384 }; /* half of the kernel's default pid_max */

/* Composes the name of the control group: that of the shared shim's directory, or the uid of a pod
 * shim's only pod. */
static bool group_name(const struct shim *shim, char out[64])
{
    char path[SHIM_DIR_PATH_MAX];
    const char *name;

    if (!shim->shared)
        return snprintf(out, 64, "%s", shim->pods->spec.uid) < 64;
    shim_dir_path(SHIM_FD_DIR, path);
    name = strrchr(path, '/');
    return name && snprintf(out, 64, "%s", name + 1) < 64;
}

const struct cgroup *pids_limit_group(struct shim *shim)
{
    char name[64];

    if (shim->pids_limit_tried || geteuid() != 0 || !group_name(shim, name))
        return shim->pids_group;
    shim->pids_limit_tried = true;
    shim->pids_group = cgroup_new(&(struct cgroup_spec){
        .uid = name, .limits = {.processes = shim->shared ? SHARED_PROCESSES_MAX : 0}});
    return shim->pids_group;
}

void pids_limit_release(struct shim *shim)
{
    cgroup_free(shim->pids_group);
    shim->pids_group = NULL;
}
