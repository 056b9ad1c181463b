/*
 * The verbs delete, deletecollection and the eviction of a pod. Options come in a DeleteOptions
 * body or in the query; the body takes precedence. Ref: spec/kube-api.md 14.1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/server/rest/render.h"
#include "base/mem.h"

static const struct {
    const char *text;
    enum registry_propagation propagation;
} policies[] = {
    {"Background", REGISTRY_BACKGROUND},
    {"Foreground", REGISTRY_FOREGROUND},
    {"Orphan", REGISTRY_ORPHAN},
};

static bool parse_policy(const struct api_call *call, const json_t *options,
                         enum registry_propagation *out, struct error *err)
{
    const char *policy = json_string_value(json_object_get(options, "propagationPolicy"));
    const json_t *orphan = json_object_get(options, "orphanDependents");
    bool orphans = json_is_boolean(orphan) || request_query(&call->target, "orphanDependents");

    if (!policy)
        policy = request_query(&call->target, "propagationPolicy");
    *out = REGISTRY_BACKGROUND;
    if (orphans && policy)
        return error_set(err, ERR_INVALID, "propagationPolicy",
                         "Invalid value: \"%s\": orphanDependents and deletionPropagation cannot "
                         "be both set",
                         policy);
    if (orphans &&
        (orphan ? json_is_true(orphan) : request_query_bool(&call->target, "orphanDependents")))
        *out = REGISTRY_ORPHAN;
    if (!policy || !*policy)
        return true;
    for (size_t i = 0; i < countof(policies); i++)
        if (strcmp(policy, policies[i].text) == 0) {
            *out = policies[i].propagation;
            return true;
        }
    return error_set(err, ERR_INVALID, "propagationPolicy",
                     "Unsupported value: \"%s\": supported values: \"Foreground\", "
                     "\"Background\", \"Orphan\", \"nil\"",
                     policy);
}

static bool parse_preconditions(const json_t *options, struct registry_delete *how,
                                struct error *err)
{
    const json_t *preconditions = json_object_get(options, "preconditions");
    const char *revision = json_string_value(json_object_get(preconditions, "resourceVersion"));
    char *end;

    how->uid = json_string_value(json_object_get(preconditions, "uid"));
    if (!revision)
        return true;
    errno = 0;
    how->revision = strtoll(revision, &end, 10);
    if (errno || *end || how->revision <= 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "preconditions.resourceVersion \"%s\" is not a revision", revision);
    return true;
}

static bool parse_grace(const struct api_call *call, const json_t *options, int64_t *out,
                        struct error *err)
{
    const json_t *grace = json_object_get(options, "gracePeriodSeconds");

    if (!request_query_int(&call->target, "gracePeriodSeconds", -1, out, err))
        return false;
    if (json_is_integer(grace))
        *out = json_integer_value(grace);
    if (*out < -1)
        *out = -1;
    return true;
}

static bool parse_dry_run(const struct api_call *call, const json_t *options,
                          enum registry_dry_run *out, struct error *err)
{
    const json_t *values = json_object_get(options, "dryRun"), *value;
    size_t i;

    if (!dry_run_parse(&call->target, out, err))
        return false;
    json_array_foreach(values, i, value)
    {
        if (!json_is_string(value) || strcmp(json_string_value(value), "All") != 0)
            return error_set(err, ERR_INVALID, "dryRun",
                             "Unsupported value: \"%s\": supported values: \"All\"",
                             json_is_string(value) ? json_string_value(value) : "");
        *out = REGISTRY_DRY_RUN;
    }
    return true;
}

/* With record=true a flow that has ended stays as the record of an earlier run. */
static bool parse_record(const struct api_call *call, bool *out, struct error *err)
{
    const char *text = request_query(&call->target, "record");

    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return error_set(err, ERR_INVALID, "record",
                         "Unsupported value: \"%s\": supported values: \"true\", \"false\"", text);
    *out = text && strcmp(text, "true") == 0;
    return true;
}

/* Reads the options into `how`, which borrows strings from `options` (may be NULL). */
static bool take_options(const struct api_call *call, const json_t *options,
                         struct registry_delete *how, struct error *err)
{
    const char *kind = json_string_value(json_object_get(options, "kind"));

    *how = (struct registry_delete){.grace_s = -1};
    if (options && !json_is_object(options))
        return error_set(err, ERR_BAD_REQUEST, "", "the body must be DeleteOptions");
    if (kind && strcmp(kind, "DeleteOptions") != 0)
        return error_set(err, ERR_BAD_REQUEST, "kind",
                         "the body of a deletion must be DeleteOptions, not \"%.64s\"", kind);
    return parse_record(call, &how->keep_record, err) &&
           parse_dry_run(call, options, &how->dry_run, err) &&
           parse_grace(call, options, &how->grace_s, err) &&
           parse_preconditions(options, how, err) &&
           parse_policy(call, options, &how->propagation, err);
}

