/*
 * The kinds by which schedulers other than Volcano's know a gang. Only their names are known here:
 * the bodies are written by job/objects/gang.c, and the schedulers read them.
 *
 * Ref: scheduler-plugins apis/scheduling/v1alpha1; Kubernetes staging/src/k8s.io/api/scheduling/
 * v1alpha1 (1.35) and v1alpha2 (1.36).
 */
#include "api/types/kind.h"

const struct kind kind_coscheduling_group = {
    .id = KIND_COSCHEDULING_GROUP,
    .group = "scheduling.x-k8s.io",
    .version = "v1alpha1",
    .name = "PodGroup",
    .plural = "podgroups",
    .singular = "podgroup",
    .namespaced = true,
    .has_status = true,
};

const struct kind kind_workload_group = {
    .id = KIND_WORKLOAD_GROUP,
    .group = "scheduling.k8s.io",
    .version = "v1alpha2",
    .name = "PodGroup",
    .plural = "podgroups",
    .singular = "podgroup",
    .namespaced = true,
    .has_status = true,
};

const struct kind kind_workload = {
    .id = KIND_WORKLOAD,
    .group = "scheduling.k8s.io",
    .version = "v1alpha1",
    .name = "Workload",
    .plural = "workloads",
    .singular = "workload",
    .namespaced = true,
};
