/*
 * Takes a request apart by its form, finds the rule of its resource, and compares the role it needs
 * with the role its sender has in the namespace.
 */
#include "api/server/auth/authz.h"

#include <string.h>

#define V ROLE_VIEWER
#define E ROLE_EDITOR
#define A ROLE_ADMIN

/* clang-format off */
const struct authz_rule authz_rules[] = {
    /* Columns: group, resource, who may read, who may write, who may write subresources, and who may
     * delete where that is another role. */
    {"",                       "pods",                   V, E, E},
    {"",                       "services",               V, E, A},
    {"",                       "endpoints",              V, E, A},
    {"discovery.k8s.io",       "endpointslices",         V, E, A},
    {"",                       "configmaps",             V, E, A},
    {"",                       "secrets",                E, E, A},
    {"",                       "events",                 V, E, A},
    {"",                       "persistentvolumeclaims", V, E, A},
    {"",                       "serviceaccounts",        V, E, A},
    {"",                       "namespaces",             V, A, A, .cluster = true},
    {"",                       "nodes",                  V, A, A, .cluster = true},
    {"",                       "persistentvolumes",      V, A, A, .cluster = true},
    {"events.k8s.io",          "events",                 V, E, A},
    {"coordination.k8s.io",    "leases",                 V, E, A},
    {"networking.k8s.io",      "networkpolicies",        V, E, A},
    {"scheduling.k8s.io",      "priorityclasses",        V, A, A, .cluster = true},
    {"apiextensions.k8s.io",   "customresourcedefinitions", V, A, A, .cluster = true},
    {"batch",                  "jobs",                   V, E, A},
    {"batch.volcano.sh",       "jobs",                   V, E, A},
    {"batch.volcano.sh",       "cronjobs",               V, E, A},
    {"bus.volcano.sh",         "commands",               V, E, A},
    {"flow.volcano.sh",        "jobflows",               V, E, A},
    {"flow.volcano.sh",        "jobtemplates",           V, E, A},
    {"flow.volcano.sh",        "flowtriggers",           V, E, A},
    {"scheduling.volcano.sh",  "podgroups",              V, E, A},
    {"scheduling.volcano.sh",  "queues",                 V, A, A, .cluster = true},
    /* A PodLog names files by the uid of a pod, which may belong to another namespace. */
    {"jobflow.dev",            "podlogs",                V, A, A},
    {"jobflow.dev",            "cacheentries",           V, A, A, E},
    /* A Submission tells the namespace and the id of a job, which may be that of others. */
    {"jobflow.dev",            "submissions",            V, A, A, .cluster = true, .whole = true},
    {0},
};

/* Subresources whose rights differ from the rule of their kind. */
static const struct {
    const char *resource, *subresource;
    enum role reads, writes;
} subresource_rules[] = {
    {"pods",     "status",  V, A},
    {"pods",     "binding", A, A},
    {"jobflows", "steps",   V, A},
    {"jobflows", "progress", V, A},
};

/* Any authenticated user may query its own permissions. */
static const struct {
    const char *group, *resource;
} reviews[] = {
    {"authorization.k8s.io",  "selfsubjectaccessreviews"},
    {"authorization.k8s.io",  "selfsubjectrulesreviews"},
    {"authentication.k8s.io", "selfsubjectreviews"},
};

enum audience { UNAUTHENTICATED, AUTHENTICATED, ADMINISTRATORS };

static const struct {
    const char *path;
    enum audience audience;
} paths[] = {
    {"livez",   UNAUTHENTICATED},
    {"readyz",  UNAUTHENTICATED},
    {"",        AUTHENTICATED}, /* the page / */
    {"healthz", AUTHENTICATED},
    {"version", AUTHENTICATED},
    {"api",     AUTHENTICATED},
    {"apis",    AUTHENTICATED},
    {"openapi", AUTHENTICATED},
    {"v1",      AUTHENTICATED}, /* submissions; each item is authorized by its namespace */
    {"metrics", ADMINISTRATORS},
    {"backup",  ADMINISTRATORS},
    {"debug",   ADMINISTRATORS},
};
/* clang-format on */

static const char *verb_of(enum api_method method, const struct authz_attributes *attributes,
                           const struct request_target *target)
{
    switch (method) {
    case API_POST:
        return "create";
    case API_PUT:
        return "update";
    case API_PATCH:
        return "patch";
    case API_DELETE:
        return attributes->name ? "delete" : "deletecollection";
    case API_GET:
    case API_HEAD:
    case API_OPTIONS:
    case API_OTHER:
        break;
    }
    if (request_query_bool(target, "watch"))
        return "watch";
    return attributes->name ? "get" : "list";
}

static const char *path_verb(enum api_method method)
{
    static const char *const verbs[API_METHOD_N] = {
        [API_POST] = "post", [API_PUT] = "put", [API_PATCH] = "patch", [API_DELETE] = "delete"};

    return verbs[method] ? verbs[method] : "get";
}

