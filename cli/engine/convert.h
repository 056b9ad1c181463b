#pragma once
/*
 * Converts a Job to a JobTemplate and back. The spec is copied as written; fields set by servers
 * and controllers are removed, so that converting back gives the original. Ref: spec/jobflow.md
 * 13.8.
 */
#include "api/types/object.h"
#include "api/types/text/json_text.h"
#include "base/error.h"

/** Returns the JobTemplate of a Job; owned. `name` NULL: the job's name. */
json_t *convert_to_template(const json_t *job, const char *name);

/**
 * Returns the Job of a JobTemplate, with labels that name its origin; owned. `name` NULL: the
 * template's name. `patch` (NULL: none) is merged as a step's patch is; then defaults are set. NULL
 * with INVALID when the patch does not match the template.
 */
json_t *convert_to_job(const json_t *template, const char *name, const char *ns,
                       const json_t *patch, struct error *err);
/** Converts a stored template as convert_to_job does, without the name. */
json_t *convert_stored_to_job(const struct object *template, const json_t *patch,
                              struct error *err);
