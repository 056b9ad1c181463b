#pragma once
/*
 * The parts of preparation (job/prepare.c): each says whether its things are there, and begins what
 * is missing.
 */
#include "job/run.h"

/** A write that preparation waits for; `reason` is that of the event when it fails (static text).
 */
struct cluster_call *job_prep_begin(struct job_run *run, const char *reason);
/** A draft of an object that the job owns; consumes `body`. */
struct object *job_prep_owned(const struct job_run *run, const struct kind *kind, const char *name,
                              struct blob *body);

bool job_claims_are_there(struct job_run *run);  /* job/claims.c */
bool job_plugins_are_there(struct job_run *run); /* job/plugin_objects.c */
void job_plugins_remove(struct job_run *run);
bool job_group_is_there(struct job_run *run); /* job/group.c */
void job_group_remove(struct job_run *run);
