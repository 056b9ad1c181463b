#pragma once
/*
 * Job to JobTemplate and back. The spec goes over as it is written; what servers and controllers
 * made stays behind, so that there and back again is what it was. Ref: spec/jobflow.md 13.8.
 */
#include "api/types/object.h"
#include "api/types/text/json_text.h"
#include "base/error.h"

/** The JobTemplate of a Job; owned. `name` NULL: the job's. */
json_t *convert_to_template(const json_t *job, const char *name);

/**
 * The Job of a JobTemplate, with labels that tell where it comes from; owned. `name` NULL: the
 * template's. `patch` (NULL: none) is merged as a step's patch would be; then defaults are filled
 * in. NULL with INVALID when template and patch do not fit.
 */
json_t *convert_to_job(const json_t *template, const char *name, const char *ns,
                       const json_t *patch, struct error *err);
/** The same of a template as it is stored, without the name. */
json_t *convert_stored_to_job(const struct object *template, const json_t *patch,
                              struct error *err);
