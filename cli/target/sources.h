#pragma once
/*
 * The templates of the files, with what the target makes of each. A finding is reported where the
 * template has it, once for all steps that use it.
 */
#include "api/types/object.h"
#include "base/collections/hash.h"
#include "cli/target/findings.h"
#include "cli/target/target.h"

struct source {
    UT_hash_handle hh;
    size_t index;                       /* index of the template's manifest */
    struct object *object;              /* the template as written */
    struct error_list errors, warnings; /* about its own spec */
    bool *reported;                     /* for each error whether it was reported, [errors.count] */
    bool used, warned;
    char key[]; /* key of the template: namespace/name */
};

/** Adds a template. `*sources` is the table, NULL at first. */
void sources_add(struct source **sources, const struct target *target, const char *ns, size_t index,
                 const json_t *doc);
/** Returns the template, or NULL when the files have none of that name. */
struct source *sources_find(struct source *sources, const char *ns, const char *name);
void sources_free(struct source *sources);

/** Reports what has not been reported: all errors, the warnings, or the error that is equal to
 * `err` (false: the template has none). */
void source_report(struct source *source, struct findings *findings);
void source_warn(struct source *source, struct findings *findings);
bool source_report_equal(struct source *source, struct findings *findings, const struct error *err);

/** Returns a document that the preflight has accepted as an object, as it was written: no defaults
 * are set. Owned. */
struct object *source_object(const json_t *doc);
