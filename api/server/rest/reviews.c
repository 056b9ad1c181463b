/*
 * Reviews: POSTs that query the sender's own permissions. The response is the body with its status
 * filled in by the same authorization that every request goes through.
 */
#include "api/server/rest/internal.h"

#include <string.h>

#include "api/server/auth/authz.h"
#include "api/server/rest/resources.h"
#include "api/types/text/json_text.h"

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : NULL;
}

/* SelfSubjectAccessReview: may the sender make this request? */

static bool read_path(const json_t *from, struct authz_attributes *out, struct arena *arena)
{
    const char *path = text_at(from, "path"), *verb = text_at(from, "verb");

    if (!path || !verb || *path != '/')
        return false;
    *out =
        (struct authz_attributes){.verb = verb,
                                  .path = arena_strndup(arena, path + 1, strcspn(path + 1, "/?")),
                                  .full_path = path};
    return true;
}

static bool read_resource(const json_t *from, struct authz_attributes *out)
{
    const char *group = text_at(from, "group");

    *out = (struct authz_attributes){.verb = text_at(from, "verb"),
                                     .group = group ? group : "",
                                     .resource = text_at(from, "resource"),
                                     .subresource = text_at(from, "subresource"),
                                     .ns = text_at(from, "namespace"),
                                     .name = text_at(from, "name")};
    return out->verb && out->resource;
}

static bool review_access(const struct api_call *call, const json_t *spec, json_t *status,
                          struct error *err)
{
    const json_t *resource = json_object_get(spec, "resourceAttributes");
    const json_t *path = json_object_get(spec, "nonResourceAttributes");
    const struct identity *identity = call->request->identity;
    struct authz_attributes attributes;
    bool allowed;

    if ((resource != NULL) == (path != NULL))
        return error_set(err, ERR_INVALID, "spec",
                         "Invalid value: exactly one of nonResourceAttributes or "
                         "resourceAttributes must be specified");
    if (resource ? !read_resource(resource, &attributes)
                 : !read_path(path, &attributes, call->arena))
        return error_set(err, ERR_INVALID, "spec", "Required value: verb, and resource or path");
    allowed = !identity || authz_allows(identity, &attributes);
    json_object_set_new(status, "allowed", json_boolean(allowed));
    return true;
}

/* SelfSubjectRulesReview: what may the sender do in a namespace? */

static json_t *resource_rule(const char *verb, const char *group, const char *resource)
{
    return json_pack("{s:[s],s:[s],s:[s]}", "verbs", verb, "apiGroups", group, "resources",
                     resource);
}

static json_t *rule_for(const struct identity *identity, const struct authz_rule *rule,
                        const char *ns)
{
    static const char *const verbs[] = {"get",    "list",  "watch",  "create",
                                        "update", "patch", "delete", "deletecollection"};
    json_t *allowed = json_array();

    for (size_t i = 0; i < countof(verbs); i++) {
        const struct authz_attributes attributes = {.verb = verbs[i],
                                                    .group = rule->group,
                                                    .resource = rule->resource,
                                                    .ns = rule->cluster ? NULL : ns};

        if (authz_allows(identity, &attributes))
            json_array_append_new(allowed, json_string(verbs[i]));
    }
    if (json_array_size(allowed) == 0) {
        json_decref(allowed);
        return NULL;
    }
    return json_pack("{s:o,s:[s],s:[s]}", "verbs", allowed, "apiGroups", rule->group, "resources",
                     rule->resource);
}

static bool review_rules(const struct api_call *call, const json_t *spec, json_t *status,
                         struct error *err)
{
    const struct identity *identity = call->request->identity;
    bool all = !identity || identity_role(identity, NULL) == ROLE_ADMIN;
    json_t *resources = json_array(), *paths = json_array();

