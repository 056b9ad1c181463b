#pragma once
/*
 * The critical path of a large flow that is over: the chain of steps that decided how long it took.
 *
 * The last link is the step that ended last; before each link stands the target that let it begin:
 * of several the one that ended last, under `any` the first. A small flow's status has the times of
 * every step, from which anybody can tell; that of a large one has not (DC-05), so the engine
 * tells, once. Of a long chain the two ends are named.
 */
#include <jansson.h>

#include "flow/model/flow_model.h"

enum { PATH_END_MAX = 50 }; /* steps named of either end */

/** The text of status.criticalPath, owned: {steps, duration, ends}; NULL when nothing has run.
 * `job` gives the job of a step, borrowed, or NULL. O(steps + edges). */
char *critical_path_text(const struct flow_model *m,
                         const struct object *(*job)(void *ctx, uint32_t step), void *ctx);

/** The text again of a stored status, owned; NULL when it has none. */
char *critical_path_stored(const json_t *status);
