#pragma once
/*
 * Targets: where manifests are to run, other than on this machine. A target says what is understood
 * there: Volcano of a version, which has its own flow controller, or a cluster in which `jobflow
 * controller` runs flows (spec/cluster.md 1.1).
 */
#include <stdbool.h>

/* Versions are those of Volcano 1: 13 is 1.13. */
enum { TARGET_OLDEST = 10, TARGET_NEWEST = 15 };

enum cluster_mode { CLUSTER_FLOWS, CLUSTER_JOBS, CLUSTER_KUBE };

struct target {
    const char *text; /* volcano-1.13, cluster=jobs; a literal */
    bool cluster;     /* flows are run by us; `mode` says what else */
    enum cluster_mode mode;
    /* Volcano's versions that may run the jobs: of a cluster any that its mode allows. Fields that
     * the newest lacks are errors, fields that only the oldest lacks are warnings. */
    int oldest, newest;
};

/* The texts of all targets, and of those that are versions of Volcano; each ends with NULL. */
extern const char *const target_choices[];
extern const char *const target_volcano_choices[];
#define TARGET_DEFAULT "volcano-1.13"

/** Returns the target of one of these texts; NULL for any other. */
const struct target *target_find(const char *text);

/** Returns whether Volcano's controllers run the jobs there. */
static inline bool target_has_volcano_jobs(const struct target *target)
{
    return !target->cluster || target->mode == CLUSTER_FLOWS;
}
