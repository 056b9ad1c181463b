#pragma once
/*
 * A change of one annotation of a job.
 */
#include "api/registry/registry.h"

/** Sets an annotation of a stored job. Returns false when the registry refuses it. */
bool submit_annotate(struct registry *registry, const struct object *job, const char *key,
                     const char *value);
