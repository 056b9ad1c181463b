/*
 * Reviews: the body comes back with its status filled in.
 */
#include "api/server/reviews.h"
#include "api/server/resources.h"
#include "api/types/json_text.h"
#include <string.h>

static json_t *who(const struct api_call *call, const json_t *spec)
{
    return json_pack("{s:{s:s, s:[s,s]}}", "userInfo", "username", "admin", "groups",
                     "system:masters", "system:authenticated");
}

static json_t *may(const struct api_call *call, const json_t *spec)
{
    return json_pack("{s:b}", "allowed", true);
}

static json_t *rules(const struct api_call *call, const json_t *spec)
{
    return json_pack("{s:[{s:[s], s:[s], s:[s]}], s:[{s:[s], s:[s]}], s:b}", "resourceRules",
                     "verbs", "*", "apiGroups", "*", "resources", "*", "nonResourceRules", "verbs",
                     "*", "nonResourceURLs", "*", "incomplete", false);
}

static const struct {
    const char *kind;
    json_t *(*status)(const struct api_call *call, const json_t *spec);
} answers[] = {
    {"SelfSubjectReview", who},
    {"SelfSubjectAccessReview", may},
    {"SelfSubjectRulesReview", rules},
};

static json_t *status_of(const struct review *review, const struct api_call *call,
                         const json_t *spec)
{
    for (size_t i = 0; i < countof(answers); i++)
        if (strcmp(answers[i].kind, review->kind) == 0)
            return answers[i].status(call, spec);
    return json_object();
}

static struct api_stream *answer(const struct api_call *call, const struct review *review)
{
    struct reply with = {.status = 201};
    scoped(json) json_t *body = NULL, *version = NULL;
    struct error err = {0};

    body = body_parse(call, &err);
    if (!body)
        return reply_error(call, &err);
    if (!json_is_object(body)) {
        error_set(&err, ERR_BAD_REQUEST, "", "the body must be a %s", review->kind);
        return reply_error(call, &err);
    }
    version = json_sprintf("%s/%s", review->group, review->version);
    json_object_set(body, "apiVersion", version);
    json_object_set_new(body, "kind", json_string(review->kind));
    if (!json_object_get(body, "metadata"))
        json_object_set_new(body, "metadata", json_object());
    json_object_set_new(body, "status", status_of(review, call, json_object_get(body, "spec")));
    json_text(body, &with.body);
    buf_char(&with.body, '\n');
    return reply_send(call, &with, STREAM_NOW);
}

struct api_stream *review_answer(const struct api_call *call)
{
    const char *const *segment = call->target.segments;

    if (call->request->method != API_POST || call->target.n_segments != 4 ||
        strcmp(segment[0], "apis") != 0)
        return NULL;
    for (const struct review *review = reviews; review->plural; review++)
        if (strcmp(segment[1], review->group) == 0 && strcmp(segment[2], review->version) == 0 &&
            strcmp(segment[3], review->plural) == 0)
            return answer(call, review);
    return NULL;
}
