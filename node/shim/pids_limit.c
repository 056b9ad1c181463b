/*
 * How many processes programs have that are in no box, where rlimits do not hold: root's. They are
 * born in one control group of their shim, so a program that forks without end takes from its
 * neighbours under the same shim what it takes, and nothing from the machine.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/sandbox/cgroup.h"
#include "node/shim/shim.h"

enum { SHARED_PROCESSES_MAX = 16384 }; /* half of what a small machine can number */

/* The name of its directory, or the uid of its pod. */
static bool own_name(const struct shim *shim, char out[64])
{
    char link[32], path[4096];
    const char *name;
    ssize_t n;

    if (!shim->shared)
        return snprintf(out, 64, "%s", shim->pods->spec.uid) < 64;
    snprintf(link, sizeof link, "/proc/self/fd/%d", SHIM_FD_DIR);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    name = strrchr(path, '/');
    return name && snprintf(out, 64, "%s", name + 1) < 64;
}

const struct cgroup *pids_limit_group(struct shim *shim)
{
    struct shim_limits limits = {.processes = shim->shared ? SHARED_PROCESSES_MAX : 0};
    char name[64];

    if (shim->pids_limit_tried || geteuid() != 0 || !own_name(shim, name))
        return shim->pids_group;
    shim->pids_limit_tried = true;
    shim->pids_group = cgroup_new(name, 0, &limits, NULL, NULL);
    return shim->pids_group;
}

void pids_limit_release(struct shim *shim)
{
    cgroup_free(shim->pids_group);
    shim->pids_group = NULL;
}
