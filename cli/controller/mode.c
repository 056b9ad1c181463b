/*
 * The table of modes. A kind without a label is followed as a whole.
 */
#include "cli/controller/mode.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "base/compiler.h"
#include "job/model/names.h"

static const struct kind *const needed_for_flows[] = {&kind_job_flow, &kind_job_template, &kind_job,
                                                      &kind_command, NULL};
static const struct kind *const needed_for_jobs[] = {
    &kind_job_flow,  &kind_job_template, &kind_job, &kind_command,
    &kind_pod_group, &kind_queue,        NULL};

static const struct kind *const needed_for_kube[] = {&kind_job_flow, &kind_job_template, &kind_job,
                                                     &kind_command, NULL};

/* Jobs are followed as far as flows have made them, pods as far as jobs have. */
static const struct cluster_remote_kind followed_for_flows[] = {
    {&kind_job_flow, NULL, NULL},
    {&kind_job_template, NULL, NULL},
    {&kind_job, LABEL_CREATED_BY_FLOW, NULL},
    {&kind_pod, LABEL_JOB_NAME, NULL},
    {&kind_command, NULL, NULL},
    {0},
};

/* Secrets are not followed: the right to list them would show all Secrets of the cluster (DCL-09).
 * Of objects that other programs make many of, those of jobs have a label. */
static const struct cluster_remote_kind followed_for_jobs[] = {
    {&kind_job_flow, NULL, NULL},
    {&kind_job_template, NULL, NULL},
    {&kind_job, NULL, NULL},
    {&kind_pod, LABEL_JOB_NAME, NULL},
    {&kind_pod_group, NULL, NULL},
    {&kind_queue, NULL, NULL},
    {&kind_priority_class, NULL, NULL},
    {&kind_command, NULL, NULL},
    {&kind_pvc, NULL, NULL},
    {&kind_config_map, LABEL_MANAGED_BY, MANAGED_BY_US},
    {&kind_service, LABEL_MANAGED_BY, MANAGED_BY_US},
    {&kind_network_policy, LABEL_MANAGED_BY, MANAGED_BY_US},
    {0},
};

/* Kubernetes has neither PodGroups nor queues of its own. */
static const struct cluster_remote_kind followed_for_kube[] = {
    {&kind_job_flow, NULL, NULL},
    {&kind_job_template, NULL, NULL},
    {&kind_job, NULL, NULL},
    {&kind_pod, LABEL_JOB_NAME, NULL},
    {&kind_command, NULL, NULL},
    {&kind_pvc, NULL, NULL},
    {&kind_config_map, LABEL_MANAGED_BY, MANAGED_BY_US},
    {&kind_service, LABEL_MANAGED_BY, MANAGED_BY_US},
    {&kind_network_policy, LABEL_MANAGED_BY, MANAGED_BY_US},
    {0},
};

static const char *const of_flows[] = {"jobflow", "jobtemplate", NULL};
static const char *const of_jobs[] = {"jobflow", "jobtemplate", "job", "gc", NULL};

#define FOR_FLOWS "-jobflow-controller,-jobtemplate-controller,-sharding-controller"

enum { MINOR_FLOWS = 8 }; /* the first version of Volcano with a JobFlow controller */

static const struct mode modes[] = {
    {.name = "flows",
     .needed = needed_for_flows,
     .followed = followed_for_flows,
     .rivals = {{"jobflow-controller", "jobtemplate-controller", NULL},
                "*," FOR_FLOWS,
                MINOR_FLOWS},
     .rights = RIGHTS_FLOWS,
     .controllers = of_flows,
     .beside_volcano = true},
    {.name = "jobs",
     .needed = needed_for_jobs,
     .followed = followed_for_jobs,
     .rivals = {{"job-controller", "jobflow-controller", "jobtemplate-controller", NULL},
                "*,-job-controller,-gc-controller," FOR_FLOWS,
                0},
     .rights = RIGHTS_JOBS,
     .controllers = of_jobs,
     .runs_jobs = true,
     .beside_volcano = true,
     .scheduler = "volcano"},
    {.name = "kube",
     .needed = needed_for_kube,
     .followed = followed_for_kube,
     .rivals = {{"job-controller", "jobflow-controller", "jobtemplate-controller", NULL},
                "*,-job-controller,-gc-controller," FOR_FLOWS,
                0},
     .rights = RIGHTS_KUBE,
     .controllers = of_jobs,
     .runs_jobs = true,
     .scheduler = "default-scheduler"},
};

const struct mode *mode_find(const char *name)
{
    for (size_t i = 0; i < countof(modes); i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}
