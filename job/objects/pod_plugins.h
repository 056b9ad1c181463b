#pragma once
/*
 * Collects what the plugins of a job add to one pod, and adds it to the pod's spec. Ref:
 * spec/job-plugins.md 1.4.
 */
#include "job/model/model.h"
#include "job/plugins/plugin.h"

/** Returns the job as hooks of plugins see it; borrows from the model. */
struct job_plugin_job job_plugin_job_of(const struct job_model *model);
/** Returns the additions of all plugins to the pod of a slot; released by the caller. */
struct job_pod_plan job_pod_plan_of(const struct job_model *model, struct slot_id at);
/** Adds the plan to the spec of the pod. */
void job_pod_plan_apply(const struct job_pod_plan *plan, json_t *spec);
