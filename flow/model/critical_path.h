#pragma once
/*
 * The critical path of a finished flow: the chain of steps that decided how long it took.
 *
 * The last link is the step that ended last. Before each link stands the target that let it start:
 * the one that ended last, under strategy any the first, and for a final step the last of all other
 * steps. Times in a status are whole seconds, and the status of a large flow has none (DC-05), so a
 * reader could not tell which of two steps ended last. The controller saw the order, so it stores
 * the path. Of a long chain only the two ends are named.
 */
#include <jansson.h>

#include "flow/model/flow_model.h"

enum { PATH_END_MAX = 50 }; /* steps named at either end */

/* Says where the times of steps come from. */
struct path_source {
    /** The job of a step, borrowed, or NULL. */
    const struct object *(*job)(void *ctx, uint32_t step);
    /** Returns how long a loop took, in milliseconds; -1: not known. */
    int64_t (*loop_took)(void *ctx, uint32_t step);
    void *ctx;
    int64_t flow_took_ms; /* how long the flow took; -1: not known */
};

/** Returns the JSON of status.criticalPath (owned): {steps, duration, ends}; NULL when nothing has
 * run. The duration is the time that was spent in steps of the path, each moment once: a step that
 * went on while its dependent ran, because of a probe, counts until the dependent began. O(steps +
 * edges). */
char *critical_path_text(const struct flow_model *m, const struct path_source *source);

/** Returns the JSON of criticalPath in a stored status (owned); NULL when it has none. */
char *critical_path_stored(const json_t *status);
