/*
 * From the last end backwards, each time to the target that ended last.
 */
#include "flow/critical_path.h"

static uint32_t last_to_end(const struct step_times *times, uint32_t steps)
{
    uint32_t last = STEP_NONE;

    for (uint32_t i = 0; i < steps; i++)
        if (times[i].end_ms && (last == STEP_NONE || times[i].end_ms > times[last].end_ms))
            last = i;
    return last;
}

static uint32_t last_target(const struct flow_graph *graph, const struct step_times *times,
                            uint32_t step)
{
    uint32_t last = STEP_NONE;

    for (size_t t = 0; t < flow_graph_targets(graph, step); t++) {
        uint32_t target =
            flow_graph_find(graph, flow_graph_step(graph, step)->depends->targets.items[t]);

        if (times[target].end_ms &&
            (last == STEP_NONE || times[target].end_ms > times[last].end_ms))
            last = target;
    }
    return last;
}

uint32_t flow_critical_path(const struct flow_graph *graph, const struct step_times *times,
                            uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t step = last_to_end(times, graph->steps); step != STEP_NONE;
         step = last_target(graph, times, step))
        out[count++] = step;
    for (uint32_t i = 0; i < count / 2; i++) { /* found backwards */
        uint32_t swapped = out[i];

        out[i] = out[count - 1 - i];
        out[count - 1 - i] = swapped;
    }
    return count;
}
