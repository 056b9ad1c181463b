/*
 * create, replace, patch and delete: bodies in, registry calls, answers after the commit.
 */
#include "api/server/stream.h"
#include "api/types/yaml.h"
#include <string.h>

/* The body as a document: JSON or YAML, one of it. */
static json_t *parse_body(const struct api_call *call, struct error *err)
{
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(call->request->body ? call->request->body : "", call->request->body_len,
                   &yaml_limits_default, err);

    if (!stream) {
        err->code = ERR_BAD_REQUEST;
        return NULL;
    }
    if (yaml_count(stream) != 1) {
        error_set(err, ERR_BAD_REQUEST, "", "the body must hold one object, it holds %zu",
                  yaml_count(stream));
        return NULL;
    }
    return json_incref(yaml_document(stream, 0));
}

/* The object of the body must be the one the path names; what the body leaves out is filled in from
 * the path. */
static bool agree(const struct api_call *call, json_t *doc, struct error *err)
{
    const struct kind *kind = call->route.kind;
    const char *api_version = json_string_value(json_object_get(doc, "apiVersion"));
    const char *kind_name = json_string_value(json_object_get(doc, "kind"));
    json_t *metadata = json_object_get(doc, "metadata");
    const char *ns, *name;

    if (!json_is_object(doc))
        return error_set(err, ERR_BAD_REQUEST, "", "the body must be an object");
    if (!api_version)
        json_object_set_new(doc, "apiVersion", json_string(kind_api_version(kind)));
    else if (strcmp(api_version, kind_api_version(kind)) != 0)
        return error_set(
            err, ERR_BAD_REQUEST, "",
            "the API version in the data (%s) does not match the expected API version (%s)",
            api_version, kind_api_version(kind));
    if (!kind_name)
        json_object_set_new(doc, "kind", json_string(kind->name));
    else if (strcmp(kind_name, kind->name) != 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the kind in the data (%s) does not match the expected kind (%s)",
                         kind_name, kind->name);
    if (!metadata) {
        metadata = json_object();
        json_object_set_new(doc, "metadata", metadata);
    }
    ns = json_string_value(json_object_get(metadata, "namespace"));
    name = json_string_value(json_object_get(metadata, "name"));
    if (kind->namespaced && !ns)
        json_object_set_new(metadata, "namespace", json_string(call->route.ns));
    else if (kind->namespaced && strcmp(ns, call->route.ns) != 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the namespace of the provided object does not match the namespace sent "
                         "on the request");
    if (call->route.name && name && strcmp(name, call->route.name) != 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the name of the object (%s) does not match the name on the URL (%s)",
                         name, call->route.name);
    if (call->route.name && !name)
        json_object_set_new(metadata, "name", json_string(call->route.name));
    return true;
}

static struct registry_write write_options(const struct api_call *call)
{
    const char *validation = target_query(&call->target, "fieldValidation");

    return (struct registry_write){
        .dry_run = target_query(&call->target, "dryRun") ? REGISTRY_DRY_RUN : REGISTRY_APPLY,
        .unknown = validation && strcmp(validation, "Strict") == 0 ? UNKNOWN_ERROR : UNKNOWN_PRUNE,
    };
}

static struct api_stream *answer_write(const struct api_call *call, bool ok, int status,
                                       const struct object *object, struct error_list *errors)
{
    struct api_stream *stream =
        ok ? reply_object(call, status, object, REPLY_DURABLE) : reply_errors(call, errors);

    error_list_release(errors);
    return stream;
}

struct api_stream *verb_create(const struct api_call *call)
{
    const struct registry_write how = write_options(call);
    struct error_list errors = {0};
    struct error err = {0};
    const struct object *object = NULL;
    scoped(json) json_t *doc = parse_body(call, &err);

    if (!doc || !agree(call, doc, &err))
        return reply_error(call, &err);
    return answer_write(call, registry_create(call->api->registry, doc, &how, &object, &errors),
                        201, object, &errors);
}

static enum registry_subresource subresource(const struct api_call *call)
{
    return call->route.sub == ROUTE_STATUS ? REGISTRY_STATUS : REGISTRY_MAIN;
}

struct api_stream *verb_update(const struct api_call *call)
{
    const struct registry_write how = write_options(call);
    struct error_list errors = {0};
    struct error err = {0};
    const struct object *object = NULL;
    scoped(json) json_t *doc = parse_body(call, &err);

    if (!doc || !agree(call, doc, &err))
        return reply_error(call, &err);
    return answer_write(
        call, registry_update(call->api->registry, doc, subresource(call), &how, &object, &errors),
        200, object, &errors);
}

