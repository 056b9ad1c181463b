#pragma once
/*
 * Builds the PodGroup of a job and compares it with the stored one; no writes
 * (job/podgroup_sync.c has them). Ref: spec/job.md 15, O-57.
 */
#include "job/model/model.h"

/** Value of a priority class by name; 0 for an unknown one and for NULL. */
typedef int32_t (*job_priority_fn)(void *ctx, const char *priority_class);

struct job_podgroup_options {
    job_priority_fn priority;
    void *ctx;
    bool staged; /* the minimum covers only the tasks started so far (O-57) */
};

/** Returns the body that the PodGroup should have; an owned reference. All jobs with an equal body
 * share it where it follows from the body alone. */
struct blob *job_podgroup_body(struct job_model *model, const struct job_podgroup_options *options);
/** Returns a PodGroup for the job, or the object of another gang; owned. Consumes `body`. */
struct object *job_podgroup_build(const struct job_model *model, struct blob *body);
/** Returns whether `group` differs from `wanted` in a member that follows the job. Extra task
 * minimums, queue and topology do not count (15.1). */
bool job_podgroup_differs(const struct object *group, const struct blob *wanted);

/** May pods be created? True when the PodGroup exists, is not being deleted, is of this kill epoch,
 * and is past the phases "" and Pending. */
bool job_podgroup_admitted(const struct job_model *model);
/** Returns the PodGroup with the job's number in its queue (ANNOTATION_PRIORITY); owned. */
struct object *job_podgroup_with_priority(const struct job_model *model);
/** Returns whether the PodGroup is one of an earlier kill epoch, so that it must be replaced. */
bool job_podgroup_outdated(const struct job_model *model);
