#pragma once
/*
 * The critical path of a flow that is over: the chain of steps that decided how long it took.
 *
 * The last link is the step that ended last; before each link stands the target that let it begin:
 * of several the one that ended last, under `any` the first, of a final step the last of all others.
 * Times in a status are whole seconds, and the status of a large flow has none (DC-05), so a reader
 * could not tell which of two steps ended last: the engine, which saw the order, writes the path
 * once. Of a long chain it names the two ends.
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
