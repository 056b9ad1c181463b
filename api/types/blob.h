#pragma once
/*
 * Shared, immutable JSON text: the body (spec, data, …) and the status of stored objects.
 *
 * Many objects have equal bodies; ten thousand jobs from one template share one. Bodies are
 * therefore interned by content. The blob also keeps everything that is derived from its bytes, so
 * that it is computed once and not per object: the decoded struct (the *facet*), the fact that
 * admission passed, the list of its fields, the row of the store that holds the bytes.
 *
 * Reference counts are atomic and the text never changes, so the store thread may read it. All
 * other members belong to the loop thread.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/scoped.h"

struct kind;

/* The type of a facet, the decoded form of a blob. One constant per struct type. */
struct facet_type {
    const char *name;
    void (*free)(void *decoded);
};

struct blob {
    atomic_uint refs;
    uint32_t len;  /* number of bytes of text, without the NUL that follows */
    uint64_t hash; /* hash of the text, seeded per process; 0 = not computed */
    const struct kind
        *admitted_as; /* the kind as which it passed defaulting and validation; NULL = none yet */
    const struct facet_type *facet; /* type of the decoded form */
    void *decoded;                  /* decoded form, owned; NULL = not decoded yet */
    char *fields;      /* the blob's fields as managedFields text, owned; NULL = not computed */
    int64_t store_row; /* the store's row of an interned body; 0 = none */
    struct blob *admitted_output; /* the admitted form of the body; weak, see blob_link_output */
    struct blob
        *admitted_input; /* the body before admission, as a reference; see blob_link_output */
    bool interned;
    char text[];
};

/** Returns a new blob with one reference, owned by the caller. */
struct blob *blob_new(const char *text, size_t len);
struct blob *blob_from_buf(struct buf *buf); /* leaves the buffer empty */
/** Returns the shared blob of this text: an existing one if a blob with equal bytes exists, else a
 * new one. Owned reference. Loop thread only. */
struct blob *blob_intern(const char *text, size_t len);
struct blob *blob_ref(const struct blob *blob); /* NULL gives NULL */
void blob_unref(struct blob *blob); /* NULL is ignored; the last call frees text and facet */
SCOPED_DEFINE_PTR(blob, struct blob *, blob_unref)

/** Attaches the decoded form (consumed) to a blob that has none. A blob has one facet. */
void blob_set_facet(const struct blob *blob, const struct facet_type *type, void *decoded);
/** Replaces the decoded form by another value of the same type, or by none (NULL). The caller keeps
 * the old value. */
void blob_replace_facet(const struct blob *blob, void *decoded);
/** Returns the decoded form of `type`, or NULL. Borrowed while the blob exists. */
void *blob_facet(const struct blob *blob, const struct facet_type *type);

/**
 * Reads the string that follows `prefix` at the start of the text into `out`. It serves to read the
 * first member of text that this program wrote, without parsing the rest. Returns false when the
 * text begins otherwise, when the string does not fit into `size` bytes, or when it has escapes.
 */
bool blob_leading_string(const struct blob *blob, const char *prefix, char *out, size_t size);

/** Records that admitting the body `input` as output->admitted_as gave `output`. While the output
 * exists, an equal input is not checked again. The output keeps its input alive; the first input
 * recorded for an output stays. Both are interned. */
void blob_link_output(const struct blob *input, const struct blob *output);
/** Returns the body that admission as `kind` made of an equal body earlier: this body itself if it
 * passed unchanged, NULL if none is known. Owned reference. */
struct blob *blob_output(const struct blob *input, const struct kind *kind);
