#pragma once
/*
 * Builds and compares the PodGroup of a job. Ref: spec/job.md 15, O-57.
 */
#include "job/model.h"

/** Value of a priority class by name; 0 for an unknown one and for NULL. */
typedef int32_t (*job_priority_fn)(void *ctx, const char *priority_class);

struct job_podgroup_options {
    job_priority_fn priority;
    void *ctx;
    bool staged; /* the minimum covers the tasks that were started so far, and grows with them
                    (O-57) */
};

/** The spec the PodGroup should have; an owned reference. Shared by all jobs of a shape where it
 * follows from the body alone. */
struct blob *job_podgroup_body(struct job_model *model, const struct job_podgroup_options *options);
/** A PodGroup for the job, owned; consumes `body`. */
struct object *job_podgroup_build(const struct job_model *model, struct blob *body);
/** Has what matters in `group` fallen behind `wanted`? (15.1: extra task minimums stay; queue and
 * topology are not followed.) */
bool job_podgroup_differs(const struct object *group, const struct blob *wanted);

/** May pods be created? The PodGroup exists, is not being deleted, is of this epoch, and has left
 * "" and Pending. */
bool job_podgroup_admitted(const struct job_model *model);
/** The PodGroup belongs to an earlier kill epoch and must go. */
bool job_podgroup_outdated(const struct job_model *model);
