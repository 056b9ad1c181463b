/*
 * Reference-counted objects of metadata, body and status, and their JSON text.
 */
#include "api/types/object.h"

#include <string.h>

#include "base/mem.h"

struct object *object_new(const struct kind *kind, struct meta *meta, struct blob *body,
                          struct blob *status)
{
    struct object *object = mem_alloc(sizeof *object);

    atomic_init(&object->refs, 1);
    object->kind = kind;
    object->meta = meta;
    object->body = body;
    object->status = status;
    return object;
}

static struct object *next_version(const struct object *from, struct meta *meta, struct blob *body,
                                   struct blob *status)
{
    struct object *object = object_new(from->kind, meta, body, status);

    object->revision = from->revision;
    object->row = from->row;
    return object;
}

struct object *object_with_status(const struct object *from, struct blob *status)
{
    return next_version(from, meta_ref(from->meta), blob_ref(from->body), status);
}

struct object *object_with_meta(const struct object *from, struct meta *meta)
{
    return next_version(from, meta, blob_ref(from->body), blob_ref(from->status));
}

struct object *object_with_body(const struct object *from, struct blob *body)
{
    return next_version(from, meta_ref(from->meta), body, blob_ref(from->status));
}

struct object *object_ref(const struct object *object)
{
    /* The reference count is not part of the content. */
    struct object *shared = (struct object *)object;

    if (shared)
        atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void object_unref(struct object *object)
{
    if (!object || atomic_fetch_sub(&object->refs, 1) != 1)
        return;
    meta_unref(object->meta);
    blob_unref(object->body);
    blob_unref(object->status);
    mem_free(object);
}

static void write_pairs(struct jsonw *w, const char *key, const struct kv *pairs, uint32_t count)
{
    if (!count)
        return;
    jsonw_member_open(w, key);
    for (uint32_t i = 0; i < count; i++)
        jsonw_member_str(w, pairs[i].key, pairs[i].value);
    jsonw_close(w);
}

static void write_owners(struct jsonw *w, const struct meta *meta)
{
    if (!meta->n_owners)
        return;
    jsonw_member_open_list(w, "ownerReferences");
    for (uint32_t i = 0; i < meta->n_owners; i++) {
        const struct owner_ref *owner = &meta->owners[i];

        jsonw_open(w);
        jsonw_member_str(w, "apiVersion", owner->api_version);
        jsonw_member_str(w, "kind", owner->kind);
        jsonw_member_str(w, "name", owner->name);
        jsonw_member_str(w, "uid", owner->uid);
        jsonw_member_bool_opt(w, "controller", owner->controller);
        jsonw_member_bool_opt(w, "blockOwnerDeletion", owner->block_owner_deletion);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

/* Writes the metadata that field managers can own: all but identity and times. */
static void write_owned(struct jsonw *w, const struct meta *meta)
{
    write_pairs(w, "labels", meta->labels, meta->n_labels);
    write_pairs(w, "annotations", meta->annotations, meta->n_annotations);
    write_owners(w, meta);
    if (!meta->n_finalizers)
        return;
    jsonw_member_open_list(w, "finalizers");
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        jsonw_str(w, meta->finalizers[i]);
    jsonw_close_list(w);
}

bool object_write_owned_meta(const struct object *object, struct jsonw *w)
{
    const struct meta *meta = object->meta;

    if (!meta->generate_name && !meta->n_labels && !meta->n_annotations && !meta->n_owners &&
        !meta->n_finalizers)
        return false;
    jsonw_member_open(w, "metadata");
    jsonw_member_str_opt(w, "generateName", meta->generate_name);
    write_owned(w, meta);
    jsonw_close(w);
    return true;
}

void object_write_meta(const struct object *object, struct jsonw *w)
{
    const struct meta *meta = object->meta;

    jsonw_key(w, "metadata");
    jsonw_open(w);
    jsonw_member_str_opt(w, "name", meta->name);
    jsonw_member_str_opt(w, "generateName", meta->generate_name);
    jsonw_member_str_opt(w, "namespace", meta->namespace);
    jsonw_member_str_opt(w, "uid", meta->uid);
    if (object->revision) {
        char text[24];
        char *at = text + sizeof text;

        *--at = '\0';
        for (int64_t rest = object->revision; rest; rest /= 10)
            *--at = (char)('0' + rest % 10);
        jsonw_member_str(w, "resourceVersion", at);
    }
    if (!object->kind->no_generation)
        jsonw_member_int_opt(w, "generation", meta->generation);
    jsonw_member_time_opt(w, "creationTimestamp", meta->created_at_ms);
    jsonw_member_time_opt(w, "deletionTimestamp", meta->deleted_at_ms);
    if (meta->deletion_grace_s >= 0 && meta->deleted_at_ms)
        jsonw_member_int(w, "deletionGracePeriodSeconds", meta->deletion_grace_s);
    write_owned(w, meta);
    if (meta->managed_fields)
        jsonw_member_raw(w, "managedFields", meta->managed_fields, strlen(meta->managed_fields));
    jsonw_close(w);
}

void object_write(const struct object *object, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_str(&w, "apiVersion", kind_api_version(object->kind));
    jsonw_member_str(&w, "kind", object->kind->name);
    object_write_meta(object, &w);
    if (object->body->len > 2) { /* the members of "{…}" without the braces */
        buf_char(out, ',');
        buf_add(out, object->body->text + 1, object->body->len - 2);
    }
    if (object->status)
        jsonw_member_raw(&w, "status", object->status->text, object->status->len);
    jsonw_close(&w);
}
