#pragma once
/*
 * What the files of fieldset share: the shape of a value, and lists by the path elements of their
 * entries.
 */
#include <string.h>

#include "api/types/patch/fieldset.h"
#include "base/buf.h"

enum fieldset_shape { WHOLE, OBJECT, KEYED, SET };

enum fieldset_shape fieldset_shape(const struct field *field, const json_t *value);

/** The path element of a list's entry: "k:{…}", "v:…". False when it lacks its key. */
bool fieldset_element(const struct field *field, const json_t *entry, struct buf *out);
/** One more step of a path, as text. */
void fieldset_add_step(const char *element, struct buf *path);

/** Entries by path element (owned; the entries are borrowed references). The first of several
 * counts. NULL when an entry has no key: the list is a whole then. */
json_t *fieldset_index(const struct field *field, const json_t *list);

/** What every object has, and nobody is said to own as such. */
static inline bool fieldset_is_frame(const struct schema_at *at, const char *key)
{
    return at->root && strcmp(key, "metadata") == 0;
}
