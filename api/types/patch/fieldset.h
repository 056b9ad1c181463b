#pragma once
/*
 * Sets of fields, as managedFields keep them (FieldsV1): who owns which part of an object.
 *
 *   {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}
 *
 * A set is a document: `f:` a member, `k:` an entry of a list by its keys, `v:` an entry of a set
 * of plain values. A path is in the set when its node is empty or has the member ".". Which lists
 * have keys, and which are owned as a whole, the field tables say. Ref: spec/kube-api.md 10.5;
 * sigs.k8s.io/structured-merge-diff.
 *
 * Everything here is pure. Results are owned; sets given are borrowed. Cost: the size of the
 * documents and sets.
 */
#include "api/types/schema/walk.h"
#include "base/error.h"
#include "base/jsonw.h"

/* ---- algebra ---- */

json_t *fieldset_union(const json_t *a, const json_t *b);
json_t *fieldset_intersection(const json_t *a, const json_t *b);
json_t *fieldset_difference(const json_t *a, const json_t *b);
static inline bool fieldset_is_empty(const json_t *set)
{
    return json_object_size(set) == 0;
}
/** Whether `value` is a set at all: client text. */
bool fieldset_is_valid(const json_t *value);
/** Each path of the set as text: `.spec.containers[name="c"].image`. */
void fieldset_each(const json_t *set, void (*visit)(void *ctx, const char *path), void *ctx);

/* ---- sets of documents ---- */

/** What somebody who applies `doc` wants to own. */
json_t *fieldset_of(const struct schema_at *at, const json_t *doc);
/** Add a finding (UNDECLARED, no field) for each member of `doc` that the tables have no place for,
 * and for entries of a list that have the same keys. */
void fieldset_check(const struct schema_at *at, const json_t *doc, struct error_list *findings);
struct fieldset_changes {
    json_t *changed; /* in the new document, and not or otherwise in the old one */
    json_t *gone;    /* in the old document alone */
};
struct fieldset_changes fieldset_compare(const struct schema_at *at, const json_t *before,
                                         const json_t *after);
/** Write the members of the `changed` of a document where there was none before. */
void fieldset_write_members(const struct schema_at *at, const json_t *doc, struct jsonw *w);
void fieldset_changes_release(struct fieldset_changes *changes);
SCOPED_DEFINE(fieldset_changes, struct fieldset_changes, fieldset_changes_release)

/** `live` with everything `config` says: maps and lists with keys merge, the rest is replaced. */
json_t *fieldset_merge(const struct schema_at *at, const json_t *live, const json_t *config);
/** Take out of `doc` (changed in place) what is in `set`, unless there is something of `kept` in
 * it. */
void fieldset_remove(const struct schema_at *at, json_t *doc, const json_t *set,
                     const json_t *kept);
