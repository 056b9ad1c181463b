#pragma once
/*
 * How long the loops of a flow took, to the millisecond. Jobs have times in whole seconds, so what
 * is stored of a loop's iterations cannot tell it.
 *
 * A loop begins with its first job and ends when it is over; when it runs again after a manual
 * retry it begins anew. Of a loop that began before this process did, nothing is known unless its
 * end is in the status.
 */
#include <jansson.h>

#include "flow/model/flow_model.h"

struct loop_time;

struct loop_times {
    struct loop_time *by_name;
};

/** Takes over the durations in a stored status. */
void loop_times_restore(struct loop_times *times, const json_t *status);
/** A job of step `iteration` has changed, at `now_ms` of a clock that only goes forwards. `is_new`:
 * it has been created. Steps that are no iterations are ignored. O(1). */
void loop_times_job_changed(struct loop_times *times, const struct flow_model *m,
                            uint32_t iteration, bool is_new, int64_t now_ms);
/** Closes the times of loops that are over. O(loops). */
void loop_times_close(struct loop_times *times, const struct flow_model *m, int64_t now_ms);
/** Returns how long the loop took, in milliseconds; -1: it is not over, or that is not known. */
int64_t loop_times_took(const struct loop_times *times, const char *loop);
void loop_times_release(struct loop_times *times);
