/*
 * Plugin env: gives each container the index of its replica in VK_TASK_INDEX and VC_TASK_INDEX.
 * Ref: spec/job-plugins.md 2, O-P08.
 */
#include <stdio.h>

#include "job/plugins/plugin.h"

static void env_pod(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                    struct job_pod_plan *plan)
{
    static const char *const names[] = {"VK_TASK_INDEX", "VC_TASK_INDEX"};
    char text[16];

    snprintf(text, sizeof text, "%d", index);
    for (size_t i = 0; i < countof(names); i++)
        job_pod_plan_value(plan, SCOPE_ALL, names[i], text);
}

const struct job_plugin job_plugin_env = {
    .name = "env",
    .pod = env_pod,
};
