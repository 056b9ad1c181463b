#pragma once
/*
 * Companions that cannot be kept up: counts how often the pods of a companion end, and ends the job
 * when one has ended too often in a short time. Ref: armada-submit.md B.5.
 */
#include <stdint.h>

#include "job/model/event.h"
#include "job/model/model.h"

struct job_run;
struct job_companion;

/** A pod of a companion was added, changed or (`after` NULL) removed. `before` are the facts of the
 * pod known so far, NULL when none was known; `created_ms` is the creation time of a pod first seen.
 */
void job_companion_changed(struct job_run *run, struct slot_id at, const struct pod_facts *before,
                           const struct pod_facts *after, int64_t created_ms);
void job_companions_release(struct job_run *run);
