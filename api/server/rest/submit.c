/*
 * The paths of submissions below /v1: submit, cancel, reprioritize and status. Any authenticated
 * user may ask. What the roles allow a user with the vcjobs of a namespace decides what happens
 * there. Ref: armada-submit.md B.2.
 */
#include "api/submit/request.h"

#include <string.h>

#include "api/server/auth/authz.h"
#include "api/server/rest/internal.h"
#include "api/submit/change.h"
#include "api/types/text/json_text.h"

static bool allowed(const struct api_call *call, const char *verb, const struct kind *kind,
                    const char *ns)
{
    const struct identity *identity = call->request->identity;
    const struct authz_attributes attributes = {
        .verb = verb, .group = kind->group, .resource = kind->plural, .ns = ns};

    return !identity || authz_allows(identity, &attributes);
}

static bool may_create(void *arg, const struct kind *kind, const char *ns)
{
    return allowed(arg, "create", kind, ns);
}

static bool before_create(void *arg, const char *ns, struct error *err)
{
    return confinement_require_ns(arg, ns, err);
}

static bool before_change(void *arg, const char *ns)
{
    return confinement_require_ns(arg, ns, NULL);
}

static bool may_do(void *arg, const char *verb, const char *ns)
{
    return allowed(arg, verb, &kind_job, ns);
}

static json_t *submit(const struct api_call *call, const json_t *body,
                      struct submit_problems *problems)
{
    const char *validation = request_query(&call->target, "fieldValidation");
    struct submit_options options = {
        .unknown = validation && strcmp(validation, "Warn") == 0     ? SUBMIT_WARN
                   : validation && strcmp(validation, "Ignore") == 0 ? SUBMIT_IGNORE
                                                                     : SUBMIT_STRICT,
        .items_max = call->api->submission_items,
        .owner = call->request->identity ? call->request->identity->user : NULL,
        .may_create = may_create,
        .before_create = before_create,
        .arg = (void *)(uintptr_t)call,
        .clock = loop_clock(call->api->loop),
        .ids = &call->api->submit_ids,
    };
    struct error err = {0};

    if (!dry_run_parse(&call->target, &options.dry_run, &err)) {
        submit_problem(problems, "MalformedBody", "dryRun", "%s", err.message);
        return NULL;
    }
    return submit_request(call->api->registry, body, &options, problems);
}

#define CHANGE(name, function)                                                                     \
    static json_t *name(const struct api_call *call, const json_t *body,                           \
                        struct submit_problems *problems)                                          \
    {                                                                                              \
        const struct submit_sender sender = {may_do, before_change, (void *)(uintptr_t)call};      \
                                                                                                   \
        return function(call->api->registry, body, &sender, problems);                             \
    }
CHANGE(cancel, submit_cancel)
CHANGE(cancel_set, submit_cancel_set)
CHANGE(reprioritize, submit_reprioritize)
CHANGE(status, submit_status)

static const struct {
    const char *object, *verb;
    json_t *(*handle)(const struct api_call *call, const json_t *body,
                      struct submit_problems *problems);
} paths[] = {
    {"job", "submit", submit},        {"job", "cancel", cancel},
    {"jobset", "cancel", cancel_set}, {"job", "reprioritize", reprioritize},
    {"job", "status", status},
};

bool submit_is_path(const struct request_target *target)
{
    return target->n_segments == 3 && strcmp(target->segments[0], "v1") == 0;
}

/* Reads the body. A failure to read it is a problem like any other. */
static json_t *read_body(const struct api_call *call, struct submit_problems *problems)
{
    struct error_list duplicates = {0};
    struct error err = {0};
    json_t *body = body_parse(call, &duplicates, &err);

    problems->index = SUBMIT_NO_INDEX;
    if (!body)
        submit_problem(problems,
                       err.code == ERR_TOO_LARGE    ? "BodyTooLarge"
                       : err.code == ERR_MEDIA_TYPE ? "UnsupportedMediaType"
                                                    : "MalformedBody",
                       "", "%s", err.message);
    for (size_t i = 0; i < duplicates.count; i++)
        submit_problem(problems, "DuplicateKey", duplicates.items[i].field, "%s",
                       duplicates.items[i].message);
    error_list_release(&duplicates);
    return body;
}

static struct api_stream *answer(const struct api_call *call, size_t path)
{
    struct submit_problems problems = {0};
    struct reply reply = {.status = 200};
    scoped(json) json_t *body = read_body(call, &problems);
    scoped(json) json_t *out =
        body && problems.count == 0 ? paths[path].handle(call, body, &problems) : NULL;
    scoped(json) json_t *problem = out ? NULL : submit_problems_json(&problems);

    if (!out)
        reply.status = submit_problems_status(&problems);
    submit_problems_release(&problems);
    json_text(out ? out : problem, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

struct api_stream *page_submit(const struct api_call *call)
{
    if (call->request->method != API_POST || !submit_is_path(&call->target))
        return NULL;
    for (size_t i = 0; i < countof(paths); i++)
        if (strcmp(call->target.segments[1], paths[i].object) == 0 &&
            strcmp(call->target.segments[2], paths[i].verb) == 0)
            return answer(call, i);
    return NULL;
}
