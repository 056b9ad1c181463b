#pragma once
/*
 * What programs that show a flow live are told of it: the flow itself, and each of its steps, as
 * JSON. The page reads both from its stream, and a report has both in its file.
 *
 * Members whose value is not known, or is 0, are absent. Times are milliseconds since the epoch.
 */
#include "view/flow_view.h"

/** Returns the flow: phase, reason, message, remark, counts by state, times, uid, resourceVersion.
 * `doc` is its document, without which the last two are not known; NULL is fine. Owned. */
json_t *flow_line(const struct flow_view *view, const json_t *doc);
/** Returns a step: name, state, attempts, times, reason, the name of its newest job. Owned. */
json_t *flow_line_step(const struct flow_view_step *step);
