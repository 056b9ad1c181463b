/*
 * Metadata: one allocation holds the struct, its arrays and all its text.
 *
 * The stored form is a version byte, the numbers as varints, then every string as length, bytes and
 * NUL. With the NULs in it, reading back is one copy of the bytes behind the arrays; the strings
 * are then pointers into that copy.
 */
#include "api/types/object.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

struct boxed_meta {
    size_t bytes; /* of the whole allocation */
    struct meta meta;
};

static struct meta *box_new(size_t extra)
{
    struct boxed_meta *box = mem_alloc(sizeof *box + extra);

    box->bytes = sizeof *box + extra;
    atomic_init(&box->meta.refs, 1);
    return &box->meta;
}

struct meta *meta_ref(const struct meta *meta)
{
    struct meta *shared = (struct meta *)meta; /* the count is not part of the content */

    if (shared)
        atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void meta_unref(struct meta *meta)
{
    if (meta && atomic_fetch_sub(&meta->refs, 1) == 1)
        mem_free(container_of(meta, struct boxed_meta, meta));
}

size_t meta_bytes(const struct meta *meta)
{
    return container_of((struct meta *)meta, struct boxed_meta, meta)->bytes;
}

/* ---- copy ---- */

/* Measures while `next` is NULL, copies afterwards: one walk serves both. */
struct text_copy {
    char *next;
    size_t bytes;
};

static void put_text(struct text_copy *to, const char **slot, const char *text)
{
    if (!text)
        return;

    size_t size = strlen(text) + 1;

    to->bytes += size;
    if (!to->next)
        return;
    memcpy(to->next, text, size);
    *slot = to->next;
    to->next += size;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* The strings of a meta in a fixed order, given to `put` with the place where the copy keeps its
 * pointer. */
static void copy_texts(struct meta *out, const struct meta *from, struct text_copy *to)
{
    struct kv *labels = (struct kv *)out->labels;
    struct kv *annotations = (struct kv *)out->annotations;
    struct owner_ref *owners = (struct owner_ref *)out->owners;
    const char **finalizers = (const char **)out->finalizers;

    put_text(to, &out->namespace_, or_empty(from->namespace_));
    put_text(to, &out->name, or_empty(from->name));
    put_text(to, &out->generate_name, from->generate_name);
    put_text(to, &out->uid, or_empty(from->uid));
    put_text(to, &out->managed_fields, from->managed_fields);
    for (uint32_t i = 0; i < from->n_labels; i++) {
        put_text(to, &labels[i].key, from->labels[i].key);
        put_text(to, &labels[i].value, or_empty(from->labels[i].value));
    }
    for (uint32_t i = 0; i < from->n_annotations; i++) {
        put_text(to, &annotations[i].key, from->annotations[i].key);
        put_text(to, &annotations[i].value, or_empty(from->annotations[i].value));
    }
    for (uint32_t i = 0; i < from->n_owners; i++) {
        const struct owner_ref *owner = &from->owners[i];

        put_text(to, &owners[i].api_version, or_empty(owner->api_version));
        put_text(to, &owners[i].kind, or_empty(owner->kind));
        put_text(to, &owners[i].name, or_empty(owner->name));
        put_text(to, &owners[i].uid, or_empty(owner->uid));
    }
    for (uint32_t i = 0; i < from->n_finalizers; i++)
        put_text(to, &finalizers[i], from->finalizers[i]);
}

static size_t arrays_bytes(const struct meta *counts)
{
    return ((size_t)counts->n_labels + counts->n_annotations) * sizeof(struct kv) +
           counts->n_owners * sizeof(struct owner_ref) + counts->n_finalizers * sizeof(char *);
}

/* A boxed meta with the counts of `counts`, its arrays placed behind it; *text is the first byte
 * after them. */
static struct meta *new_with_arrays(const struct meta *counts, size_t text_bytes, char **text)
{
    struct meta *meta = box_new(arrays_bytes(counts) + text_bytes);
    char *at = (char *)(meta + 1);

    meta->n_labels = counts->n_labels;
    meta->n_annotations = counts->n_annotations;
    meta->n_owners = counts->n_owners;
    meta->n_finalizers = counts->n_finalizers;
    meta->owners = (struct owner_ref *)(void *)at;
    at += meta->n_owners * sizeof(struct owner_ref);
    meta->labels = (struct kv *)(void *)at;
    at += meta->n_labels * sizeof(struct kv);
    meta->annotations = (struct kv *)(void *)at;
    at += meta->n_annotations * sizeof(struct kv);
    meta->finalizers = (const char *const *)(void *)at;
    at += meta->n_finalizers * sizeof(char *);
    *text = at;
    return meta;
}

struct meta *meta_new(const struct meta *draft)
{
    struct text_copy measure = {0}, copy = {0};

    copy_texts((struct meta *)draft, draft, &measure); /* measuring writes nothing */

    struct meta *meta = new_with_arrays(draft, measure.bytes, &copy.next);

    meta->generation = draft->generation;
    meta->created_at_ms = draft->created_at_ms;
    meta->deleted_at_ms = draft->deleted_at_ms;
    meta->deletion_grace_s = draft->deletion_grace_s;
    for (uint32_t i = 0; i < draft->n_owners; i++) {
        struct owner_ref *owner = (struct owner_ref *)&meta->owners[i];

        owner->controller = draft->owners[i].controller;
        owner->block_owner_deletion = draft->owners[i].block_owner_deletion;
    }
    copy_texts(meta, draft, &copy);
    return meta;
}

/* ---- look-ups ---- */

static const char *kv_find(const struct kv *pairs, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(pairs[i].key, key))
            return pairs[i].value;
    return NULL;
}

const char *meta_label(const struct meta *meta, const char *key)
{
    return kv_find(meta->labels, meta->n_labels, key);
}

const char *meta_annotation(const struct meta *meta, const char *key)
{
    return kv_find(meta->annotations, meta->n_annotations, key);
}

const struct owner_ref *meta_controller(const struct meta *meta)
{
    for (uint32_t i = 0; i < meta->n_owners; i++)
        if (meta->owners[i].controller)
            return &meta->owners[i];
    return NULL;
}

bool meta_has_finalizer(const struct meta *meta, const char *finalizer)
{
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        if (!strcmp(meta->finalizers[i], finalizer))
            return true;
    return false;
}

/* ---- stored form ---- */

enum { META_VERSION = 1 };
enum { OWNER_CONTROLLER = 1, OWNER_BLOCKS = 2 };

static void put_varint(struct buf *out, uint64_t value)
{
    while (value >= 0x80) {
        buf_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    buf_char(out, (char)value);
}

/* Small negative numbers stay short. */
static void put_number(struct buf *out, int64_t value)
{
    put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

/* Length + 1 (0 is NULL), bytes, NUL. */
static void put_string(struct buf *out, const char *text)
{
    if (!text) {
        put_varint(out, 0);
        return;
    }

    size_t len = strlen(text);

    put_varint(out, len + 1);
    buf_add(out, text, len + 1);
}

void meta_encode(const struct meta *meta, struct buf *out)
{
    buf_char(out, META_VERSION);
    put_varint(out, meta->n_labels);
    put_varint(out, meta->n_annotations);
    put_varint(out, meta->n_owners);
    put_varint(out, meta->n_finalizers);
    put_number(out, meta->generation);
    put_number(out, meta->created_at_ms);
    put_number(out, meta->deleted_at_ms);
    put_number(out, meta->deletion_grace_s);
    put_string(out, meta->namespace_);
    put_string(out, meta->name);
    put_string(out, meta->generate_name);
    put_string(out, meta->uid);
    put_string(out, meta->managed_fields);
    for (uint32_t i = 0; i < meta->n_labels; i++) {
        put_string(out, meta->labels[i].key);
        put_string(out, meta->labels[i].value);
    }
    for (uint32_t i = 0; i < meta->n_annotations; i++) {
        put_string(out, meta->annotations[i].key);
        put_string(out, meta->annotations[i].value);
    }
    for (uint32_t i = 0; i < meta->n_owners; i++) {
        const struct owner_ref *owner = &meta->owners[i];

        put_varint(out, (owner->controller ? OWNER_CONTROLLER : 0) |
                            (owner->block_owner_deletion ? OWNER_BLOCKS : 0));
        put_string(out, owner->api_version);
        put_string(out, owner->kind);
        put_string(out, owner->name);
        put_string(out, owner->uid);
    }
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        put_string(out, meta->finalizers[i]);
}

/* Reads within [at, end); the first fault sets `damaged`, and everything read after it is zero. */
struct reader {
    const char *at, *end;
    bool damaged;
};

static uint64_t get_varint(struct reader *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = (unsigned char)*in->at++;

        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    in->damaged = true;
    in->at = in->end;
    return 0;
}

static int64_t get_number(struct reader *in)
{
    uint64_t coded = get_varint(in);

    return (int64_t)(coded >> 1) ^ -(int64_t)(coded & 1);
}

/* Every entry of an array takes at least one byte, which bounds the counts. */
static uint32_t get_count(struct reader *in)
{
    uint64_t count = get_varint(in);

    if (count > (uint64_t)(in->end - in->at)) {
        in->damaged = true;
        in->at = in->end;
        return 0;
    }
    return (uint32_t)count;
}

static const char *get_string(struct reader *in, bool may_be_null)
{
    uint64_t size = get_varint(in);

    if (!size) {
        in->damaged |= !may_be_null;
        return may_be_null ? NULL : "";
    }
    if (size > (uint64_t)(in->end - in->at) || in->at[size - 1] ||
        memchr(in->at, '\0', (size_t)size - 1)) {
        in->damaged = true;
        in->at = in->end;
        return "";
    }

    const char *text = in->at;

    in->at += size;
    return text;
}

static void get_pairs(struct reader *in, const struct kv *pairs, uint32_t count)
{
    struct kv *out = (struct kv *)pairs;

    for (uint32_t i = 0; i < count; i++) {
        out[i].key = get_string(in, false);
        out[i].value = get_string(in, false);
    }
}

static void get_owners(struct reader *in, const struct meta *meta)
{
    struct owner_ref *owners = (struct owner_ref *)meta->owners;

    for (uint32_t i = 0; i < meta->n_owners; i++) {
        uint64_t flags = get_varint(in);

        owners[i].controller = flags & OWNER_CONTROLLER;
        owners[i].block_owner_deletion = flags & OWNER_BLOCKS;
        owners[i].api_version = get_string(in, false);
        owners[i].kind = get_string(in, false);
        owners[i].name = get_string(in, false);
        owners[i].uid = get_string(in, false);
    }
}

struct meta *meta_decode(const void *bytes, size_t len, struct error *err)
{
    struct reader in = {bytes, (const char *)bytes + len, false};
    struct meta counts = {0};

    if (!len || *in.at != META_VERSION) {
        error_set(err, ERR_STORAGE, "", "stored metadata is damaged or of an unknown version");
        return NULL;
    }
    in.at++;
    counts.n_labels = get_count(&in);
    counts.n_annotations = get_count(&in);
    counts.n_owners = get_count(&in);
    counts.n_finalizers = get_count(&in);

    size_t rest = (size_t)(in.end - in.at);
    char *text;
    scoped(meta) struct meta *meta = new_with_arrays(&counts, rest, &text);

    if (rest)
        memcpy(text, in.at, rest);
    in.at = text;
    in.end = text + rest;
    meta->generation = get_number(&in);
    meta->created_at_ms = get_number(&in);
    meta->deleted_at_ms = get_number(&in);
    meta->deletion_grace_s = get_number(&in);
    meta->namespace_ = get_string(&in, false);
    meta->name = get_string(&in, false);
    meta->generate_name = get_string(&in, true);
    meta->uid = get_string(&in, false);
    meta->managed_fields = get_string(&in, true);
    get_pairs(&in, meta->labels, meta->n_labels);
    get_pairs(&in, meta->annotations, meta->n_annotations);
    get_owners(&in, meta);

    const char **finalizers = (const char **)meta->finalizers;

    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        finalizers[i] = get_string(&in, false);
    if (in.damaged || in.at != in.end) {
        error_set(err, ERR_STORAGE, "", "stored metadata is damaged");
        return NULL;
    }
    return take(meta);
}
