#pragma once
/*
 * The parts of preparation (job/prepare.c). Each `ensure` function returns true when its objects
 * exist as the job asks; otherwise it has begun a write, or the job waits.
 */
#include "job/run.h"

/** Begins a write that preparation waits for. `reason` is the reason of the event when it fails
 * (static text). */
struct cluster_call *job_prepare_write(struct job_run *run, const char *reason);
/** Returns a draft of an object that the job controls, owned; consumes `body`. */
struct object *job_owned_object(const struct job_run *run, const struct kind *kind,
                                const char *name, struct blob *body);

bool job_claims_ensure(struct job_run *run);         /* defined in job/claims.c */
bool job_plugin_objects_ensure(struct job_run *run); /* defined in job/plugin_objects.c */
void job_plugin_objects_remove(struct job_run *run);
bool job_podgroup_ensure(struct job_run *run); /* defined in job/podgroup_sync.c */
void job_podgroup_remove(struct job_run *run);
