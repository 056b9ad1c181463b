#pragma once
/*
 * Instantiates a template: template + patch = the body of a Job.
 *
 * Without a patch the template's own bytes are used, so that ten thousand steps of equal templates
 * share one body and admission checks it once. With a patch the merged body is cached for its step,
 * because another attempt of the step asks for it again. The stored template is never changed.
 * Defaulting and validation happen when the job is created, as for a job written by hand.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"

struct template_cache;

struct template_cache *template_cache_new(void);
void template_cache_free(struct template_cache *cache); /* NULL is ignored */

/* The changes that a step makes to its template. `owner` is the blob that holds the patches (the
 * flow's body). With `step` it identifies the patch in the cache, which keeps a reference. NULL:
 * the patch is for this job alone and is not cached. */
struct template_patch {
    const json_t *job_spec; /* patch.jobSpec, merged first; or NULL */
    const json_t *spec;     /* member patch.spec; or NULL */
    struct blob *owner;
    uint32_t step;
    const struct flow_scheduling *scheduling; /* spec.scheduling of the flow, merged before both; or
                                               * NULL */
    const char *item, *index;    /* item and number of an iteration, for the variables of its
                               * containers; or NULL */
    const json_t *template_spec; /* the template's spec with its references replaced; or NULL */
    const char *inlined;         /* member of the step that is its inline template; NULL: the
                                  * template is a named one */
};

/** Returns the inline template of a step (api/types/kinds/jobflow/inline_template.h). Borrowed
 * until the next call; calls in a row for one step make it once. */
const struct object *template_inline(struct template_cache *cache, const struct object *flow,
                                     const struct flow_step *step);

/**
 * Returns the body of a job of `template`, patched when `patch` is not NULL. An owned reference, or
 * NULL with INVALID at spec.flows[step].patch… when the patch cannot be matched with the template.
 */
struct blob *template_instantiate(struct template_cache *cache, const struct object *template,
                                  const struct template_patch *patch, struct error *err);
