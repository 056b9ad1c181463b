#pragma once
/*
 * Checks the jobs that a flow would create: the merge of templates and patches, and whether the
 * gangs can ever start on this machine.
 */
#include "api/registry/registry.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "cli/preflight/gang_fit.h"

struct preflight_steps {
    struct registry *registry;   /* holds the flow and its templates */
    bool runs;                   /* the flow will run, so a step that could never end is a
                                  * finding */
    const struct fit *fit;       /* the machine that jobs must fit; NULL = any */
    const struct fit *simulated; /* the machine that `fit` simulates; NULL = none */
    /** Receives a finding, with a field of the flow. */
    void (*found)(void *ctx, const struct error *err);
    /** Receives the job of a step as admitted. When NULL, steps of one template without a patch are
     * checked only once. */
    void (*made)(void *ctx, size_t step, const struct object *job);
    /** Receives why a job can never run on `fit`; may be NULL. */
    void (*no_room)(void *ctx, const struct error *err);
    /** Receives what is worth a warning: a job can never run on `simulated`. */
    void (*warned)(void *ctx, const struct error *err);
    /** Returns true when jobs of this template were checked before; then only whether they fit the
     * machine is checked. NULL: none were. */
    bool (*known)(void *ctx, const struct object *template);
    void *ctx;
};

/** Returns the template that a step names: the flow's pinned copy when the store has one, otherwise
 * the template of that name; NULL when there is none. Borrowed. */
const struct object *preflight_template(const struct store *store, const struct object *flow,
                                        const struct flow_step *step);

/** Checks every step of an admitted flow whose template is known. Leaves the registry unchanged.
 * `needs` (may be NULL; [steps], zeros) receives what each step's job needs, where known. */
void preflight_steps(const struct preflight_steps *check, const struct object *flow,
                     struct step_need *needs);

/** Returns whether an admitted job could never end, because it has no pods. `err` then says so and
 * names the field. */
bool preflight_never_ends(const struct job_spec *job, struct error *err);