/* Reads the options of the body and the query. `how` borrows strings from `*out_body` (owned). */
static bool parse_options(const struct api_call *call, struct registry_delete *how,
                          json_t **out_body, struct error *err)
{
    json_t *options = NULL;

    if (call->request->body_len && !(options = body_parse(call, NULL, err)))
        return false;
    *out_body = options;
    return take_options(call, options, how, err);
}

struct api_stream *verb_delete(const struct api_call *call)
{
    const struct route *route = &call->route;
    scoped(object) struct object *before =
        object_ref(store_get(call->api->store, route->kind, route->ns, route->name));
    scoped(json) json_t *options = NULL;
    struct registry_delete how;
    struct error_list errors = {0};
    struct error err = {0};
    const struct object *left = NULL;
    struct api_stream *stream;

    if (!parse_options(call, &how, &options, &err))
        return reply_option_error(call, "DeleteOptions", &err);
    if (!registry_delete(call->api->registry, route_target(route), &how, &left, &errors)) {
        const struct status_subject about = {.kind = route->kind, .name = route->name};

        stream = reply_failure(call, &errors, &about);
        error_list_release(&errors);
        return stream;
    }
    if (!left && route->kind == &kind_pod) /* clients expect the pod even when it is deleted */
        left = before;
    return left ? reply_object(call, 200, left, NULL)
                : reply_deleted(call, before ? object_uid(before) : "");
}

/* Evicts a pod: the same as DELETE, except that the response is a Status. */
struct api_stream *verb_evict(const struct api_call *call)
{
    const struct route *route = &call->route;
    struct registry_delete how;
    struct error_list errors = {0};
    struct error err = {0};
    struct api_stream *stream;
    scoped(json) json_t *body = body_parse(call, NULL, &err);

    if (!body)
        return reply_error(call, &err);
    if (!take_options(call, json_object_get(body, "deleteOptions"), &how, &err))
        return reply_option_error(call, "DeleteOptions", &err);
    if (registry_delete(call->api->registry, route_target(route), &how, NULL, &errors))
        return reply_success(call, 201);
    stream = reply_errors(call, &errors);
    error_list_release(&errors);
    return stream;
}

struct selection {
    const struct filter *filter;
    struct object **items; /* objects to delete, [count] references */
    size_t count, cap;
};

static void select_object(void *arg, const struct object *object)
{
    struct selection *selection = arg;

    if (!filter_matches(selection->filter, object))
        return;
    mem_grow(selection->items, selection->count, selection->cap);
    selection->items[selection->count++] = object_ref(object);
}

/* Deletes the objects one by one and lists them; stops at the first that cannot be deleted. */
static bool delete_all(const struct api_call *call, const struct selection *selection,
                       struct registry_delete *how, struct buf *out, struct error_list *errors)
{
    const struct render render = {.kind = call->route.kind};
    const struct table_head head = {.revision = store_revision(call->api->store)};

    render_list_begin(&render, &head, out);
    for (size_t i = 0; i < selection->count; i++) {
        const struct object *object = selection->items[i], *left = NULL;

        if (!registry_delete(call->api->registry, registry_target_of(object), how, &left, errors))
            return false;
        if (i)
            buf_char(out, ',');
        render_list_item(&render, left ? left : object, out);
    }
    render_list_end(&render, out);
    return true;
}

struct api_stream *verb_delete_collection(const struct api_call *call)
{
    const char *ns = call->route.kind->namespaced ? call->route.ns : NULL;
    scoped(filter) struct filter filter = {0};
    scoped(json) json_t *options = NULL;
    struct selection selection = {.filter = &filter};
    struct reply reply = {.status = 200};
    struct error_list errors = {0};
    struct error err = {0};
    struct registry_delete how;
    struct api_stream *stream;

    if (!parse_options(call, &how, &options, &err))
        return reply_option_error(call, "DeleteOptions", &err);
    if (!filter_parse(&call->target, call->route.kind, NULL, call->arena, &filter, &err))
        return reply_error(call, &err);
    store_each(call->api->store, call->route.kind, ns, select_object, &selection);
    if (delete_all(call, &selection, &how, &reply.body, &errors)) {
        stream = reply_send(call, &reply, STREAM_DURABLE);
    } else {
        buf_release(&reply.body);
        stream = reply_errors(call, &errors);
        error_list_release(&errors);
    }
    for (size_t i = 0; i < selection.count; i++)
        object_unref(selection.items[i]);
    mem_free(selection.items);
    return stream;
}
