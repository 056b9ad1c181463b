#pragma once
/*
 * Shared, immutable JSON text: the body (spec, data, …) and the status of stored objects.
 *
 * Many objects have equal bodies: ten thousand jobs from one template have one. Bodies are
 * therefore interned by content, and what is derived from the bytes hangs on the blob instead of
 * being worked out for each object: the decoded struct (the *facet*), the fact that admission
 * passed, the fields it holds, the row the store keeps the bytes in.
 *
 * Reference counts are atomic and the text never changes, so the store thread may read. The other
 * members belong to the loop thread.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/scoped.h"

struct kind;

/* How a blob's decoded form is made; one constant per struct type. */
struct facet_type {
    const char *name;
    void (*free)(void *decoded);
};

struct blob {
    atomic_uint refs;
    uint32_t len;  /* bytes of text, without the NUL that follows */
    uint64_t hash; /* of the text, seeded per process; 0 = not computed */
    const struct kind
        *admitted_as; /* defaulting and validation for this kind passed; NULL = not yet */
    const struct facet_type *facet; /* type of `decoded` */
    void *decoded;                  /* owned; NULL = not decoded yet */
    char *fields; /* owned: which ones it holds, as managedFields write it; NULL = not asked yet */
    int64_t store_row;            /* the store's row of an interned body; 0 = none */
    struct blob *admitted_output; /* what admission made of this text; weak, see blob_link_output */
    struct blob *admitted_input;  /* the reverse; a reference */
    bool interned;
    char text[];
};

struct blob *blob_new(const char *text, size_t len); /* owned, one reference */
struct blob *blob_from_buf(struct buf *buf);         /* empties the buffer */
/** The shared blob of this text: an existing one if equal bytes are alive, else a new one. Owned
 * reference. Loop thread only. */
struct blob *blob_intern(const char *text, size_t len);
struct blob *blob_ref(const struct blob *blob); /* NULL stays NULL */
void blob_unref(struct blob *blob); /* NULL is fine; the last one frees text and facet */
SCOPED_DEFINE_PTR(blob, struct blob *, blob_unref)

/** Hang the decoded form on the blob (consumed). Replaces nothing: a blob has one facet. */
void blob_set_facet(const struct blob *blob, const struct facet_type *type, void *decoded);
/** Hang another value of the same type in its place, NULL: none. The old one is the caller's. */
void blob_replace_facet(const struct blob *blob, void *decoded);
/** The decoded form of `type`, or NULL. Borrowed as long as the blob lives. */
void *blob_facet(const struct blob *blob, const struct facet_type *type);

/**
 * The string that follows `prefix`, when the text begins with both: how the first member of a text
 * of our own making is read without decoding the rest. Written to `out`; false when the text begins
 * otherwise, the string is as long as `size`, or has escapes.
 */
bool blob_leading_string(const struct blob *blob, const char *prefix, char *out, size_t size);

/** Remember that admitting the body `input` (as output->admitted_as) gave `output`: as long as the
 * output lives, equal inputs need no second look. The output keeps its input alive; the first input
 * of an output wins. Both interned. */
void blob_link_output(const struct blob *input, const struct blob *output);
/** What admission made of an equal body earlier as `kind`, itself if it passed unchanged, or NULL.
 * Owned reference. */
struct blob *blob_output(const struct blob *input, const struct kind *kind);
