#pragma once
/*
 * A Kubernetes object as it is stored: identity and metadata as a small struct, body and status as
 * JSON bytes.
 *
 *   object ─┬─ meta    names, uid, labels, annotations, owners, …: shared by the versions that
 *           │          have equal metadata
 *           ├─ body    {"spec":{…}} or {"data":{…}}: every top-level member but apiVersion,
 *           │          kind, metadata, status
 *           └─ status  the value of "status", or NULL
 *
 * All parts are immutable and reference-counted. A status change makes a new object that shares
 * meta and body with the old one, so it costs only the size of the status. Serving an object
 * concatenates its parts; a list concatenates objects. Unknown fields stay in the bytes and are
 * returned unchanged.
 */
#include <jansson.h>

#include "api/types/blob.h"
#include "api/types/kind.h"
#include "api/types/text/json_text.h"
#include "base/encoding/jsonw.h"
#include "base/error.h"

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

/* Metadata of an object. A struct on the stack may serve as a draft: fill it with borrowed pointers
 * and pass it to meta_new, which copies everything. */
struct meta {
    atomic_uint refs;
    /* Milliseconds after created_at_ms: stored, not served. 999 where only the second is known
     * (JSON). */
    uint16_t created_part_ms;
    const char *namespace; /* namespace; "" for cluster-scoped kinds */
    const char *name;
    const char *generate_name; /* member generateName, or NULL */
    const char *uid;           /* uid; "" until the object is stored */
    int64_t generation;
    int64_t created_at_ms;    /* whole seconds; 0 until stored */
    int64_t deleted_at_ms;    /* deletionTimestamp; 0 = not being deleted */
    int64_t deletion_grace_s; /* grace period of the deletion; -1 = absent */
    const struct kv *labels;  /* labels in the order written, [n_labels] */
    const struct kv *annotations;
    const struct owner_ref *owners;
    const char *const *finalizers;
    const char *managed_fields; /* JSON text of the list, or NULL */
    uint32_t n_labels, n_annotations, n_owners, n_finalizers;
};

struct meta *meta_new(const struct meta *draft); /* returns an owned deep copy in one allocation */
struct meta *meta_ref(const struct meta *meta);
void meta_unref(struct meta *meta);
/** Returns NULL if the label is absent. */
const char *meta_label(const struct meta *meta, const char *key);
/** Returns NULL if the annotation is absent. */
const char *meta_annotation(const struct meta *meta, const char *key);
const struct owner_ref *
meta_controller(const struct meta *meta); /* the owner with controller: true, or NULL */
bool meta_has_finalizer(const struct meta *meta, const char *finalizer);
size_t meta_bytes(const struct meta *meta); /* returns the bytes of memory, for accounting */
/** Returns the creation time in milliseconds. Where only the second is known, it is the last
 * millisecond of that second, so the result is never too early. */
static inline int64_t meta_created_ms(const struct meta *meta)
{
    return meta->created_at_ms + meta->created_part_ms;
}

struct object {
    atomic_uint refs;
    const struct kind *kind;
    struct meta *meta;
    struct blob *body;   /* JSON of the body, never NULL; "{}" when empty */
    struct blob *status; /* status as JSON text; NULL = absent */
    int64_t revision;    /* resourceVersion; 0 until stored */
    int64_t row;         /* the store's row id; 0 until stored; the same for all versions */
    int64_t row_sum; /* checksum of the row; of the store thread, which sets it when it writes */
};

/* These functions consume the references given and return an owned object with the revision and row
 * of `from` (0 for object_new). */
struct object *object_new(const struct kind *kind, struct meta *meta, struct blob *body,
                          struct blob *status);
struct object *object_with_status(const struct object *from, struct blob *status);
struct object *object_with_meta(const struct object *from, struct meta *meta);
struct object *object_with_body(const struct object *from, struct blob *body);
struct object *object_ref(const struct object *object); /* NULL gives NULL */
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

/** Appends the object as the API serves it: {"apiVersion":…,"kind":…,"metadata":{…},…,"status":…}.
 */
void object_write(const struct object *object, struct buf *out);
/** Writes the metadata member alone, as object_write does. */
void object_write_meta(const struct object *object, struct jsonw *w);
/** Writes the metadata that managedFields covers: labels, annotations, owners, finalizers,
 * generateName. Writes nothing and returns false when the object has none of these. */
bool object_write_owned_meta(const struct object *object, struct jsonw *w);

/**
 * Builds an object from a document: apiVersion and kind select the row of the kinds table, metadata
 * is decoded strictly, the rest becomes body and status. The body is neither defaulted nor
 * validated. Adds all findings to `errors` and returns NULL when there are any.
 */
struct object *object_from_json(const json_t *doc, struct error_list *errors);
/** The same for a document that is known to be of `kind`, whatever apiVersion and kind say. */
struct object *object_of_kind_from_json(const struct kind *kind, const json_t *doc,
                                        struct error_list *errors);
/** The two steps of object_from_json. The first returns the kind that a document names (borrowed);
 * for an unknown one it reports BAD_REQUEST with the most similar kind. The second returns the
 * metadata (owned) of a document that may have passed metadata_schema before or not; *out_revision
 * is the resourceVersion, 0 when absent. The namespace of a cluster-scoped kind is cleared. */
const struct kind *object_kind_from_json(const json_t *doc, struct error_list *errors);
struct meta *meta_from_json(const struct kind *kind, const json_t *metadata, int64_t *out_revision,
                            struct error_list *errors);

/** Returns the whole object as a document (owned). */
json_t *object_to_json(const struct object *object);
/** Returns one part as a document (owned): the members of the body in one object. The function
 * below returns the status ({} when absent). */
json_t *object_body_json(const struct object *object);
json_t *object_status_json(const struct object *object);

/** Returns true for a top-level member of the body: all but apiVersion, kind, metadata, status. */
bool object_is_body_member(const char *key);

/** Returns an interned body blob (owned) made from a document of the top-level members (borrowed).
 */
struct blob *object_body_from_json(const json_t *members);

/* Encode and decode the form in which the store keeps metadata. It is compact and decodes in about
 * a microsecond. Damaged bytes give NULL and err, never a crash. */
void meta_encode(const struct meta *meta, struct buf *out); /* works on a draft too */
struct meta *meta_decode(const void *bytes, size_t len, struct error *err);
/** Returns the stored form that metadata from meta_new or meta_decode already contains. Borrowed.
 */
const char *meta_stored(const struct meta *meta, size_t *out_len);
