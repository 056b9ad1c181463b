/*
 * Fast checks whether a document would change a stored object.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/scoped.h"

static bool has_all(const struct meta *meta, const struct kv *wanted, size_t n,
                    const char *(*get)(const struct meta *meta, const char *key))
{
    for (size_t i = 0; i < n; i++) {
        const char *value = get(meta, wanted[i].key);

        if (!value || strcmp(value, wanted[i].value) != 0)
            return false;
    }
    return true;
}

/* Compares bodies by address: equal bodies are interned as one. */
static bool says_the_same(const struct object *stored, const struct object *draft)
{
    const struct meta *has = stored->meta, *says = draft->meta;

    return draft->body == stored->body && has_all(has, says->labels, says->n_labels, meta_label) &&
           has_all(has, says->annotations, says->n_annotations, meta_annotation);
}

/* Returns whether the draft has no preconditions, owners or finalizers. Those need the full update.
 */
static bool is_plain(const struct object *draft)
{
    const struct meta *says = draft->meta;

    return !draft->revision && !*says->uid && !says->n_owners && !says->n_finalizers;
}

bool registry_says_nothing_new(const struct object *stored, const struct object *made,
                               const json_t *doc)
{
    const json_t *metadata = json_object_get(doc, "metadata");

    return !json_object_get(metadata, "uid") && !json_object_get(metadata, "resourceVersion") &&
           !made->meta->n_owners && !made->meta->n_finalizers && says_the_same(stored, made);
}

bool registry_unchanged(struct registry *r, json_t *doc, const struct object *stored)
{
    const struct admission admission = registry_admission_for(r, NULL);
    struct error_list errors = {0};
    scoped(object) struct object *draft =
        admission_admit(&admission, doc, NULL, UNKNOWN_ERROR, &errors);

    error_list_release(&errors);
    return draft && is_plain(draft) && says_the_same(stored, draft);
}
