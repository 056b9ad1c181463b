#pragma once
/*
 * Finds probes that wait for a failure. If it does not happen, the step never starts, and its flow
 * stays Running.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"

/** Reports the probe of each step of an admitted flow that passes only when pods of its targets
 * fail. */
void awaited_failures_check(const struct object *flow,
                            void (*found)(void *ctx, const struct error *err), void *ctx);
