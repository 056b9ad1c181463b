#pragma once
/*
 * managedFields: the list of who owns which fields of an object, and what writes make of it.
 *
 * An entry is known by manager, operation, version and subresource. An update takes the fields it
 * changes from everybody else; an apply names all its manager wants, gives up what it no longer
 * names, and conflicts with what others hold otherwise. Ref: spec/kube-api.md 10.5.
 *
 * Pure, on documents without the fields that are never tracked (managed_tracked). Results are
 * owned.
 */
#include "api/types/patch/fieldset.h"

enum managed_operation { MANAGED_UPDATE, MANAGED_APPLY };

struct managed_write {
    struct schema_at at; /* the root of the documents */
    const char *manager, *api_version;
    const char *subresource; /* NULL: the object itself */
    enum managed_operation operation;
    const char *now; /* the time of the entry when its set changes */
};

/** The part of `doc` that is tracked: without identity, and of a subresource that part alone. */
json_t *managed_tracked(const json_t *doc, bool has_status, const char *subresource);
/** The list a client sent, when it is one; else NULL. */
json_t *managed_parse(const json_t *value);

/** The list (may be empty) after `before` became `after`; the writer takes what changed. */
json_t *managed_update(const json_t *entries, const struct managed_write *write,
                       const json_t *before, const json_t *after);

/** The text of the list of an object that is new: one entry with these fields, which are the
 * members of a set as fieldset_write_members writes them. */
void managed_begin(const struct managed_write *write, const struct buf *fields, struct buf *out);

struct managed_apply {
    json_t *doc;     /* `live` as the writer wants it */
    json_t *entries; /* the list then */
};
void managed_apply_release(struct managed_apply *apply);
SCOPED_DEFINE(managed_apply, struct managed_apply, managed_apply_release)

/**
 * Apply `config` to `live`. With `force` what others hold is taken from them; without, each such
 * path becomes a CONFLICT in `errors` (the field is the path, the message names who holds it; one
 * manager's stand together), false. Paths of `forgiven` (a set, may be NULL) are taken all the same
 * when there are no others.
 */
bool managed_apply(const json_t *entries, const struct managed_write *write, const json_t *live,
                   const json_t *config, const json_t *forgiven, bool force,
                   struct managed_apply *out, struct error_list *errors);
