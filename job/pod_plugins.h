#pragma once
/*
 * Plugins at work on one pod. Ref: spec/job-plugins.md 1.4.
 */
#include "job/model.h"
#include "job/plugins/plugin.h"

/** The job as hooks see it. */
struct job_plugin_job job_plugin_job_of(const struct job_model *model);
/** What the plugins of the job add to the pod of a slot; to be released. */
struct job_pod_plan job_pod_plan_of(const struct job_model *model, struct slot_id at);
/** Carry the plan out on the spec of the pod. */
void job_pod_plan_apply(const struct job_pod_plan *plan, json_t *spec);
