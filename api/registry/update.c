/*
 * Update of the object without its status, or of the status alone. Ref: spec/kube-api.md 8.2.
 *
 *   find current ─ preconditions ─ merge metadata ─ admission ─ unchanged? ─ generation ─ store
 *                                                                   └─ last finalizer gone? ─ remove
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/mem.h"

/* Returns the stored object that `wanted` identifies, or NULL with the reason. */
static const struct object *find_current(const struct registry *r, const struct object *wanted,
                                         struct error_list *errors)
{
    const struct object *current =
        store_get(r->store, wanted->kind, object_namespace(wanted), object_name(wanted));
    const char *uid = object_uid(wanted);
    char resource[RESOURCE_TEXT_MAX];

    if (!current) {
        registry_not_found(wanted->kind, object_name(wanted), errors);
        return NULL;
    }
    if (*uid && strcmp(uid, object_uid(current)) != 0) {
        error_list_add(errors, ERR_CONFLICT, "",
                       "Operation cannot be fulfilled on %s \"%s\": Precondition failed: UID in "
                       "precondition: %s, UID in object meta: %s",
                       registry_resource(wanted->kind, resource), object_name(wanted), uid,
                       object_uid(current));
        return NULL;
    }
    if (wanted->revision && wanted->revision != current->revision) {
        registry_conflict(wanted->kind, object_name(wanted), errors);
        return NULL;
    }
    return current;
}

/* Returns the current metadata with the fields that a client may set taken from `wanted`. */
static struct meta *merge_meta(const struct meta *current, const struct meta *wanted)
{
    struct meta merged = *current;

    merged.labels = wanted->labels;
    merged.n_labels = wanted->n_labels;
    merged.annotations = wanted->annotations;
    merged.n_annotations = wanted->n_annotations;
    merged.owners = wanted->owners;
    merged.n_owners = wanted->n_owners;
    merged.finalizers = wanted->finalizers;
    merged.n_finalizers = wanted->n_finalizers;
    if (wanted->managed_fields)
        merged.managed_fields = wanted->managed_fields;
    return meta_new(&merged);
}

static void encode_without_managed(const struct meta *meta, struct buf *out)
{
    struct meta plain = *meta;

    plain.managed_fields = NULL;
    meta_encode(&plain, out);
}

static json_t *managed_without_time(const char *text)
{
    json_t *list = json_read(text ? text : "[]", text ? strlen(text) : 2), *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        json_object_del(entry, "time");
    }
    return list;
}

/* Compares managed fields without their times. */
static bool same_managed(const char *a, const char *b)
{
    scoped(json) json_t *x = NULL;
    scoped(json) json_t *y = NULL;

    if (!a || !b)
        return a == b;
    if (strcmp(a, b) == 0)
        return true;
    x = managed_without_time(a);
    y = managed_without_time(b);
    return json_equal(x, y);
}

static bool same_meta(const struct meta *a, const struct meta *b)
{
    scoped(buf) struct buf x = {0};
    scoped(buf) struct buf y = {0};

    if (a == b)
        return true;
    encode_without_managed(a, &x);
    encode_without_managed(b, &y);
    return x.len == y.len && memcmp(x.data, y.data, x.len) == 0 &&
           same_managed(a->managed_fields, b->managed_fields);
}

