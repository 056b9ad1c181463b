#pragma once
/*
 * The documents that a conversion for Volcano writes. They have no status and none of the metadata
 * that a server sets, so that objects that were printed can be applied elsewhere.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/** Returns the name of a step as a step of its own: STEP, or of an iteration STEP-NUMBER. Owned. */
char *documents_step_name(const char *step, int iteration);

/** Returns the template of a step. `source` is the template that the step names; namespace as the
 * flow has it. Consumes `spec`. Owned. */
json_t *documents_template(const json_t *source, const json_t *flow, const char *name,
                           json_t *spec);
/** Returns the flow with the fields that Volcano knows, and with loops as their steps. Owned. */
json_t *documents_flow(const json_t *flow, const struct jobflow_spec *spec);
/** Returns a Job or JobTemplate as Volcano writes it. Owned. */
json_t *documents_job(const json_t *doc);
/** Returns any other object as it is written out. Owned. */
json_t *documents_other(const json_t *doc);