static void take_path(const struct request_target *target, enum api_method method,
                      const char *full_path, struct authz_attributes *out)
{
    out->path = target->n_segments ? target->segments[0] : "";
    out->full_path = full_path;
    out->verb = path_verb(method);
}

void authz_attributes_of(const struct request_target *target, enum api_method method,
                         const char *full_path, struct authz_attributes *out)
{
    const char *const *segment = target->segments, *const *end = segment + target->n_segments;
    bool in_group = segment < end && strcmp(*segment, "apis") == 0;
    /* Number of segments before the resource: api/v1 or apis/GROUP/VERSION. */
    size_t before = in_group ? 3 : 2;

    *out = (struct authz_attributes){0};
    if (target->n_segments <= before || (!in_group && strcmp(*segment, "api") != 0)) {
        take_path(target, method, full_path, out);
        return;
    }
    out->group = in_group ? segment[1] : "";
    segment += before;
    if (strcmp(segment[0], "namespaces") == 0 && end - segment >= 2) {
        out->ns = segment[1];
        if (end - segment >= 3 && strcmp(segment[2], "status") != 0 &&
            strcmp(segment[2], "finalize") != 0)
            segment += 2;
    }
    out->resource = *segment++;
    if (segment < end)
        out->name = *segment++;
    if (segment < end)
        out->subresource = *segment;
    out->verb = verb_of(method, out, target);
}

static bool is_reading(const char *verb)
{
    return strcmp(verb, "get") == 0 || strcmp(verb, "list") == 0 || strcmp(verb, "watch") == 0;
}

static bool path_allowed(const struct identity *identity, const char *path)
{
    for (size_t i = 0; i < countof(paths); i++)
        if (strcmp(paths[i].path, path) == 0)
            return paths[i].audience == UNAUTHENTICATED ||
                   (paths[i].audience == AUTHENTICATED && identity->authenticated) ||
                   identity_role(identity, NULL) == ROLE_ADMIN;
    return identity_role(identity, NULL) == ROLE_ADMIN;
}

static bool is_review(const struct authz_attributes *attributes)
{
    for (size_t i = 0; i < countof(reviews); i++)
        if (strcmp(reviews[i].group, attributes->group) == 0 &&
            strcmp(reviews[i].resource, attributes->resource) == 0)
            return strcmp(attributes->verb, "create") == 0;
    return false;
}

static const struct authz_rule *rule_of(const struct authz_attributes *attributes)
{
    for (const struct authz_rule *rule = authz_rules; rule->resource; rule++)
        if (strcmp(rule->resource, attributes->resource) == 0 &&
            strcmp(rule->group, attributes->group) == 0)
            return rule;
    return NULL;
}

static enum role needed(const struct authz_rule *rule, const struct authz_attributes *attributes)
{
    bool reads = is_reading(attributes->verb);

    if (!attributes->subresource && rule->deletes && strncmp(attributes->verb, "delete", 6) == 0)
        return rule->deletes;
    if (!attributes->subresource)
        return reads ? rule->reads : rule->writes;
    for (size_t i = 0; i < countof(subresource_rules); i++)
        if (strcmp(subresource_rules[i].resource, attributes->resource) == 0 &&
            strcmp(subresource_rules[i].subresource, attributes->subresource) == 0)
            return reads ? subresource_rules[i].reads : subresource_rules[i].writes;
    return reads ? rule->reads : rule->writes_status;
}

bool authz_allows(const struct identity *identity, const struct authz_attributes *attributes)
{
    const struct authz_rule *rule;
    enum role role;

    if (identity_role(identity, NULL) == ROLE_ADMIN)
        return true;
    if (attributes->path)
        return path_allowed(identity, attributes->path);
    if (is_review(attributes))
        return identity->authenticated;
    rule = rule_of(attributes);
    if (!rule)
        return false;
    role = rule->cluster && !rule->whole && is_reading(attributes->verb)
               ? identity_best_role(identity)
               : identity_role(identity, rule->whole ? NULL : attributes->ns);
    return role >= needed(rule, attributes);
}

void authz_refuse(const struct identity *identity, const struct authz_attributes *attributes,
                  struct error *err)
{
    const char *group = attributes->group, *slash = attributes->subresource ? "/" : "";
    const char *sub = attributes->subresource ? attributes->subresource : "";

    if (attributes->path) {
        error_set(err, ERR_FORBIDDEN, "", "forbidden: User \"%s\" cannot %s path \"%s\"",
                  identity->user, attributes->verb, attributes->full_path);
        return;
    }
    error_set(err, ERR_FORBIDDEN, "",
              "%s%s%s%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group "
              "\"%s\" %s%s%s",
              attributes->resource, *group ? "." : "", group, attributes->name ? " \"" : "",
              attributes->name ? attributes->name : "", attributes->name ? "\"" : "",
              identity->user, attributes->verb, attributes->resource, slash, sub, group,
              attributes->ns ? "in the namespace \"" : "at the cluster scope",
              attributes->ns ? attributes->ns : "", attributes->ns ? "\"" : "");
}
