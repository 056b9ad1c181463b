#pragma once
/*
 * The critical path of a flow that has run: the chain of steps each of which waited for the one
 * before it, ending with the last step to end. Shortening anything else would not have shortened
 * the flow.
 */
#include "flow/graph.h"

struct step_times {
    int64_t start_ms;
    int64_t end_ms; /* 0 = has not ended: not on the path */
};

/** Write the path's steps in order into `out` (room for graph->steps); returns how many. `times` is
 * [graph->steps]. O(steps + edges). */
uint32_t flow_critical_path(const struct flow_graph *graph, const struct step_times *times,
                            uint32_t *out);
