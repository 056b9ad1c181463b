#pragma once
/*
 * The state of one preflight, shared by its parts: the scratch store, the manifest that each object
 * in it comes from, and the findings.
 */
#include "base/collections/hash.h"
#include "cli/preflight/preflight.h"

#define PREFLIGHT_WAIT_HINT "--wait-for-resources starts it all the same"

struct preflight_warning {
    const struct manifest *manifest;
    struct error text;
};

/* The manifest that a scratch object was created from. */
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
    struct preflight_warning *warnings; /* the warnings, [n_warnings]; printed only when there is no
                                         * error */
    size_t n_warnings, warnings_cap;
    struct preflight_origin *origins; /* origins by uid */
};

/** Returns the manifest that `object` of the scratch store was created from, or NULL when it comes
 * from no file. */
const struct manifest *preflight_manifest_of(const struct preflight_run *run,
                                             const struct object *object);

/** Counts and prints one error. */
void preflight_error(struct preflight_run *run, const struct manifest *manifest,
                     const struct error *err);
/** Counts and prints a list of errors, and the number of errors that the list dropped. */
void preflight_errors(struct preflight_run *run, const struct manifest *manifest,
                      const struct error_list *list);
/** Prints how many errors were dropped; nothing for 0. */
void preflight_errors_dropped(const struct manifest *manifest, size_t dropped);
/** Copies warnings and keeps them for the end. */
void preflight_warn(struct preflight_run *run, const struct manifest *manifest,
                    const struct error_list *list);
/** Prints the kept warnings, unless there were errors: an error may report in full what a warning
 * announces. */
void preflight_print_warnings(const struct preflight_run *run);
void preflight_findings_release(struct preflight_run *run);

/** Removes the server-set metadata (such as uid and resourceVersion) of an object that was printed
 * and is read again. */
void preflight_forget_version(json_t *doc);
/** Copies objects that the files may refer to from options->live into the scratch store. */
void preflight_load_live(struct preflight_run *run);
/** Loads the objects of options->known as preflight_load_live does. An object defined in the files
 * takes precedence. */
void preflight_load_known(struct preflight_run *run);
/** Adds the templates that the stored flow of this name has pinned (jobflow/pin.h), owned by the
 * uid that `flow` has in the scratch store. */
void preflight_load_pinned(struct preflight_run *run, const struct object *flow);

/** Reports programs that pods say they need and that this machine lacks, as options->needs says. */
void preflight_check_needs(struct preflight_run *run);

/** Reports templates of a flow that exist nowhere. */
void preflight_check_templates(struct preflight_run *run, const struct object *flow);
/** Builds the job of each step and checks it, the flow's gangs and its conditions. */
void preflight_check_steps(struct preflight_run *run, const struct object *flow);
