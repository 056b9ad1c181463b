#pragma once
/*
 * A Kubernetes object at rest: identity and metadata as a small struct, body and status as JSON
 * bytes.
 *
 *   object ─┬─ meta    names, uid, labels, annotations, owners, …: shared by the versions that
 *           │          have equal metadata
 *           ├─ body    {"spec":{…}} or {"data":{…}}: every top-level member but apiVersion,
 *           │          kind, metadata, status
 *           └─ status  the value of "status", or NULL
 *
 * All parts are immutable and counted. A status change makes a new object that shares meta and body
 * with the old one, so its cost is the size of the status alone. Serving an object concatenates its
 * parts; a list concatenates objects. Fields we do not know live in the bytes and pass through
 * untouched.
 */
#include <jansson.h>

#include "api/types/blob.h"
#include "api/types/kind.h"
#include "api/types/text/json_text.h"
#include "base/error.h"
#include "base/jsonw.h"

struct kv {
    const char *key;
    const char *value;
};

struct owner_ref {
    const char *api_version;
    const char *kind;
    const char *name;
    const char *uid;
    bool controller;
    bool block_owner_deletion;
};

/* Also used as a draft on the stack: fill it with borrowed pointers and hand it to meta_new, which
 * copies everything. */
struct meta {
    atomic_uint refs;
    uint16_t created_part_ms; /* what created_at_ms leaves out: kept, not served. Where only the
                                 second is known (JSON) it is the last of it */
    const char *namespace;    /* "" for cluster-scoped kinds */
    const char *name;
    const char *generate_name; /* NULL or text */
    const char *uid;           /* "" until the object is stored */
    int64_t generation;
    int64_t created_at_ms;    /* whole seconds; 0 until stored */
    int64_t deleted_at_ms;    /* deletionTimestamp; 0 = not being deleted */
    int64_t deletion_grace_s; /* -1 = absent */
    const struct kv *labels;  /* [n_labels], in the order written */
    const struct kv *annotations;
    const struct owner_ref *owners;
    const char *const *finalizers;
    const char *managed_fields; /* JSON text of the list, or NULL */
    uint32_t n_labels, n_annotations, n_owners, n_finalizers;
};

struct meta *meta_new(const struct meta *draft); /* owned deep copy in one allocation */
struct meta *meta_ref(const struct meta *meta);
void meta_unref(struct meta *meta);
const char *meta_label(const struct meta *meta, const char *key);      /* NULL if absent */
const char *meta_annotation(const struct meta *meta, const char *key); /* NULL if absent */
const struct owner_ref *
meta_controller(const struct meta *meta); /* the owner with controller: true, or NULL */
bool meta_has_finalizer(const struct meta *meta, const char *finalizer);
size_t meta_bytes(const struct meta *meta); /* memory held, for accounting */
/** When it was created, to the millisecond where that is known, and never too early. */
static inline int64_t meta_created_ms(const struct meta *meta)
{
    return meta->created_at_ms + meta->created_part_ms;
}

struct object {
    atomic_uint refs;
    const struct kind *kind;
    struct meta *meta;
    struct blob *body;   /* never NULL; "{}" when empty */
    struct blob *status; /* NULL = absent */
    int64_t revision;    /* resourceVersion; 0 until stored */
    int64_t row;         /* the store's row id; 0 until stored; kept over all versions */
};

/* Each consumes the references given and returns an owned object with revision and row of `from` (0
 * for object_new). */
struct object *object_new(const struct kind *kind, struct meta *meta, struct blob *body,
                          struct blob *status);
struct object *object_with_status(const struct object *from, struct blob *status);
struct object *object_with_meta(const struct object *from, struct meta *meta);
struct object *object_with_body(const struct object *from, struct blob *body);
struct object *object_ref(const struct object *object); /* NULL stays NULL */
void object_unref(struct object *object);
SCOPED_DEFINE_PTR(object, struct object *, object_unref)
SCOPED_DEFINE_PTR(meta, struct meta *, meta_unref)

static inline const char *object_name(const struct object *o)
{
    return o->meta->name;
}
static inline const char *object_namespace(const struct object *o)
{
    return o->meta->namespace;
}
static inline const char *object_uid(const struct object *o)
{
    return o->meta->uid;
}
static inline bool object_deleting(const struct object *o)
{
    return o->meta->deleted_at_ms != 0;
}

/** Append the object as the API serves it: {"apiVersion":…,"kind":…,"metadata":{…},…,"status":…}.
 */
void object_write(const struct object *object, struct buf *out);
/** The metadata member alone, as in object_write. */
void object_write_meta(const struct object *object, struct jsonw *w);
/** Of the metadata only what managedFields give account of: labels, annotations, owners,
 * finalizers, generateName. Nothing, and false, when there is none of it. */
bool object_write_owned_meta(const struct object *object, struct jsonw *w);

/**
 * Build an object from a document: apiVersion and kind select the row of the kinds table, metadata
 * is decoded strictly, the rest becomes body and status. Does no defaulting and no validation of
 * the body. All findings go to `errors`; NULL when there are any.
 */
struct object *object_from_json(const json_t *doc, struct error_list *errors);
/** The steps of it: the kind a document names, BAD_REQUEST with the nearest one when unknown
 * (borrowed); its metadata, checked against metadata_schema before or not (owned; *out_revision is
 * the resourceVersion, 0 when absent). */
const struct kind *object_kind_from_json(const json_t *doc, struct error_list *errors);
struct meta *meta_from_json(const json_t *metadata, int64_t *out_revision,
                            struct error_list *errors);

/** The whole object as a document (owned). */
json_t *object_to_json(const struct object *object);
/** One part as a document (owned): the body's members in one object, or the status ({} when
 * absent). */
json_t *object_body_json(const struct object *object);
json_t *object_status_json(const struct object *object);

/** Whether a top-level member belongs to the body: not apiVersion, kind, metadata, status. */
bool object_is_body_member(const char *key);

/** A body blob from a document of the top-level members (borrowed); interned. */
struct blob *object_body_from_json(const json_t *members);

/* The form in which the store keeps metadata: compact, read back in about a microsecond. Total:
 * damaged bytes give NULL and err. */
void meta_encode(const struct meta *meta, struct buf *out); /* also of a draft */
struct meta *meta_decode(const void *bytes, size_t len, struct error *err);
/** The same bytes of a meta from meta_new or meta_decode, which has them already. Borrowed. */
const char *meta_stored(const struct meta *meta, size_t *out_len);
