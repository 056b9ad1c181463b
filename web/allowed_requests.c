/*
 * The table, and how a path is taken apart for it.
 */
#include "web/allowed_requests.h"

#include <string.h>
#include <strings.h>

#include "api/server/rest/resources.h"
#include "base/compiler.h"

enum {
    GET = 1 << 0,
    LIST = 1 << 1,
    CREATE = 1 << 2,
    PATCH = 1 << 3,
    APPLY = 1 << 4,
    DELETE = 1 << 5,
    READ = GET | LIST,
};

/* clang-format off */
static const struct row {
    const char *group, *resource, *sub; /* group "" is the core group; sub NULL: the object itself */
    unsigned verbs;
    enum gateway_pass change;           /* how changes of the resource pass */
} rows[] = {
    {"flow.volcano.sh",       "jobflows",                 NULL,       READ | CREATE | PATCH | APPLY | DELETE, GATEWAY_CHANGE},
    {"flow.volcano.sh",       "jobflows",                 "steps",    GET,                                    GATEWAY_REFUSED},
    {"flow.volcano.sh",       "jobflows",                 "graph",    GET,                                    GATEWAY_REFUSED},
    {"flow.volcano.sh",       "jobflows",                 "progress", GET,                                    GATEWAY_REFUSED},
    {"flow.volcano.sh",       "jobtemplates",             NULL,       READ | CREATE | PATCH | APPLY | DELETE, GATEWAY_CHANGE},
    {"flow.volcano.sh",       "flowtriggers",             NULL,       READ,                                   GATEWAY_REFUSED},
    {"batch.volcano.sh",      "cronjobs",                 NULL,       READ,                                   GATEWAY_REFUSED},
    {"batch.volcano.sh",      "jobs",                     NULL,       READ | CREATE | APPLY | DELETE,         GATEWAY_CHANGE},
    {"batch.volcano.sh",      "jobs",                     "template", GET,                                    GATEWAY_REFUSED},
    {"bus.volcano.sh",        "commands",                 NULL,       LIST | CREATE,                          GATEWAY_CHANGE},
    {"scheduling.volcano.sh", "podgroups",                NULL,       READ,                                   GATEWAY_REFUSED},
    {"scheduling.volcano.sh", "queues",                   NULL,       READ | APPLY,                           GATEWAY_CHANGE},
    {"",                      "pods",                     NULL,       READ | DELETE,                          GATEWAY_CHANGE},
    {"",                      "pods",                     "log",      GET,                                    GATEWAY_REFUSED},
    {"",                      "events",                   NULL,       READ,                                   GATEWAY_REFUSED},
    {"",                      "namespaces",               NULL,       READ | APPLY,                           GATEWAY_CHANGE},
    {"",                      "nodes",                    NULL,       READ,                                   GATEWAY_REFUSED},
    {"",                      "configmaps",               NULL,       APPLY,                                  GATEWAY_BLIND},
    {"",                      "services",                 NULL,       APPLY,                                  GATEWAY_BLIND},
    {"",                      "persistentvolumeclaims",   NULL,       APPLY,                                  GATEWAY_BLIND},
    {"",                      "secrets",                  NULL,       APPLY,                                  GATEWAY_BLIND},
    {"jobflow.dev",           "podlogs",                  NULL,       READ,                                   GATEWAY_REFUSED},
    {"jobflow.dev",           "podlogs",                  "log",      GET,                                    GATEWAY_REFUSED},
    {"events.k8s.io",         "events",                   NULL,       READ,                                   GATEWAY_REFUSED},
    {"scheduling.k8s.io",     "priorityclasses",          NULL,       READ | APPLY,                           GATEWAY_CHANGE},
    {"authorization.k8s.io",  "selfsubjectaccessreviews", NULL,       CREATE,                                 GATEWAY_ASK},
    {"authorization.k8s.io",  "selfsubjectrulesreviews",  NULL,       CREATE,                                 GATEWAY_ASK},
    {"authentication.k8s.io", "selfsubjectreviews",       NULL,       CREATE,                                 GATEWAY_ASK},
};
/* clang-format on */

/* Each subresource of the API is decided on: a new one does not compile without a row here. */
enum decision { UNDECIDED, HAS_ROWS, NEVER_PASSES };
static const enum decision decisions[] = {
    [ROUTE_MAIN] = HAS_ROWS,
    [ROUTE_STATUS] = NEVER_PASSES,
    [ROUTE_SCALE] = NEVER_PASSES,
    [ROUTE_STEPS] = HAS_ROWS,
    [ROUTE_PROGRESS] = HAS_ROWS,
    [ROUTE_TEMPLATE] = HAS_ROWS,
    [ROUTE_INSTANTIATE] = NEVER_PASSES,
    [ROUTE_LOG] = HAS_ROWS,
    [ROUTE_EVICTION] = NEVER_PASSES,
    [ROUTE_BINDING] = NEVER_PASSES,
    [ROUTE_EXEC] = NEVER_PASSES,
    [ROUTE_ATTACH] = NEVER_PASSES,
    [ROUTE_PORT_FORWARD] = NEVER_PASSES,
};
_Static_assert(countof(decisions) == ROUTE_N, "a subresource without a decision");

/* A path taken apart. */
struct path {
    const char *group, *resource, *name, *sub;
};

static bool refuse(struct error *err)
{
    return error_set(err, ERR_FORBIDDEN, "", "this request does not pass the gateway of the page");
}

