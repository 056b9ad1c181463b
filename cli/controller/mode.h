#pragma once
/*
 * What a controller process does in each mode: which kinds it follows, which controllers it runs,
 * and which of Volcano's it replaces. Ref: spec/cluster.md 1.1.
 */
#include "api/cluster_remote/cluster_remote.h"
#include "cli/controller/rights.h"
#include "cli/controller/volcano.h"

struct mode {
    const char *name;
    const struct kind *const *needed; /* kinds that the cluster must have; ends with NULL */
    const struct cluster_remote_kind *followed; /* ends with a row without kind */
    struct volcano_rivals rivals;               /* controllers of Volcano that must be off */
    enum right_mode rights;
    const char *const *controllers; /* names of the controllers that run; ends with NULL */
    /* What runs the Jobs and places their pods. */
    bool runs_jobs;        /* this process runs the Jobs */
    bool beside_volcano;   /* Volcano is installed: its definitions, queues and PodGroups */
    const char *scheduler; /* scheduler of pods whose Job names none */
};

/** Returns the mode of this name; NULL for an unknown one. */
const struct mode *mode_find(const char *name);
