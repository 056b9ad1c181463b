#pragma once
/*
 * Builds the pods of a job. Ref: spec/job.md 3, 11, 12, 14; O-05, O-54.
 *
 * The body of a pod is built once per task and shared by all pods of the task, in all jobs with an
 * equal body, unless a plugin or a volume of the job makes pods differ. Only metadata is built for
 * each pod.
 */
#include "job/model/model.h"

/** Returns the pod of a slot, owned. Its body is interned. */
struct object *job_pod_build(struct job_model *model, struct slot_id at);

/** Returns the pod with the out-of-sync mark, owned; NULL when it has the mark. The end of a marked
 * pod raises no PodFailed or PodEvicted (spec/job.md 10). */
struct object *job_pod_marked(const struct object *pod);

/** Returns the name of the claim of the volume at `position`: given in the spec or created for the
 * volume; NULL when the volume is an emptyDir. Owned. */
char *job_volume_claim(const struct job_model *model, size_t position);
/** Returns the name of that volume inside pods; owned. */
char *job_volume_name(const struct job_model *model, size_t position);
/** Returns the key in controlledResources that says the volume became an emptyDir (O-11); owned. */
char *job_volume_empty_key(const struct job_model *model, size_t position);
