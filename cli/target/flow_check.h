#pragma once
/*
 * Finds what Volcano's JobFlow has no means for, each by name with a way out, and what the flows of
 * a cluster have otherwise than here. Ref: spec/everyday.md 3.4; spec/cluster.md 7.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "cli/target/target.h"

/** Adds the findings about a flow's document with paths below it. `spec` is its decoded spec. */
void target_check_flow(const struct target *target, const json_t *flow,
                       const struct jobflow_spec *spec, struct error_list *errors,
                       struct error_list *warnings);

/** Adds an error when the flow's spec leaves no room for its status in an object of the cluster. */
void target_check_size(const struct target *target, const json_t *flow, struct error_list *errors);

/** Returns whether the loop can be written as steps: its items are known, and all may run at
 * once. */
bool target_loop_unrolls(const struct flow_loop *loop);

/** The first member of a flow's document that Volcano does not know, although what it means can be
 * written otherwise: a path into `out`. False: there is none. */
bool target_flow_differs(const json_t *flow, char *out, size_t size);