static bool has_subresource(const struct path *path)
{
    if (!path->sub)
        return true;
    for (const struct subresource *row = subresources; row->name; row++)
        if (strcmp(row->name, path->sub) == 0)
            return decisions[row->sub] == HAS_ROWS;
    return true; /* the gateway makes these changes itself where a row allows them */
}

/* Splits /api/v1/… and /apis/GROUP/VERSION/… */
static bool split(const char *const *segments, size_t n, struct path *out)
{
    bool core = n > 2 && strcmp(segments[0], "api") == 0 && strcmp(segments[1], "v1") == 0;
    bool named = n > 3 && strcmp(segments[0], "apis") == 0;
    size_t at = core ? 2 : 3;

    if (!core && !named)
        return false;
    *out = (struct path){.group = core ? "" : segments[1]};
    if (n - at > 2 && strcmp(segments[at], "namespaces") == 0)
        at += 2;
    if (n - at > 3)
        return false;
    out->resource = segments[at];
    out->name = n - at > 1 ? segments[at + 1] : NULL;
    out->sub = n - at > 2 ? segments[at + 2] : NULL;
    return true;
}

/* /version, /api, /api/v1, /apis, /apis/GROUP, /apis/GROUP/VERSION */
static bool is_discovery(const char *const *segments, size_t n)
{
    if (n == 0)
        return false;
    return (n == 1 && strcmp(segments[0], "version") == 0) ||
           (n <= 2 && strcmp(segments[0], "api") == 0) ||
           (n <= 3 && strcmp(segments[0], "apis") == 0);
}

const char *gateway_target(const char *target)
{
    static const char prefix[] = "/ui/api";
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "-._~%!$&'()*+,;=:@/?";

    if (strncmp(target, prefix, sizeof prefix - 1) != 0 || target[sizeof prefix - 1] != '/')
        return NULL;
    target += sizeof prefix - 1;
    return target[strspn(target, allowed)] == '\0' ? target : NULL;
}

static bool is_type(const char *content_type, const char *type)
{
    size_t len = strlen(type);

    return strncasecmp(content_type, type, len) == 0 && strchr("; \t", content_type[len]);
}

static const char apply_type[] = "application/apply-patch+yaml";

bool gateway_is_change_type(const char *content_type)
{
    static const char *const types[] = {
        "application/json",
        "application/yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        apply_type,
    };

    for (size_t i = 0; content_type && i < countof(types); i++)
        if (is_type(content_type, types[i]))
            return true;
    return false;
}

/* The verb that the request needs; 0: one that never passes. */
static unsigned verb_of(const struct gateway_request *request, const struct path *path)
{
    bool applies = request->content_type && is_type(request->content_type, apply_type);
    const unsigned verbs[API_METHOD_N] = {
        [API_GET] = path->name ? GET : LIST,
        [API_HEAD] = path->name ? GET : LIST,
        [API_POST] = path->name ? 0 : CREATE,
        [API_PATCH] = !path->name ? 0 : applies ? APPLY : PATCH,
        [API_DELETE] = path->name ? DELETE : 0,
    };

    return verbs[request->method];
}

static const struct row *row_of(const struct path *path)
{
    for (size_t i = 0; i < countof(rows); i++)
        if (strcmp(rows[i].group, path->group) == 0 &&
            strcmp(rows[i].resource, path->resource) == 0 &&
            (rows[i].sub ? path->sub && strcmp(rows[i].sub, path->sub) == 0 : !path->sub))
            return &rows[i];
    return NULL;
}

static bool follows(const struct request_target *target)
{
    return request_query_bool(target, "follow");
}

/* Refuses watches, which have no end, and what two parsers may read differently. */
static bool check_query(const struct request_target *target, struct error *err)
{
    if (request_query_bool(target, "watch"))
        return error_set(err, ERR_FORBIDDEN, "",
                         "watches do not pass the gateway: subscribe to /ui/v1/stream");
    for (size_t i = 0; i < target->n_pairs; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(target->keys[i], target->keys[k]) == 0)
                return error_set(err, ERR_BAD_REQUEST, "", "a query parameter is given twice");
    return true;
}

static bool is_read(enum api_method method)
{
    return method == API_GET || method == API_HEAD;
}

enum gateway_pass gateway_may_pass(const struct gateway_request *request, struct error *err)
{
    const char *const *segments = request->target->segments + request->from;
    size_t n = request->target->n_segments - request->from;
    const struct row *row;
    struct path path;

    if (!check_query(request->target, err))
        return GATEWAY_REFUSED;
    if (is_discovery(segments, n) && is_read(request->method))
        return GATEWAY_READ;
    row = split(segments, n, &path) && has_subresource(&path) ? row_of(&path) : NULL;
    if (!row || !(row->verbs & verb_of(request, &path))) {
        refuse(err);
        return GATEWAY_REFUSED;
    }
    if (is_read(request->method))
        return row->sub && strcmp(row->sub, "log") == 0 && follows(request->target) ? GATEWAY_FOLLOW
                                                                                    : GATEWAY_READ;
    /* A DELETE may have no body, and then has no type. */
    if (request->method == API_DELETE && !request->content_type)
        return row->change;
    if (gateway_is_change_type(request->content_type))
        return row->change;
    error_set(err, ERR_MEDIA_TYPE, "", "the body of a change is JSON, YAML or a patch");
    return GATEWAY_REFUSED;
}