static const struct {
    const char *content_type;
    enum registry_patch type;
} patch_types[] = {
    {"application/json-patch+json", REGISTRY_PATCH_JSON},
    {"application/merge-patch+json", REGISTRY_PATCH_MERGE},
    {"application/strategic-merge-patch+json", REGISTRY_PATCH_STRATEGIC},
};

static bool patch_type(const char *content_type, enum registry_patch *out)
{
    for (size_t i = 0; content_type && i < countof(patch_types); i++)
        if (strncmp(content_type, patch_types[i].content_type,
                    strlen(patch_types[i].content_type)) == 0) {
            *out = patch_types[i].type;
            return true;
        }
    return false;
}

struct api_stream *verb_patch(const struct api_call *call)
{
    const struct registry_write how = write_options(call);
    struct error_list errors = {0};
    struct error err = {0};
    const struct object *object = NULL;
    enum registry_patch type;
    scoped(json) json_t *doc = NULL;

    if (!patch_type(call->request->content_type, &type)) {
        error_set(&err, ERR_MEDIA_TYPE, "",
                  "the body of the request was in an unknown format - accepted media types "
                  "include: application/json-patch+json, "
                  "application/merge-patch+json, application/strategic-merge-patch+json");
        return reply_error(call, &err);
    }
    doc = parse_body(call, &err);
    if (!doc)
        return reply_error(call, &err);
    return answer_write(call,
                        registry_patch(call->api->registry, call->route.kind, call->route.ns,
                                       call->route.name, type, doc, subresource(call), &how,
                                       &object, &errors),
                        200, object, &errors);
}

/* ---- delete: options in the query or in a DeleteOptions body, the body first ---- */

static const char *delete_option(const struct api_call *call, const json_t *options,
                                 const char *name)
{
    const json_t *value = json_object_get(options, name);

    return json_is_string(value) ? json_string_value(value) : target_query(&call->target, name);
}

static bool delete_options(const struct api_call *call, struct registry_delete *how, json_t **keep,
                           struct error *err)
{
    static const char *const names[] = {"Background", "Foreground", "Orphan"};
    const char *propagation, *uid;
    json_t *options = NULL;

    if (call->request->body_len && !(options = parse_body(call, err)))
        return false;
    *keep = options; /* strings of `how` live in it */
    if (!target_query_int(&call->target, "gracePeriodSeconds", -1, 0, &how->grace_s, err))
        return false;
    if (json_is_integer(json_object_get(options, "gracePeriodSeconds")))
        how->grace_s = json_integer_value(json_object_get(options, "gracePeriodSeconds"));
    uid = json_string_value(json_object_get(json_object_get(options, "preconditions"), "uid"));
    how->uid = uid;
    propagation = delete_option(call, options, "propagationPolicy");
    for (size_t i = 0; propagation && i < countof(names); i++)
        if (strcmp(propagation, names[i]) == 0) {
            how->propagation = (enum registry_propagation)i;
            return true;
        }
    return !propagation ||
           error_set(err, ERR_INVALID, "propagationPolicy",
                     "Unsupported value: \"%s\": supported values: Background, Foreground, Orphan",
                     propagation);
}

static struct api_stream *reply_success(const struct api_call *call)
{
    scoped(buf) struct buf body = {0};
    struct jsonw w = jsonw_to(&body);

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Status");
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_open(&w, "metadata");
    jsonw_close(&w);
    jsonw_member_str(&w, "status", "Success");
    jsonw_member_open(&w, "details");
    jsonw_member_str(&w, "name", call->route.name);
    jsonw_member_str_opt(&w, "group", call->route.kind->group);
    jsonw_member_str(&w, "kind", call->route.kind->plural);
    jsonw_close(&w);
    jsonw_close(&w);
    return reply_body(call, 200, "application/json", &body, REPLY_DURABLE);
}

struct api_stream *verb_delete(const struct api_call *call)
{
    struct registry_delete how = {.grace_s = -1};
    struct error_list errors = {0};
    struct error err = {0};
    const struct object *object = NULL;
    scoped(json) json_t *options = NULL;
    bool ok;

    if (!delete_options(call, &how, &options, &err))
        return reply_error(call, &err);
    if (target_query(&call->target, "dryRun"))
        how.dry_run = REGISTRY_DRY_RUN;
    ok = registry_delete(call->api->registry, call->route.kind, call->route.ns, call->route.name,
                         &how, &object, &errors);
    if (ok && !object)
        return reply_success(call);
    return answer_write(call, ok, 200, object, &errors);
}
