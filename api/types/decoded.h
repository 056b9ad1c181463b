#pragma once
/*
 * The decoded forms of a blob, computed once and kept with it.
 *
 * Objects of any kind may share an interned body, so one text may be decoded as more than one type
 * ("{"spec":{}}" is a Queue and a JobFlow). The facet of a blob is therefore a short list of forms,
 * one per type that was asked for; nearly always it has one entry. Loop thread only.
 */
#include "api/types/blob.h"
#include "api/types/schema/schema.h"
#include "base/encoding/jsonw.h"

/* Describes how one struct type is decoded. One constant per type. */
struct decoded_type {
    const char *member; /* the member of the text to decode: "spec"; NULL = the whole text */
    const struct schema *schema;
    bool keep_document; /* the struct may borrow from the document (as_json rows) */
    /** With keep_document: whether this struct does borrow from the document. If it does not, the
     * document is freed. NULL: the document is always kept. */
    bool (*borrows)(const void *decoded);
    /** Returns whether the form describes an object that has ended and is rarely read again.
     * decoded_trim may free such a form. NULL: never. */
    bool (*ended)(const void *decoded);
    /** Completes the struct with what the field table cannot express. `doc` is the member, NULL
     * when absent. May be NULL. */
    void (*finish)(void *decoded, const json_t *doc, struct arena *arena);
};

/**
 * Frees all but the newest `keep` forms for which `ended` holds. A decoded status takes more
 * memory than its text, and the status of an ended object is rarely read again; if it is, it is
 * decoded anew. Call it at the end of a turn: nothing keeps a pointer to such a form longer.
 */
void decoded_trim(size_t keep);

/**
 * Returns the decoded form of `blob` (not NULL). Never NULL: text that is not a valid document of
 * the type decodes like an empty object. Borrowed while the blob exists.
 */
const void *decoded_of(const struct blob *blob, const struct decoded_type *type);

/** Returns the member's document, NULL when absent. It is parsed on the first call. Borrowed while
 * the blob exists or, during a decoded_lend, until decoded_return. */
const json_t *decoded_document(const struct blob *blob, const struct decoded_type *type);

/** Returns the document of the whole text (an owned reference, read-only): the lent one, or a
 * parsed one. */
json_t *decoded_root(const struct blob *blob);

/**
 * Lends the document of a blob: until decoded_return, `document` (borrowed, unchanged meanwhile)
 * stands for the text of `blob`, and forms that keep no document are decoded without parsing.
 * Admission uses this, because it has the document already. One loan at a time.
 */
void decoded_lend(const struct blob *blob, const json_t *document);
/** Ends the loan of decoded_lend. */
void decoded_return(void);

/** Attaches a form made elsewhere to the blob: `value` and everything it points to is in `arena`,
 * which is consumed. */
void decoded_attach(const struct blob *blob, const struct decoded_type *type, struct arena *arena,
                    void *value);

/** Returns a new blob (owned) with the text that `write` makes of `value`, and attaches a copy of
 * `value` to it, so that this process never parses the text. */
struct blob *decoded_write(const struct decoded_type *type, const void *value,
                           void (*write)(struct jsonw *w, const void *value),
                           void *(*copy)(struct arena *arena, const void *value));
