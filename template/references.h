#pragma once
/*
 * References in a template and in the patch of a step, replaced for one job.
 *
 * A template without references is found out once, and its jobs share bodies as
 * template/instantiate says. A template or patch with references makes a body for this job alone.
 * Ref: spec/everyday.md 3.2, DC-26.
 */
#include "api/types/schema/flow_reference.h"
#include "template/instantiate.h"

/** Whether strings of the template contain references. Remembered for each body. */
bool template_has_references(struct template_cache *cache, const struct object *template);
/** Returns the template's spec as it is stored, parsed once for many calls in a row. Borrowed until
 * the next call with another template. */
const json_t *template_spec_document(struct template_cache *cache, const struct object *template);
/** Calls `visit` for the references of a template that has any. */
void template_references_each(struct template_cache *cache, const struct object *template,
                              void (*visit)(void *arg, const struct flow_ref *ref), void *arg);

/* What a patch borrows once its references, and those of its template, are replaced. */
struct template_resolved {
    json_t *template_spec, *job_spec, *spec;
};

/**
 * Replaces the references of the template and of the patch in `patch`, which then borrows from
 * `out`; a patch without references stays as it is. False with the error of `values` at
 * `patch.jobSpec`, `patch.spec` or `job template NAME`, or with INVALID without a field for a
 * reference in a script; `out` is to be released in any case.
 */
bool template_resolve(struct template_cache *cache, const struct object *template,
                      struct template_patch *patch, const struct flow_ref_values *values,
                      struct template_resolved *out, struct error *err);
void template_resolved_release(struct template_resolved *resolved);
SCOPED_DEFINE(template_resolved, struct template_resolved, template_resolved_release)
