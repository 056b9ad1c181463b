/*
 * The verbs create, update and patch: decode the body, call the registry, respond after the commit.
 * Ref: spec/kube-api.md 6.4 to 6.6.
 */
#include <string.h>

#include "api/server/auth/authz.h"
#include "api/server/rest/internal.h"
#include "api/types/kinds/answer.h"
#include "api/types/kinds/command.h"
#include "api/types/text/doc.h"
#include "base/mem.h"

static bool check_kind(const struct kind *kind, json_t *doc, struct error *err)
{
    const char *version = json_string_value(json_object_get(doc, "apiVersion"));
    const char *name = json_string_value(json_object_get(doc, "kind"));

    if ((!version || !name) && kind_is_custom(kind))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the object provided is unrecognized (must be of type %s): Object '%s' is "
                         "missing in the body",
                         kind->name, name ? "apiVersion" : "Kind");
    if (!kind_is_custom(kind) && ((version && strcmp(version, kind_api_version(kind)) != 0) ||
                                  (name && strcmp(name, kind->name) != 0)))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "%s in version \"%s\" cannot be handled as a %s: this path takes %s of "
                         "version %s",
                         name ? name : kind->name, version ? version : kind_api_version(kind),
                         kind->name, kind->name, kind_api_version(kind));
    if (version && strcmp(version, kind_api_version(kind)) != 0)
        return error_set(
            err, ERR_BAD_REQUEST, "",
            "the API version in the data (%s) does not match the expected API version (%s)",
            version, kind_api_version(kind));
    if (name && strcmp(name, kind->name) != 0)
        return error_set(err, ERR_INVALID, "kind", "Invalid value: \"%s\": must be %s", name,
                         kind->name);
    if (!version)
        json_object_set_new(doc, "apiVersion", json_string(kind_api_version(kind)));
    if (!name)
        json_object_set_new(doc, "kind", json_string(kind->name));
    return true;
}

static bool check_location(struct api_call *call, json_t *metadata, struct error *err)
{
    const struct route *route = &call->route;
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));

    if (route->kind->namespaced && ns && *ns && strcmp(ns, route->ns) != 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the namespace of the provided object does not match the namespace sent "
                         "on the request");
    if (route->kind->namespaced)
        json_object_set_new(metadata, "namespace", json_string(route->ns));
    if (route->name && (!name || !*name))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the name of the object (%s based on URL) was undeterminable: name must "
                         "be provided",
                         route->name);
    if (route->name && strcmp(name, route->name) != 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the name of the object (%s) does not match the name on the URL (%s)",
                         name, route->name);
    if (name)
        call->name = arena_strdup(call->arena, name); /* the name must outlive the document */
    return true;
}

/* Checks that an event is in the namespace of its object, or in default if the object has none.
 * Admission does not check it: the controllers create their events that way already. */
static bool check_event_namespace(const struct api_call *call, const json_t *doc, struct error *err)
{
    const json_t *about = json_object_get(doc, "involvedObject");
    const char *ns = json_string_value(json_object_get(about, "namespace"));
    bool fits = ns && *ns ? strcmp(ns, call->route.ns) == 0
                          : strcmp(call->route.ns, "default") == 0 || !about;

    return fits || error_set(err, ERR_INVALID, "involvedObject.namespace",
                             "Invalid value: \"%s\": does not match event.namespace", ns ? ns : "");
}

/* Checks that the sender of a command may write what the command acts on: an editor of a namespace
 * may command its jobs, but not the queues of the cluster. */
static bool check_target(const struct api_call *call, const json_t *doc, struct error *err)
{
    const struct identity *identity = call->request->identity;
    const char *version = doc_text(doc, "target.apiVersion"), *name = doc_text(doc, "target.kind");
    const struct kind *kind = version && name ? kind_by_gvk(version, name) : NULL;
    struct authz_attributes attributes = {.verb = "update", .name = doc_text(doc, "target.name")};

    if (!identity || !kind) /* a target of another kind is refused when the command is validated */
        return true;
    attributes.group = kind->group;
    attributes.resource = kind->plural;
    attributes.ns = kind->namespaced ? call->route.ns : NULL;
    if (authz_allows(identity, &attributes))
        return true;
    authz_refuse(identity, &attributes, err);
    return false;
}

/* Writes the name of the sender into a Command, whatever stands there. Requests of this process say
 * themselves for whom they are. */
