#pragma once
/*
 * The jobs that flows would create: what their patches make of the templates, and whether their
 * gangs can ever start here.
 */
#include "api/registry/registry.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "node/machine/amount.h"

struct preflight_steps {
    struct registry *registry; /* has the flow and its templates */
    int max_pods;              /* 0 = any gang goes */
    /** A finding, with a field of the flow. */
    void (*found)(void *ctx, const struct error *err);
    /** The job of a step as admission makes it; NULL: nobody asks, and steps of one template
     * without a patch are looked at once. */
    void (*made)(void *ctx, size_t step, const struct object *job);
    /** Something that admission lets pass but that can never be; NULL. */
    void (*doubted)(void *ctx, const struct error *err);
    /** The jobs of this template were looked at before, all but whether their gangs can start here;
     * NULL: none were. */
    bool (*known)(void *ctx, const struct object *template);
    void *ctx;
};

/** What the jobs of a step are made from: the flow's own copy, if it pins and the store has one, or
 * the template of that name; NULL when there is none. */
const struct object *preflight_template(const struct store *store, const struct object *flow,
                                        const struct flow_step *step);

/** Check every step of an admitted flow whose template is known. Nothing stays in the registry.
 * `needs` (or NULL) gets of each step what its job needs at once, where that is known. */
void preflight_steps(const struct preflight_steps *check, const struct object *flow,
                     struct amount *needs);

/** Whether an admitted job could not end in a run with `max_pods` pods at once (0: not a run,
 * false): its gang is larger, or it has no pods. Then `err` says so, naming the field. Tasks that
 * wait for others need not run at once with them: such gangs pass. */
bool preflight_never_ends(const struct job_spec *job, int max_pods, struct error *err);
