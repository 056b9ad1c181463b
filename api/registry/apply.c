/*
 * Server-side apply.
 *
 *   configuration ─► add its fields to the live object ─► remove fields the manager dropped ─► update
 *                        │
 *                        └─► fields of other managers would change: conflicts
 *
 * Ref: spec/kube-api.md 10.5.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/patch/managed_fields.h"
#include "api/types/text/json_text.h"
#include "base/timefmt.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

struct applying {
    struct registry *r;
    const struct kind *kind;
    const char *subresource; /* subresource that is applied; NULL: the object itself */
    const struct registry_write *how;
    struct managed_write write;
    char now[TIME_TEXT_MAX];
};

static char *list_text(const json_t *entries)
{
    scoped(buf) struct buf text = {0};

    json_text(entries, &text);
    return buf_take(&text);
}

static json_t *tracked(const struct applying *a, const json_t *doc)
{
    return managed_tracked(doc, a->kind->has_status, a->subresource);
}

static bool apply_new(struct applying *a, json_t *config, const struct object **out,
                      struct error_list *errors)
{
    scoped(json) json_t *nothing = json_object(), *none = json_array();
    scoped(json) json_t *wanted = tracked(a, config);
    scoped(managed_apply) struct managed_apply apply = {
        .live = nothing, .config = wanted, .force = true};

    json_object_del(json_object_get(config, "metadata"),
                    "resourceVersion"); /* a resourceVersion belongs to
                                                                              * an earlier object */
    if (!managed_apply(none, &a->write, &apply, errors))
        return false;
    return create_from_document(a->r, config, a->how, list_text(apply.out_entries), out, errors);
}

/* Returns the managed fields of a live object that has none yet: all its fields, with the manager
 * "before-first-apply". */
static json_t *before_first(const struct applying *a, const json_t *live)
{
    scoped(json) json_t *nothing = json_object(), *none = json_array();
    struct managed_write write = a->write;

    write.operation = MANAGED_UPDATE;
    write.manager = "before-first-apply";
    return managed_update(none, &write, nothing, live);
}

static json_t *entries_of(const struct applying *a, const struct object *current,
                          const json_t *live)
{
    const char *text = current->meta->managed_fields;
    json_t *entries = text ? json_read(text, strlen(text)) : NULL;

    return entries ? entries : before_first(a, live);
}

static const char *last_applied(const json_t *doc)
{
    const json_t *annotations = json_object_get(json_object_get(doc, "metadata"), "annotations");

    return json_string_value(json_object_get(annotations, LAST_APPLIED));
}

/* Returns the fields that kubectl set by client-side apply, or NULL; owned. They cause no conflict
 * when kubectl changes to server-side apply, whichever manager the list names. */
static json_t *forgiven(const struct applying *a, const json_t *live)
{
    const char *text = strcmp(a->how->manager, "kubectl") == 0 ? last_applied(live) : NULL;
    scoped(json) json_t *last = text ? json_loads(text, 0, NULL) : NULL;
    scoped(json) json_t *was = NULL, *set = NULL;
    scoped(fieldset_changes) struct fieldset_changes changes = {0};

    if (!json_is_object(last))
        return NULL;
    was = tracked(a, last);
    set = fieldset_of(&a->write.at, was);
    changes = fieldset_compare(&a->write.at, live,
                               was); /* fields that changed since the manager applied them */
    return fieldset_difference(set, changes.changed);
}

/* Updates kubectl's last-applied annotation, so that client-side apply keeps working. */
static void follow_note(const struct applying *a, const json_t *config, json_t *doc)
{
    json_t *annotations = json_object_get(json_object_get(doc, "metadata"), "annotations");
    scoped(buf) struct buf text = {0};

    if (strcmp(a->how->manager, "kubectl") != 0 || !last_applied(doc))
        return;
    json_text(config, &text);
    buf_char(&text, '\n');
    json_object_set_new(annotations, LAST_APPLIED, json_string(text.data));
}

/* Builds the document of the update: the object's identity, the applied part and, for a
 * subresource, the rest of the object. */
static json_t *whole_document(const struct applying *a, const struct object *current,
                              const json_t *config, json_t *applied)
{
    static const char *const identity[] = {"name", "namespace", "uid", "generateName"};
    scoped(json) json_t *live = object_to_json(current);
    const json_t *old = json_object_get(live, "metadata");
    const json_t *revision =
        json_object_get(json_object_get(config, "metadata"), "resourceVersion");
    json_t *metadata;

    if (a->subresource) {
        json_object_set(live, a->subresource, json_object_get(applied, a->subresource));
        json_object_del(json_object_get(live, "metadata"), "resourceVersion");
        return take(live);
    }
    metadata = json_object_get(applied, "metadata");
    if (!metadata) {
        metadata = json_object();
        json_object_set_new(applied, "metadata", metadata);
    }
    for (size_t i = 0; i < countof(identity); i++)
        if (json_object_get(old, identity[i]))
            json_object_set(metadata, identity[i], json_object_get(old, identity[i]));
    if (revision)
        json_object_set(metadata, "resourceVersion", (json_t *)(uintptr_t)revision);
    json_object_set(applied, "apiVersion", json_object_get(live, "apiVersion"));
    json_object_set(applied, "kind", json_object_get(live, "kind"));
    return json_incref(applied);
}

