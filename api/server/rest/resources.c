/*
 * The tables of groups, subresources and reviews, and the verbs of each kind.
 */
#include "api/server/rest/resources.h"

#include <string.h>

/* clang-format off */
const struct api_group api_groups[] = {
    {"",                          "v1"},
    {"batch.volcano.sh",          "v1alpha1"},
    {"flow.volcano.sh",           "v1alpha1"},
    {"scheduling.volcano.sh",     "v1beta1"},
    {"bus.volcano.sh",            "v1alpha1"},
    {"scheduling.k8s.io",         "v1"},
    {"coordination.k8s.io",       "v1"},
    {"networking.k8s.io",         "v1"},
    {"discovery.k8s.io",          "v1"},
    {"events.k8s.io",             "v1"},
    {"apiextensions.k8s.io",      "v1"},
    {"policy",                    "v1"}, /* has only Eviction; kubectl drain looks for the group */
    {"authentication.k8s.io",     "v1"},
    {"authorization.k8s.io",      "v1"},
    {"jobflow.dev",               "v1"}, /* kinds of our own */
    {0},
};
/* clang-format on */

static bool has_status(const struct kind *kind)
{
    return kind->has_status;
}

static bool is_pod(const struct kind *kind)
{
    return kind == &kind_pod;
}

static bool has_log(const struct kind *kind)
{
    return kind == &kind_pod || kind == &kind_pod_log;
}

static bool is_flow(const struct kind *kind)
{
    return kind == &kind_job_flow;
}

static bool is_template(const struct kind *kind)
{
    return kind == &kind_job_template;
}

static bool is_job(const struct kind *kind)
{
    return kind == &kind_job;
}

/* clang-format off */
const struct subresource subresources[] = {
    {"status",      ROUTE_STATUS,       has_status,   NULL,          NULL, NULL,       "get patch update"},
    {"scale",       ROUTE_SCALE,        is_job,       "autoscaling", "v1", "Scale",    "get patch update"},
    {"steps",       ROUTE_STEPS,        is_flow,      NULL,          NULL, NULL,       "get"},
    {"progress",    ROUTE_PROGRESS,     is_flow,      NULL,          NULL, NULL,       "get"},
    {"template",    ROUTE_TEMPLATE,     is_job,       "flow.volcano.sh", "v1alpha1", "JobTemplate", "get"},
    {"instantiate", ROUTE_INSTANTIATE,  is_template,  "batch.volcano.sh", "v1alpha1", "Job", "create"},
    {"log",         ROUTE_LOG,          has_log,      NULL,          NULL, NULL,       "get"},
    {"eviction",    ROUTE_EVICTION,     is_pod,       "policy",      "v1", "Eviction", "create"},
    {"binding",     ROUTE_BINDING,      is_pod,       "",            "v1", "Binding",  "create"},
    {"exec",        ROUTE_EXEC,         is_pod,       NULL,          NULL, NULL,       NULL},
    {"attach",      ROUTE_ATTACH,       is_pod,       NULL,          NULL, NULL,       NULL},
    {"portforward", ROUTE_PORT_FORWARD, is_pod,       NULL,          NULL, NULL,       NULL},
    {0},
};

const struct review reviews[] = {
    {"authentication.k8s.io", "v1", "selfsubjectreviews",       "selfsubjectreview",       "SelfSubjectReview", false},
    {"authorization.k8s.io",  "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", false},
    {"authorization.k8s.io",  "v1", "selfsubjectrulesreviews",  "selfsubjectrulesreview",  "SelfSubjectRulesReview", false},
    {0},
};
/* clang-format on */

const char *resource_verbs(const struct kind *kind)
{
    if (kind->built_in)
        return "get list watch";
    if (kind == &kind_namespace) /* a namespace has no deletecollection */
        return "create delete get list patch update watch";
    return "create delete deletecollection get list patch update watch";
}

bool resource_in_all(const struct kind *kind)
{
    return kind == &kind_pod || kind == &kind_service;
}