static bool same_blob(const struct blob *a, const struct blob *b)
{
    return a == b || (a && b && a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

static bool no_new_finalizers(const struct object *current, const struct object *object,
                              struct error_list *errors)
{
    bool ok = true;

    if (!object_deleting(current))
        return true;
    for (uint32_t i = 0; i < object->meta->n_finalizers; i++) {
        const char *finalizer = object->meta->finalizers[i];

        if (meta_has_finalizer(current->meta, finalizer))
            continue;
        error_list_add(errors, ERR_INVALID, "metadata.finalizers",
                       "Forbidden: no new finalizers can be added if the object is being deleted, "
                       "found new finalizers []string{\"%s\"}",
                       finalizer);
        ok = false;
    }
    return ok;
}

/* Returns whether a deleted object can be removed: its last finalizer is gone and no grace period
 * is running. */
static bool is_done(const struct object *current, const struct object *object)
{
    return object_deleting(object) && object->kind != &kind_namespace &&
           current->meta->n_finalizers > 0 && object->meta->n_finalizers == 0 &&
           object->meta->deletion_grace_s <= 0;
}

static struct object *with_generation(struct object *object)
{
    struct meta next = *object->meta;
    struct object *counted;

    next.generation++;
    counted = object_with_meta(object, meta_new(&next));
    object_unref(object);
    return counted;
}

/* Stores `object` (consumed) as the next version of `current`. */
static bool store_version(struct registry *r, const struct object *current, struct object *object,
                          enum registry_dry_run dry_run, const struct object **out,
                          struct error_list *errors)
{
    bool body_same = same_blob(current->body, object->body);
    bool meta_same = same_meta(current->meta, object->meta);
    const struct object *stored = current;

    if (body_same && meta_same && same_blob(current->status, object->status)) {
        object_unref(object);
    } else if (!no_new_finalizers(current, object, errors) ||
               !registry_has_room(r, object, false, errors)) {
        object_unref(object);
        return false;
    } else if (dry_run == REGISTRY_APPLY && is_done(current, object)) {
        registry_remove(r, current);
        stored = registry_put(r, object, REGISTRY_DRY_RUN); /* keeps the result until the turn
                                                             * ends */
    } else {
        if (!body_same && !object->kind->no_generation)
            object = with_generation(object);
        stored = registry_put(r, object, dry_run);
        if (dry_run == REGISTRY_APPLY && !meta_same)
            gc_owners_changed(r->gc, current, stored);
    }
    if (out)
        *out = stored;
    return true;
}

/* Returns the current metadata itself when nothing changes, so that versions share it. */
static struct meta *next_meta(const struct meta *current, const struct meta *wanted)
{
    struct meta *merged;

    if (current == wanted)
        return meta_ref(current);
    merged = merge_meta(current, wanted);
    if (!same_meta(current, merged))
        return merged;
    meta_unref(merged);
    return meta_ref(current);
}

/* Returns the current body itself when the new one differs only in the order of its members, as a
 * body from YAML output does. */
static struct blob *next_body(const struct object *current, const struct object *admitted)
{
    if (admitted->body->len == current->body->len && !same_blob(admitted->body, current->body)) {
        scoped(json) json_t *was = object_body_json(current), *is = object_body_json(admitted);

        if (json_equal(was, is))
            return blob_ref(current->body);
    }
    return blob_ref(admitted->body);
}

/* Builds the next version from `admitted` (consumed), and from `current` for the rest. */
static struct object *next_version(const struct object *current, struct object *admitted)
{
    const struct blob *status = current->kind->has_status ? current->status : admitted->status;
    struct meta *meta = next_meta(current->meta, admitted->meta);
    struct object *next;

    next = object_new(current->kind, meta, next_body(current, admitted), blob_ref(status));
    next->revision = current->revision;
    object_unref(admitted);
    return next;
}

/* The managed fields of a write by document. */
struct document_write {
    json_t *doc;
    const struct registry_write *how;
    char *managed; /* list of managed fields, owned; NULL: to be computed */
};

static void document_write_release(struct document_write *write)
{
    mem_free(write->managed);
}
SCOPED_DEFINE(document_write, struct document_write, document_write_release)

static const json_t *asked_managed(const json_t *doc)
{
    return json_object_get(json_object_get(doc, "metadata"), "managedFields");
}

static struct object *with_managed_fields(struct registry *r, const struct object *current,
                                          struct object *next, struct document_write *write,
                                          const char *subresource)
{
    char *managed = write->managed;

    if (!write->how->manager)
        return next;
    write->managed = NULL;
    if (!managed)
        managed = managed_fields_update(r, current, next, asked_managed(write->doc), subresource,
                                        write->how);
    return managed_fields_put(next, managed);
}

/* Returns the stored document with the status of `doc`. */
static json_t *status_document(const struct object *current, const json_t *doc)
{
    json_t *whole = object_to_json(current);

    json_object_set(whole, "status", json_object_get(doc, "status"));
    return whole;
}

/* Reads the identity of the object from a document, without admission. */
static struct object *identify(const json_t *doc, struct error_list *errors)
{
    scoped(json) json_t *head = json_object();
    static const char *const members[] = {"apiVersion", "kind", "metadata"};

    for (size_t i = 0; i < countof(members); i++)
        json_object_set(head, members[i], json_object_get(doc, members[i]));
    return object_from_json(head, errors);
}

static bool update_main(struct registry *r, const struct object *current,
                        struct document_write *write, const struct object **out,
                        struct error_list *errors)
{
    struct admission admission = registry_admission_for(r, write->how);
    struct object *admitted =
        admission_admit(&admission, write->doc, current, write->how->unknown, errors);

    if (!admitted)
        return false;
    return store_version(
        r, current, with_managed_fields(r, current, next_version(current, admitted), write, NULL),
        write->how->dry_run, out, errors);
}

static bool update_status(struct registry *r, const struct object *current,
                          struct document_write *write, const struct object **out,
                          struct error_list *errors)
{
    struct admission admission = registry_admission_for(r, write->how);
    scoped(json) json_t *whole = status_document(current, write->doc);
    scoped(object) struct object *admitted =
        admission_admit(&admission, whole, current, write->how->unknown, errors);
    struct object *next;

    if (!admitted)
        return false;
    next = object_with_status(current, blob_ref(admitted->status));
    return store_version(r, current, with_managed_fields(r, current, next, write, "status"),
                         write->how->dry_run, out, errors);
}

bool update_from_document(struct registry *r, json_t *doc, enum registry_subresource sub,
                          const struct registry_write *how, char *managed,
                          const struct object **out, struct error_list *errors)
{
    scoped(document_write) struct document_write write = {doc, how, managed};
    scoped(object) struct object *wanted = NULL;
    const struct object *current;

    if (!registry_may_write(r, errors) || !(wanted = identify(doc, errors)) ||
        !(current = find_current(r, wanted, errors)))
        return false;
    return (sub == REGISTRY_STATUS ? update_status : update_main)(r, current, &write, out, errors);
}

bool registry_update(struct registry *r, json_t *doc, enum registry_subresource sub,
                     const struct registry_write *how, const struct object **out,
                     struct error_list *errors)
{
    return update_from_document(r, doc, sub, how, NULL, out, errors);
}

bool registry_update_object(struct registry *r, struct object *object, const struct object **out,
                            struct error_list *errors)
{
    const struct object *current;
    struct object *admitted;

    if (!registry_may_write(r, errors) || !(current = find_current(r, object, errors))) {
        object_unref(object);
        return false;
    }
    admitted = admission_admit_object(&r->admission, object, current, errors);
    return admitted &&
           store_version(r, current, next_version(current, admitted), REGISTRY_APPLY, out, errors);
}

bool registry_update_status(struct registry *r, const struct object *object, struct blob *status,
                            const struct object **out, struct error_list *errors)
{
    scoped(blob) struct blob *owned = status;
    const struct object *current, *stored;
    struct object *next;

    if (!registry_may_write(r, errors) || !(current = find_current(r, object, errors)))
        return false;
    stored = current;
    if (!same_blob(current->status, status)) {
        next = object_with_status(current, take(owned));
        if (!registry_has_room(r, next, false, errors)) {
            object_unref(next);
            return false;
        }
        stored = store_put(r->store, next);
    }
    if (out)
        *out = stored;
    return true;
}
