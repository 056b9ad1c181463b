#pragma once
/*
 * The form in which Volcano writes a Job.
 */
#include <jansson.h>

/** Rewrites what Volcano writes differently, with the same meaning: the event JobUnknown of the
 * design document, empty texts that its CRD refuses, and metadata of pod templates that it drops. */
void target_normalize_job(json_t *spec);
