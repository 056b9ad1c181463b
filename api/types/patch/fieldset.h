#pragma once
/*
 * Sets of fields as managedFields store them (FieldsV1): the parts of an object that a field
 * manager owns.
 *
 *   {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}
 *
 * A set is a document. Its members are path elements: `f:` a field, `k:` a list entry by its keys,
 * `v:` an entry of a set of scalars. A path is in the set when its node is empty or has the member
 * ".". The field tables tell which lists have keys and which are owned as a whole. Ref:
 * spec/kube-api.md 10.5; sigs.k8s.io/structured-merge-diff.
 *
 * The functions have no side effects. Results are owned; arguments are borrowed. The cost is linear
 * in the size of the documents and sets.
 */
#include "api/types/schema/walk.h"
#include "base/encoding/jsonw.h"
#include "base/error.h"

/** Set operations on two sets. Each returns a new set (owned). */
json_t *fieldset_union(const json_t *a, const json_t *b);
json_t *fieldset_intersection(const json_t *a, const json_t *b);
json_t *fieldset_difference(const json_t *a, const json_t *b);
static inline bool fieldset_is_empty(const json_t *set)
{
    return json_object_size(set) == 0;
}
/** Returns true if `value`, which a client sent, is a valid set. */
bool fieldset_is_valid(const json_t *value);
/** Calls `visit` with each path of the set as text: `.spec.containers[name="c"].image`. */
void fieldset_each(const json_t *set, void (*visit)(void *ctx, const char *path), void *ctx);

/** Returns the set of fields that a manager owns after it applies `doc`. */
json_t *fieldset_of(const struct schema_at *at, const json_t *doc);
/** Adds a finding (UNDECLARED, no field) for each member of `doc` that the tables do not declare
 * and for list entries with equal keys. */
void fieldset_check(const struct schema_at *at, const json_t *doc, struct error_list *findings);
/** The fields that differ between two documents. */
struct fieldset_changes {
    json_t *changed; /* fields that are only in the new document, or differ from the old one */
    json_t *gone;    /* fields that are only in the old document */
};
struct fieldset_changes fieldset_compare(const struct schema_at *at, const json_t *before,
                                         const json_t *after);
/** Writes the members of the set `changed` for a new document, which has no earlier version. */
void fieldset_write_members(const struct schema_at *at, const json_t *doc, struct jsonw *w);
void fieldset_changes_release(struct fieldset_changes *changes);
SCOPED_DEFINE(fieldset_changes, struct fieldset_changes, fieldset_changes_release)

/** Returns `live` with everything that `config` contains: maps and lists with keys merge, other
 * values are replaced. */
json_t *fieldset_merge(const struct schema_at *at, const json_t *live, const json_t *config);
/** Removes the fields in `set` from `doc` (changed in place), except those that contain a field in
 * `kept`. */
void fieldset_remove(const struct schema_at *at, json_t *doc, const json_t *set,
                     const json_t *kept);
