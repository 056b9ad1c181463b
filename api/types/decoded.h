#pragma once
/*
 * The decoded forms of a blob, worked out once and kept with it.
 *
 * Interned bodies are shared by objects of any kind, so one text may be read in more than one way
 * ("{"spec":{}}" is a queue and a flow). The facet of a blob is therefore a short list of forms,
 * one for each type that asked; nearly always it has one entry. Loop thread only.
 */
#include "api/types/blob.h"
#include "api/types/schema/schema.h"
#include "base/jsonw.h"

/* How one struct type is read; one constant per type. */
struct decoded_type {
    const char *member; /* of the text: "spec"; NULL = the text itself */
    const struct schema *schema;
    bool keep_document; /* the struct may borrow from the document (as_json rows) */
    /** With keep_document: whether this struct does borrow; if not, the document goes. NULL = it is
     * kept. */
    bool (*borrows)(const void *decoded);
    /** Whether a form is of something that is over and hardly read again: decoded_trim may let it
     * go. NULL = never. */
    bool (*passes)(const void *decoded);
    /** What the table cannot say. `doc` is the member, NULL when absent. May be NULL. */
    void (*finish)(void *decoded, const json_t *doc, struct arena *arena);
};

/**
 * Free the oldest forms that pass but the newest `keep`. A decoded status takes more room than its
 * text, and of all that have ended hardly any is read again; one that is, is decoded anew. For the
 * end of a turn: nobody keeps such a form longer.
 */
void decoded_trim(size_t keep);

/**
 * The decoded form of `blob` (not NULL). Never NULL: text that is no valid document of the type
 * decodes like an empty object. Borrowed as long as the blob lives.
 */
const void *decoded_of(const struct blob *blob, const struct decoded_type *type);

/** The member's document; NULL when absent. Parsed when first asked for, then borrowed as long as
 * the blob lives, or as long as the loan when one is on. */
const json_t *decoded_document(const struct blob *blob, const struct decoded_type *type);

/** The document of the whole text, to be read only: a reference to the one lent, or parsed. */
json_t *decoded_root(const struct blob *blob);

/**
 * A loan: until decoded_return, `document` (borrowed, not changed meanwhile) is what the text of
 * `blob` says, so that forms that keep no document need no parsing. For admission, which has the
 * document in its hands. One at a time.
 */
void decoded_lend(const struct blob *blob, const json_t *document);
void decoded_return(void);

/** Hang a form made elsewhere on the blob: `value` and everything it points to lives in `arena`,
 * which is consumed. */
void decoded_attach(const struct blob *blob, const struct decoded_type *type, struct arena *arena,
                    void *value);

/** A new blob (owned) with the text that `write` makes of `value`, and a copy of `value` hung on
 * it, so that nobody in the process parses it again. */
struct blob *decoded_write(const struct decoded_type *type, const void *value,
                           void (*write)(struct jsonw *w, const void *value),
                           void *(*copy)(struct arena *arena, const void *value));
