#pragma once
/*
 * The steps that a request to run an ended flow again names: which vertices of the graph they are.
 *
 *   from, edited   the steps named, and all that depend on them, directly or through others; what
 *                  a switch lists depends on it
 *   only           the steps named
 *
 * A loop stands for all of its iterations. `<loop>-<i>` names one iteration; what depends on it is
 * what depends on its loop. Ref: spec/everyday.md 7.1.
 */
#include "flow/graph/graph.h"
#include "flow/graph/step_set.h"

/** Adds the vertices that the request names to `out`, an initialised set of graph->steps. A name
 * that the graph does not have is left out. O(steps + edges). */
void step_selection_add(const struct flow_graph *graph, const struct flow_rerun *rerun,
                        struct step_set *out);
/** Adds the steps of the set `roots` and all that depend on them. */
void step_selection_add_from(const struct flow_graph *graph, const struct step_set *roots,
                             struct step_set *out);
