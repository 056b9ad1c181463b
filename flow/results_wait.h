#pragma once
/*
 * Waits for the pods of a finished job. On a cluster the end of a job and the ends of its pods are
 * seen in any order; results that are gathered too early would lack outputs. Ref: spec/cluster.md
 * 7.2.
 */
#include "flow/internal.h"

/** Returns whether the results of a finished job (borrowed) can be gathered now. If not, its pods are
 * read anew, and flow_job_changed is called for the job after that. */
bool flow_results_are_whole(struct flow *flow, const struct object *job);
/** Forgets the job, whose results are gathered now. Returns whether its pods were read anew. */
bool flow_results_gathered(struct flow *flow, const struct object *job);
/** Returns whether pods are being read. */
bool flow_results_reading(const struct flow *flow);
void flow_results_stop(struct flow *flow); /* forgets all jobs */