    if (all) {
        json_array_append_new(resources, resource_rule("*", "*", "*"));
        json_array_append_new(paths,
                              json_pack("{s:[s],s:[s]}", "verbs", "*", "nonResourceURLs", "*"));
    } else {
        json_array_append_new(resources,
                              json_pack("{s:[s],s:[s],s:[s,s]}", "verbs", "create", "apiGroups",
                                        "authorization.k8s.io", "resources",
                                        "selfsubjectaccessreviews", "selfsubjectrulesreviews"));
        json_array_append_new(
            resources, resource_rule("create", "authentication.k8s.io", "selfsubjectreviews"));
        for (const struct authz_rule *rule = authz_rules; rule->resource; rule++) {
            json_t *row = rule_for(identity, rule, text_at(spec, "namespace"));

            if (row)
                json_array_append_new(resources, row);
        }
        json_array_append_new(paths,
                              json_pack("{s:[s],s:[s,s,s,s,s,s,s,s,s]}", "verbs", "get",
                                        "nonResourceURLs", "/api", "/api/*", "/apis", "/apis/*",
                                        "/healthz", "/livez", "/openapi/*", "/readyz", "/version"));
    }
    json_object_set_new(status, "resourceRules", resources);
    json_object_set_new(status, "nonResourceRules", paths);
    json_object_set_new(status, "incomplete", json_false());
    return true;
}

static bool review_self(const struct api_call *call, const json_t *spec, json_t *status,
                        struct error *err)
{
    const struct identity *identity = call->request->identity;
    json_t *groups = json_array();

    for (size_t i = 0; identity && i < identity->n_groups; i++)
        json_array_append_new(groups, json_string(identity->groups[i]));
    json_object_set_new(
        status, "userInfo",
        json_pack("{s:s,s:o}", "username", identity ? identity->user : "owner", "groups", groups));
    return true;
}

typedef bool (*review_fn)(const struct api_call *call, const json_t *spec, json_t *status,
                          struct error *err);

static const struct {
    const char *kind;
    review_fn review;
} answers[] = {
    {"SelfSubjectAccessReview", review_access},
    {"SelfSubjectRulesReview", review_rules},
    {"SelfSubjectReview", review_self},
};

static review_fn review_of(const struct review *review)
{
    for (size_t i = 0; i < countof(answers); i++)
        if (strcmp(answers[i].kind, review->kind) == 0)
            return answers[i].review;
    return NULL;
}

static struct api_stream *respond(const struct api_call *call, const struct review *review)
{
    struct error err = {0};
    scoped(json) json_t *body = body_parse(call, NULL, &err), *status = json_object(),
                        *version = NULL;
    struct reply reply = {.status = 201};

    if (body && !json_is_object(body))
        error_set(&err, ERR_BAD_REQUEST, "", "the body must be a %s", review->kind);
    if (err.code != ERR_NONE ||
        !review_of(review)(call, json_object_get(body, "spec"), status, &err))
        return reply_error(call, &err);
    version = json_sprintf("%s/%s", review->group, review->version);
    json_object_set(body, "apiVersion", version);
    json_object_set_new(body, "kind", json_string(review->kind));
    if (!json_object_get(body, "metadata"))
        json_object_set_new(body, "metadata", json_object());
    json_object_set(body, "status", status);
    json_text(body, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_NOW);
}

static struct api_stream *negotiate(const struct api_call *call, const struct review *review)
{
    struct api_call known = *call;
    struct error err = {0};

    if (!accept_negotiate(call->request->accept, ACCEPT_PLAIN, PROTOBUF_POSSIBLE, &known.media,
                          &err))
        return reply_error(call, &err);
    // cppcheck-suppress returnDanglingLifetime ; the stream returned keeps nothing of the call
    return respond(&known, review);
}

struct api_stream *page_review(const struct api_call *call)
{
    const char *const *segment = call->target.segments;

    if (call->request->method != API_POST || call->target.n_segments != 4 ||
        strcmp(segment[0], "apis") != 0)
        return NULL;
    for (const struct review *review = reviews; review->plural; review++)
        if (strcmp(segment[1], review->group) == 0 && strcmp(segment[2], review->version) == 0 &&
            strcmp(segment[3], review->plural) == 0 && review_of(review))
            return negotiate(call, review);
    return NULL;
}