static bool apply_to(struct applying *a, const struct object *current, const json_t *config,
                     bool force, const struct object **out, struct error_list *errors)
{
    scoped(json) json_t *doc = object_to_json(current), *live = tracked(a, doc);
    scoped(json) json_t *wanted = tracked(a, config), *entries = entries_of(a, current, live);
    scoped(json) json_t *pardon = forgiven(a, live), *whole = NULL;
    scoped(managed_apply) struct managed_apply apply = {
        .live = live, .config = wanted, .forgiven = pardon, .force = force};

    if (!managed_apply(entries, &a->write, &apply, errors))
        return false;
    if (!a->subresource)
        follow_note(a, config, apply.out_doc);
    whole = whole_document(a, current, config, apply.out_doc);
    return update_from_document(a->r, whole, a->subresource ? REGISTRY_STATUS : REGISTRY_MAIN,
                                a->how, list_text(apply.out_entries), out, errors);
}

static int by_text(const void *a, const void *b)
{
    const struct error *one = a, *other = b;

    return strcmp(one->message, other->message);
}

/* Rejects unknown fields in every validation mode, because an unknown field cannot be owned. */
static bool check_declared(const struct applying *a, const json_t *config,
                           struct error_list *errors)
{
    const json_t *metadata = json_object_get(config, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    struct error_list found = {0};
    scoped(buf) struct buf text = {0};

    fieldset_check(&a->write.at, config, &found);
    if (!found.count)
        return true;
    qsort(found.items, found.count, sizeof *found.items, by_text);
    for (size_t i = 0; i < found.count; i++)
        buf_printf(&text, "%s%s", found.count > 1 ? "\n  " : "", found.items[i].message);
    error_list_add(errors, ERR_UNDECLARED, "",
                   "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s%s", ns ? ns : "",
                   name ? name : "", *a->kind->group ? "" : "/", kind_api_version(a->kind),
                   a->kind->name, found.count > 1 ? "errors:" : "", text.data);
    error_list_release(&found);
    return false;
}

/* Checks the uid in the configuration, which is a precondition. */
static bool check_uid(const struct applying *a, const char *name, const struct object *current,
                      const json_t *config, struct error_list *errors)
{
    const json_t *metadata = json_object_get(config, "metadata");
    const char *uid = json_string_value(json_object_get(metadata, "uid"));
    char resource[RESOURCE_TEXT_MAX];

    if (!uid || !*uid || (current && strcmp(uid, object_uid(current)) == 0))
        return true;
    if (current)
        error_list_add(errors, ERR_INVALID, "metadata.uid",
                       "Invalid value: \"%s\": field is immutable", uid);
    else
        error_list_add(errors, ERR_CONFLICT, "",
                       "Operation cannot be fulfilled on %s \"%s\": uid mismatch: the provided "
                       "object specified uid %s, and no existing object was found",
                       registry_resource(a->kind, resource), name, uid);
    return false;
}

bool registry_apply(struct registry *r, struct registry_target at,
                    const struct registry_apply *apply, const struct registry_write *how,
                    const struct object **out, struct error_list *errors)
{
    const struct object *current = store_get(r->store, at.kind, at.ns, at.name);
    struct applying a = {
        .r = r,
        .kind = at.kind,
        .subresource = apply->sub == REGISTRY_STATUS ? "status" : NULL,
        .how = how,
        .write = {.at = schema_at_root(at.kind->schema, false),
                  .manager = how->manager,
                  .api_version = kind_api_version(at.kind),
                  .operation = MANAGED_APPLY},
    };

    time_format(loop_wall_ms(r->loop), a.now);
    a.write.subresource = a.subresource;
    a.write.now = a.now;
    *apply->out_created = !current;
    if (!check_declared(&a, apply->config, errors) ||
        !check_uid(&a, at.name, current, apply->config, errors))
        return false;
    if (current)
        return apply_to(&a, current, apply->config, apply->force, out, errors);
    if (apply->sub == REGISTRY_STATUS)
        return registry_not_found(at.kind, at.name, errors);
    return apply_new(&a, apply->config, out, errors);
}
