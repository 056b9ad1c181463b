#pragma once
/*
 * What a step works on: the key of its work, its files, and the results of its targets.
 */
#include "flow/internal.h"

struct reuse_scan;
struct reuse_target;

/** Makes the scan of the files of a step whose job has this specification. Owned. Where files cannot
 * be had, the scan finds out. */
struct reuse_scan *flow_reuse_scan(struct flow *flow, uint32_t step, const json_t *job_spec);
/** Returns the results of the step's direct targets, [*out_count], with texts from the scan's arena,
 * and adds to the scan what has to be scanned for them. */
struct reuse_target *flow_reuse_targets(struct flow *flow, uint32_t step, struct reuse_scan *scan,
                                        size_t *out_count);
/** Makes key and body of the step's work, which `job` does ({"spec": …}). False with `err` if a part
 * of it cannot be had. */
bool flow_reuse_key(struct flow *flow, uint32_t step, const json_t *job, struct reuse_draft *out,
                    struct error *err);
