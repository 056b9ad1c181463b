#pragma once
/*
 * The names in a step's patch. A patch merges tasks and containers by name, and a name that the
 * template lacks would add one, which is most likely a typing mistake. Ref: spec/jobflow.md 6.4.
 *
 *   a new task        has a template, and replicas if its name is like that of another task
 *   a new container   has an image and a command or args, and no name like that of another one
 *   both              with "$patch: add" in any case
 */
#include <jansson.h>

#include "api/types/kinds/job/job.h"
#include "base/error.h"

/** Adds a finding for each task and container of `patch` that neither the template nor `before` has
 * and that the patch does not add. `before` is the patch that is applied first, or NULL; `path` is
 * that of `patch`. */
void jobflow_check_patch_names(const struct job_spec *template, const json_t *patch,
                               const json_t *before, const char *path, struct error_list *errors);
