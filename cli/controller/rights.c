/*
 * Each row of the table is a right that a leader uses. A row that is not needed would give too much
 * away. A missing row shows as a refused request in the log.
 */
#include "cli/controller/rights.h"

#include "base/compiler.h"

enum {
    RUN_JOBS = RIGHTS_JOBS | RIGHTS_KUBE, /* this process makes pods */
    ALL_MODES = RIGHTS_FLOWS | RUN_JOBS,
};

/* clang-format off */
const struct right rights[] = {
    {RIGHT_CLUSTER, "flow.volcano.sh",     "jobflows",               NULL, "get list watch delete", ALL_MODES},
    {RIGHT_CLUSTER, "flow.volcano.sh",     "jobflows/status",        NULL, "update patch", ALL_MODES},
    {RIGHT_CLUSTER, "flow.volcano.sh",     "jobflows/finalizers",    NULL, "update", ALL_MODES},
    {RIGHT_CLUSTER, "flow.volcano.sh",     "jobtemplates",           NULL, "get list watch create", ALL_MODES},
    {RIGHT_CLUSTER, "flow.volcano.sh",     "jobtemplates/status",    NULL, "update patch", ALL_MODES},
    {RIGHT_CLUSTER, "batch.volcano.sh",    "jobs",                   NULL, "get list watch create delete patch", ALL_MODES},
    {RIGHT_CLUSTER, "bus.volcano.sh",      "commands",               NULL, "get list watch create delete", ALL_MODES},
    {RIGHT_CLUSTER, "",                    "pods",                   NULL, "get list watch", ALL_MODES},
    {RIGHT_CLUSTER, "",                    "events",                 NULL, "create patch", ALL_MODES},
    {RIGHT_WHOLE,   "apps",                "deployments",            NULL, "list", ALL_MODES, true},
    {RIGHT_WHOLE,   "apiextensions.k8s.io", "customresourcedefinitions", "jobflows.flow.volcano.sh jobs.batch.volcano.sh", "get", ALL_MODES, true},
    {RIGHT_WHOLE,   "coordination.k8s.io", "leases",                 "vc-controller-manager", "get", ALL_MODES, true},
    {RIGHT_CLUSTER, "batch.volcano.sh",    "jobs/status",            NULL, "update patch", RUN_JOBS},
    {RIGHT_CLUSTER, "batch.volcano.sh",    "jobs/finalizers",        NULL, "update", RUN_JOBS},
    {RIGHT_CLUSTER, "",                    "pods",                   NULL, "create delete patch", RUN_JOBS},
    {RIGHT_CLUSTER, "",                    "configmaps services",    NULL, "get list watch create delete patch", RUN_JOBS},
    {RIGHT_CLUSTER, "",                    "secrets",                NULL, "get create delete", RUN_JOBS},
    {RIGHT_CLUSTER, "",                    "persistentvolumeclaims", NULL, "get list watch create delete", RUN_JOBS},
    {RIGHT_CLUSTER, "networking.k8s.io",   "networkpolicies",        NULL, "get list watch create delete patch", RUN_JOBS},
    {RIGHT_CLUSTER, "scheduling.volcano.sh", "podgroups",            NULL, "get list watch create delete patch", RIGHTS_JOBS},
    {RIGHT_WHOLE,   "scheduling.volcano.sh", "queues",               NULL, "get list watch", RIGHTS_JOBS},
    {RIGHT_WHOLE,   "scheduling.k8s.io",   "priorityclasses",        NULL, "get list watch", RIGHTS_JOBS},
    {RIGHT_CLUSTER, "scheduling.x-k8s.io",  "podgroups",             NULL, "get list watch create delete patch", RIGHTS_COSCHEDULING},
    {RIGHT_CLUSTER, "scheduling.k8s.io",    "podgroups workloads",   NULL, "get list watch create delete", RIGHTS_WORKLOAD},
    {RIGHT_OWN,     "coordination.k8s.io", "leases",                 NULL, "get list watch create update", ALL_MODES},
};
/* clang-format on */
const size_t rights_count = countof(rights);