static void sign_command(const struct api_call *call, json_t *metadata)
{
    const struct identity *identity = call->request->identity;
    json_t *annotations = json_object_get(metadata, "annotations");

    if (!identity || !json_is_object(metadata) || (annotations && !json_is_object(annotations)))
        return; /* other forms are refused when the object is decoded */
    if (!annotations)
        json_object_set_new(metadata, "annotations", annotations = json_object());
    json_object_set_new(annotations, ANNOTATION_REQUESTED_BY, json_string(identity->user));
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

/* Removes duplicate owner references. A list beyond any sensible length is left as it is, because
 * the comparison is quadratic. */
static void merge_owners(json_t *metadata, struct error_list *warnings)
{
    enum { OWNERS_MAX = 100 };
    json_t *owners = json_object_get(metadata, "ownerReferences");

    if (json_array_size(owners) > OWNERS_MAX)
        return;
    for (size_t i = json_array_size(owners); i-- > 1;)
        for (size_t j = 0; j < i; j++) {
            const json_t *owner = json_array_get(owners, i);

            if (!json_equal(owner, json_array_get(owners, j)))
                continue;
            if (warnings)
                error_list_add(warnings, ERR_INVALID, "metadata.ownerReferences",
                               ".metadata.ownerReferences contains duplicate entries; the owner "
                               "with the UID %.64s is named once",
                               text_of(owner, "uid"));
            json_array_remove(owners, i);
            break;
        }
}

static bool check_body(struct api_call *call, json_t *doc, struct error *err)
{
    json_t *metadata = json_object_get(doc, "metadata");

    if (!json_is_object(doc))
        return error_set(err, ERR_BAD_REQUEST, "", "the body must be an object");
    if (!check_kind(call->route.kind, doc, err))
        return false;
    if (!metadata || json_is_null(metadata)) {
        metadata = json_object();
        json_object_set_new(doc, "metadata", metadata);
    }
    if (call->route.kind == &kind_command)
        sign_command(call, metadata);
    return (!json_is_object(metadata) || check_location(call, metadata, err)) &&
           (call->route.kind != &kind_event || check_event_namespace(call, doc, err)) &&
           (call->route.kind != &kind_command || check_target(call, doc, err));
}

static void append_all(const struct error_list *from, struct error_list *to)
{
    for (size_t i = 0; i < from->count; i++)
        error_list_append(to, &from->items[i]);
    to->dropped += from->dropped;
}

/* Applies fieldValidation to the strict errors: true when they refuse the write; otherwise they
 * become warnings, unless the client wants none. */
static bool refuse_or_warn(struct write *write)
{
    if (write->how.unknown == UNKNOWN_ERROR)
        return write->strict.count > 0;
    if (write->how.warnings)
        append_all(&write->strict, &write->warnings);
    return false;
}

/* Adds a strict error for every member of a JSON Patch operation that is not read, and prefixes the
 * errors found so far. */
static void add_unread_members(const json_t *patch, struct error_list *strict)
{
    size_t i;
    json_t *operation, *value;
    const char *key;

    for (i = 0; i < strict->count; i++)
        error_prefix(&strict->items[i], "json patch ");
    json_array_foreach(patch, i, operation)
    {
        json_object_foreach(operation, key, value)
        {
            scoped_str path = mem_printf("[%zu].%.128s", i, key);

            if (strcmp(key, "op") != 0 && strcmp(key, "path") != 0 && strcmp(key, "from") != 0 &&
                strcmp(key, "value") != 0)
                error_list_add(strict, ERR_BAD_REQUEST, path, "json patch unknown field \"%s\"",
                               path);
        }
    }
}

/* Responds to a write. One with strict errors ran as a dry run, only to find its other errors, and
 * is refused now. */
static struct api_stream *respond(const struct api_call *call, struct write *write, bool ok,
                                  int status)
{
    if (write->how.unknown == UNKNOWN_ERROR && write->strict.count) {
        append_all(&write->strict, &write->errors);
        ok = false;
    }
    return ok ? reply_object(call, status, write->object, &write->warnings)
              : reply_errors(call, &write->errors);
}

static json_t *parse_object(struct api_call *call, struct write *write, struct error *err)
{
    scoped(json) json_t *doc = body_parse(call, &write->strict, err);

    if (refuse_or_warn(write))
        write->how.dry_run = REGISTRY_DRY_RUN;
    if (doc && call->route.alias)
        group_alias_to_stored(call->route.alias, doc);
    if (!doc || !check_body(call, doc, err))
        return NULL;
    merge_owners(json_object_get(doc, "metadata"), write->how.warnings);
    return take(doc);
}

struct api_stream *verb_create(const struct api_call *request)
{
    struct api_call call = *request;
    scoped(write) struct write write = {0};
    scoped(json) json_t *doc = NULL;
    struct error err = {0};
    bool ok;

    if (!write_init(&write, &call, &err))
        return reply_option_error(&call, "CreateOptions", &err);
    doc = parse_object(&call, &write, &err);
    if (!doc)
        return reply_error(&call, &err);
    ok = registry_create(call.api->registry, doc, &write.how, &write.object, &write.errors);
    return respond(&call, &write, ok, 201);
}

static enum registry_subresource subresource(const struct api_call *call)
{
    return call->route.sub == ROUTE_STATUS ? REGISTRY_STATUS : REGISTRY_MAIN;
}

/* Returns whether an update must give a resourceVersion. Ref: spec/kube-api.md 4, column PUT. */
static bool needs_revision(const struct kind *kind)
{
    return kind_is_custom(kind) || kind == &kind_lease;
}

/* Returns whether an update of a missing object creates it. Ref: spec/kube-api.md 4, column PUT. */
static bool creates_missing(const struct route *route)
{
    return route->sub == ROUTE_MAIN && (route->kind == &kind_lease || route->kind == &kind_event);
}

static bool has_revision(const json_t *doc)
{
    const char *revision = doc_text(doc, "metadata.resourceVersion");

    return revision && *revision && strcmp(revision, "0") != 0;
}

struct api_stream *verb_update(const struct api_call *request)
{
    struct api_call call = *request;
    scoped(write) struct write write = {0};
    scoped(json) json_t *doc = NULL;
    struct error err = {0};
    bool exists, ok;

    if (!write_init(&write, &call, &err))
        return reply_option_error(&call, "UpdateOptions", &err);
    doc = parse_object(&call, &write, &err);
    if (!doc)
        return reply_error(&call, &err);
    exists = store_get(call.api->store, call.route.kind, call.route.ns, call.route.name);
    if (!exists && creates_missing(&call.route)) {
        ok = registry_create(call.api->registry, doc, &write.how, &write.object, &write.errors);
        return respond(&call, &write, ok, 201);
    }
    if (exists && needs_revision(call.route.kind) && !has_revision(doc)) {
        error_set(&err, ERR_INVALID, "metadata.resourceVersion",
                  "Invalid value: 0x0: must be specified for an update");
        return reply_error(&call, &err);
    }
    ok = registry_update(call.api->registry, doc, subresource(&call), &write.how, &write.object,
                         &write.errors);
    return respond(&call, &write, ok, 200);
}

/* The types of patches. PATCH_STRATEGIC needs the merge keys of lists, which custom kinds do not
 * declare. */
enum patch_type { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

static const struct {
    const char *content_type;
    enum patch_type type;
    bool built_in_only;
} patch_types[] = {
    /* clang-format off */
    {"application/json-patch+json",            PATCH_JSON,      false},
    {"application/merge-patch+json",           PATCH_MERGE,     false},
    {"application/strategic-merge-patch+json", PATCH_STRATEGIC, true},
    {"application/apply-patch+yaml",           PATCH_APPLY,     false},
    /* clang-format on */
};

static bool parse_patch_type(const struct api_call *call, enum patch_type *out, struct error *err)
{
    const char *given = call->request->content_type ? call->request->content_type : "";
    scoped(buf) struct buf known = {0};

    for (size_t i = 0; i < countof(patch_types); i++) {
        if (patch_types[i].built_in_only && kind_is_custom(call->route.kind))
            continue;
        if (strcspn(given, "; ") == strlen(patch_types[i].content_type) &&
            strncmp(given, patch_types[i].content_type, strcspn(given, "; ")) == 0) {
            *out = patch_types[i].type;
            return true;
        }
        buf_printf(&known, "%s%s", known.len ? ", " : "", patch_types[i].content_type);
    }
    return error_set(err, ERR_MEDIA_TYPE, "",
                     "the body of the request was in an unknown format - accepted media types "
                     "include: %s",
                     known.data);
}

/* Checks options that only one type of patch has. */
static bool check_patch_options(const struct api_call *call, const struct write *write,
                                enum patch_type type, struct error *err)
{
    if (type == PATCH_APPLY && !write->manager_given)
        return error_set(err, ERR_INVALID, "fieldManager",
                         "Required value: is required for apply patch");
    if (type != PATCH_APPLY && request_query(&call->target, "force"))
        return error_set(err, ERR_INVALID, "force",
                         "Forbidden: may not be specified for non-apply patch");
    return true;
}

/* Responds to a failed patch. Strict and undecodable values are reported as errors of the patch and
 * not of the object. */
static struct api_stream *reply_patch_errors(const struct api_call *call, const struct write *write,
                                             const struct error_list *errors)
{
    const struct error *first = &errors->items[0];
    struct error_list about = {0};
    struct api_stream *stream;

    if (errors == &write->strict || status_is_strict(first))
        error_list_add(&about, ERR_INVALID, "patch", "Invalid value: strict decoding error: %s",
                       first->message);
    else if (status_is_undecodable(first, call->route.kind))
        error_list_add(&about, ERR_INVALID, "patch", "Invalid value: %s: %s", first->field,
                       first->message);
    else
        return reply_errors(call, errors);
    stream = reply_failure(call, &about, &(struct status_subject){0});
    error_list_release(&about);
    return stream;
}

static struct api_stream *patch(const struct api_call *call, struct write *write,
                                enum patch_type type)
{
    static const enum registry_patch_type types[] = {[PATCH_JSON] = REGISTRY_PATCH_JSON,
                                                     [PATCH_MERGE] = REGISTRY_PATCH_MERGE,
                                                     [PATCH_STRATEGIC] = REGISTRY_PATCH_STRATEGIC};
    struct error err = {0};
    scoped(json) json_t *body = body_parse(call, &write->strict, &err);

    if (!body && err.code == ERR_BAD_REQUEST)
        error_prefix(&err, "error decoding patch: ");
    if (!body)
        return reply_error(call, &err);
    if (type == PATCH_JSON)
        add_unread_members(body, &write->strict);
    if (refuse_or_warn(write))
        return reply_patch_errors(call, write, &write->strict);
    if (call->route.alias && type == PATCH_JSON)
        group_alias_patch_to_stored(call->route.alias, body);
    else if (call->route.alias)
        group_alias_to_stored(call->route.alias, body);
    if (registry_patch(call->api->registry, route_target(&call->route),
                       &(struct registry_patch){types[type], body, subresource(call)}, &write->how,
                       &write->object, &write->errors))
        return reply_object(call, 200, write->object, &write->warnings);
    return reply_patch_errors(call, write, &write->errors);
}

/* Sets the name from the URL if the object exists and the configuration has none. */
static void set_name_from_url(const struct api_call *call, json_t *config)
{
    const struct store *store = registry_store(call->api->registry);
    json_t *metadata = json_object_get(config, "metadata");

    if (!store_get(store, call->route.kind, call->route.ns, call->route.name))
        return;
    if (!metadata || json_is_null(metadata))
        json_object_set_new(config, "metadata", metadata = json_object());
    if (!json_object_get(metadata, "name"))
        json_object_set_new(metadata, "name", json_string(call->route.name));
}

static json_t *parse_config(struct api_call *call, struct write *write, struct error *err)
{
    scoped(json) json_t *config = body_parse(call, &write->strict, err);
    const char *expected = kind_api_version(call->route.kind), *version, *kind;
    const json_t *metadata;

    if (!config)
        return NULL;
    if (refuse_or_warn(write)) {
        error_set(err, ERR_BAD_REQUEST, "", "error strict decoding YAML: %s",
                  write->strict.items[0].message);
        return NULL;
    }
    if (call->route.alias)
        group_alias_to_stored(call->route.alias, config);
    version = json_string_value(json_object_get(config, "apiVersion"));
    kind = json_string_value(json_object_get(config, "kind"));
    if (!kind || !*kind) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "invalid object type: %s%s, Kind=", version && strchr(version, '/') ? "" : "/",
                  version ? version : "");
        return NULL;
    }
    if (!version || strcmp(version, expected) != 0) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "Incorrect version specified in apply patch. Specified patch version: %s, "
                  "expected: %s",
                  version ? version : "", expected);
        return NULL;
    }
    metadata = json_object_get(config, "metadata");
    if (metadata && !json_is_object(metadata) && !json_is_null(metadata)) {
        error_set(err, ERR_BAD_REQUEST, "metadata",
                  "metadata of an applied configuration is an object");
        return NULL;
    }
    if (json_object_get(metadata, "managedFields")) {
        error_set(err, ERR_BAD_REQUEST, "", "metadata.managedFields must be nil");
        return NULL;
    }
    set_name_from_url(call, config);
    return check_body(call, config, err) ? take(config) : NULL;
}

static struct api_stream *apply(const struct api_call *request, struct write *write)
{
    struct api_call call = *request;
    struct error err = {0};
    scoped(json) json_t *config = parse_config(&call, write, &err);
    bool created = false;
    const struct registry_apply how = {.config = config,
                                       .sub = subresource(&call),
                                       .force = request_query_bool(&call.target, "force"),
                                       .out_created = &created};

    if (!config)
        return reply_error(&call, &err);
    if (registry_apply(call.api->registry, route_target(&call.route), &how, &write->how,
                       &write->object, &write->errors))
        return reply_object(&call, created ? 201 : 200, write->object, &write->warnings);
    return reply_errors(&call, &write->errors);
}

struct api_stream *verb_patch(const struct api_call *call)
{
    scoped(write) struct write write = {0};
    enum patch_type type = PATCH_JSON;
    struct error err = {0};

    if (!parse_patch_type(call, &type, &err))
        return reply_error(call, &err);
    if (!write_init(&write, call, &err) || !check_patch_options(call, &write, type, &err))
        return reply_option_error(call, "PatchOptions", &err);
    return type == PATCH_APPLY ? apply(call, &write) : patch(call, &write, type);
}
