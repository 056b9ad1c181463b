#pragma once
/*
 * Shared by the fieldset files: the kind of a value, and indexes of lists by path element.
 */
#include <string.h>

#include "api/types/patch/fieldset.h"
#include "base/buf.h"

enum fieldset_shape { WHOLE, OBJECT, KEYED, SET };

enum fieldset_shape fieldset_shape(const struct field *field, const json_t *value);

/** Appends the path element of a list entry: "k:{…}" or "v:…". Returns false when it lacks its key.
 */
bool fieldset_element(const struct field *field, const json_t *entry, struct buf *out);
/** Appends one path element to a path, as text. */
void fieldset_add_step(const char *element, struct buf *path);

/** Returns the list entries by path element (owned; the entries are shared references). Of entries
 * with equal elements the first counts. Returns NULL when an entry has no key; the list then
 * counts as a whole. */
json_t *fieldset_index(const struct field *field, const json_t *list);

/** Returns whether the member is the object's metadata: every object has it, so no manager owns it
 * as such. */
static inline bool fieldset_is_frame(const struct schema_at *at, const char *key)
{
    return at->root && strcmp(key, "metadata") == 0;
}
