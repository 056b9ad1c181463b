#pragma once
/*
 * Template + patch = the body of a Job.
 *
 * Without a patch the template's own bytes are used, so ten thousand steps of equal templates share
 * one body and admission looks at it once. With a patch the merged body is kept for the step it
 * belongs to, because the same step of another flow, or another attempt of it, asks for it again.
 * The stored template is never changed. Defaulting and validation are those of a job written by
 * hand: they happen at create.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"

struct template_cache;

struct template_cache *template_cache_new(void);
void template_cache_free(struct template_cache *cache); /* NULL is fine */

/* What a step changes. `owner` is the blob the patches belong to (the flow's body): it is kept as
 * long as a merged body is, for it and `step` name the patch. NULL: the patch is for this job
 * alone, nothing is kept. */
struct template_patch {
    const json_t *job_spec; /* patch.jobSpec, merged first; or NULL */
    const json_t *spec;     /* patch.spec; or NULL */
    struct blob *owner;
    uint32_t step;
    const struct flow_scheduling *scheduling; /* of the flow, merged before both; or NULL */
    const char *item, *index; /* of an iteration: what its containers are told; NULL = of none */
};

/**
 * The body of a job of `template_`, patched when `patch` is not NULL. An owned reference, or NULL
 * with INVALID at spec.flows[step].patch… when the patch cannot be matched with the template.
 */
struct blob *template_instantiate(struct template_cache *cache, const struct object *template_,
                                  const struct template_patch *patch, struct error *err);
