#pragma once
/*
 * What one preflight knows, for its parts: the scratch store, which manifest each object in it
 * comes from, and the findings.
 */
#include "base/hash.h"
#include "cli/preflight/preflight.h"

struct preflight_warning {
    const struct manifest *manifest;
    struct error text;
};

/* The manifest behind a scratch object. */
struct preflight_origin {
    UT_hash_handle hh;
    const struct manifest *manifest;
    char uid[];
};

struct preflight_run {
    struct manifests *set;
    const struct preflight_options *options;
    struct preflight_result *result;
    struct engine *scratch;
    struct preflight_warning *warnings; /* [n_warnings]: worth a word only when all is well */
    size_t n_warnings, warnings_cap;
    struct preflight_origin *origins; /* by uid */
};

/** The manifest that `object` of the scratch store comes from, or NULL: none of the files'. */
const struct manifest *preflight_manifest_of(const struct preflight_run *run,
                                             const struct object *object);

/* ---- findings.c ---- */

/** Count and print one error. */
void preflight_error(struct preflight_run *run, const struct manifest *manifest,
                     const struct error *err);
/** The same for a list, those it dropped included. */
void preflight_errors(struct preflight_run *run, const struct manifest *manifest,
                      const struct error_list *list);
/** Say how many more errors there were; nothing if none. */
void preflight_errors_dropped(const struct manifest *manifest, size_t dropped);
/** Keep warnings for the end; copies them. */
void preflight_warn(struct preflight_run *run, const struct manifest *manifest,
                    const struct error_list *list);
/** Print what was kept, unless there were errors: some warnings say in advance what an error then
 * says in full. */
void preflight_print_warnings(const struct preflight_run *run);
void preflight_findings_release(struct preflight_run *run);

/* ---- known.c ---- */

/** Take out what a server has given to an object that was printed and is read again. */
void preflight_forget_version(json_t *doc);
/** Bring what the files may refer to without defining it, from options->live. */
void preflight_bring_live(struct preflight_run *run);
/** The same from options->known. Of what the files define themselves, theirs holds. */
void preflight_bring_known(struct preflight_run *run);
/** The templates that `flow` of the files keeps (jobflow/pin.h), for the uid it has here. */
void preflight_bring_pinned(struct preflight_run *run, const struct object *flow);

/* ---- flow.c ---- */

/** Find the templates of a flow that are nowhere. */
void preflight_check_templates(struct preflight_run *run, const struct object *flow);
/** Make the job of each step, and check it, the gangs and the conditions. */
void preflight_check_steps(struct preflight_run *run, const struct object *flow);
