#pragma once
/*
 * What a target makes of a Job's spec: fields, events, actions, plugins and arguments that Volcano
 * of a version lacks, containers without image, and what only this machine looks at.
 * Ref: spec/cluster.md 7.1; Volcano config/crd, pkg/webhooks/admission/jobs,
 * pkg/controllers/job/plugins.
 */
#include <jansson.h>

#include "base/error.h"
#include "cli/target/target.h"

/** Adds the findings about a spec (of a Job or JobTemplate) with paths below "spec". */
void target_check_job(const struct target *target, const json_t *spec, struct error_list *errors,
                      struct error_list *warnings);
/** Adds an error for each container without an image in the pod's spec at `path`. */
void target_check_images(const json_t *pod_spec, const char *path, struct error_list *errors);
