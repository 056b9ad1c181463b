#pragma once
/*
 * managedFields: which manager owns which fields of an object, and how writes change this.
 *
 * An entry is identified by manager, operation, version and subresource. An update takes ownership
 * of the fields it changes. An apply names all fields its manager wants, gives up those it no
 * longer names, and conflicts with other values that other managers own. Ref: spec/kube-api.md
 * 10.5.
 *
 * The functions have no side effects. They work on documents without the fields that are never
 * tracked (see managed_tracked). Results are owned.
 */
#include "api/types/patch/fieldset.h"

enum managed_operation { MANAGED_UPDATE, MANAGED_APPLY };

struct managed_write {
    struct schema_at at; /* the root of the documents */
    const char *manager, *api_version;
    const char *subresource; /* subresource of the write; NULL: the object itself */
    enum managed_operation operation;
    const char *now; /* the time to set when the entry's fields change */
};

/** Returns the tracked part of `doc`: without identity; for a subresource, that part alone. */
json_t *managed_tracked(const json_t *doc, bool has_status, const char *subresource);
/** Returns the list that a client sent if it is valid, else NULL. */
json_t *managed_parse(const json_t *value);

/** Returns the list (may be empty) after `before` became `after`. The writer owns all that changed.
 */
json_t *managed_update(const json_t *entries, const struct managed_write *write,
                       const json_t *before, const json_t *after);

/** Appends the list of a new object as text: one entry with `fields`, the members of a set as
 * fieldset_write_members writes them. */
void managed_begin(const struct managed_write *write, const struct buf *fields, struct buf *out);

struct managed_apply {
    const json_t *live, *config; /* the live object, and the configuration that is applied to it */
    const json_t *forgiven;      /* a set of fields that cause no conflict; NULL */
    bool force;                  /* take the fields that others own */
    json_t *out_doc;             /* `live` after the apply; owned */
    json_t *out_entries;         /* the list after the apply; owned */
};
void managed_apply_release(struct managed_apply *apply); /* frees the members of the struct */
SCOPED_DEFINE(managed_apply, struct managed_apply, managed_apply_release)

/**
 * Applies. With `force` the writer takes the fields that others own. Without it, each such field
 * becomes a CONFLICT in `errors` and the result is false. (The error's field is the path; its
 * message names the owner; the errors of one manager are adjacent.) Fields in `forgiven` are taken
 * as well when there are no other conflicts.
 */
bool managed_apply(const json_t *entries, const struct managed_write *write,
                   struct managed_apply *apply, struct error_list *errors);
