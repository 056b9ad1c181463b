#pragma once
/*
 * Jobs of simulated clients, which tests/support/job_gen generates.
 */
#include <jansson.h>

#include "tests/support/dice.h"

/** Returns the manifest of a random job with that name; owned. */
json_t *sim_job_document(struct dice *dice, const char *name);
