/*
 * Default and hard limits.
 */
#include "api/types/limits.h"

const struct limits limits_default = {
    .flow_steps = 100000,
    .flow_edges = 1000000,
    .step_probes = 64,
    .job_tasks = 100,
    .job_replicas = 10000,
    .retries = 100,
    .label_count = 256,
    .annotation_bytes = 256 << 10,
    .data_bytes = 1 << 20,
    .probe_path = 2 << 10,
    .probe_header_name = 256,
    .probe_header_value = 4 << 10,
    .argument_bytes = 96 << 10,
    .arguments_bytes = 1 << 20,
    .pod_containers = 32,
    .pod_volumes = 64,
    .container_mounts = 128,
};

const struct limits limits_hard = {
    .flow_steps = 1000000,
    .flow_edges = 10000000,
    .step_probes = 256,
    .job_tasks = 500,
    .job_replicas = 100000,
    .retries = 1000,
    .label_count = 256,
    .annotation_bytes = 256 << 10,
    .data_bytes = 1 << 20,
    .probe_path = 2 << 10,
    .probe_header_name = 256,
    .probe_header_value = 4 << 10,
    .argument_bytes = 128 << 10,
    .arguments_bytes = 2 << 20,
    .pod_containers = 32,
    .pod_volumes = 64,
    .container_mounts = 128,
};

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

void limits_for_flows(struct limits *out, int64_t steps)
{
    *out = limits_default;
    if (steps <= 0)
        return;
    out->flow_steps = at_most(steps, limits_hard.flow_steps);
    out->flow_edges = at_most(out->flow_steps * (limits_hard.flow_edges / limits_hard.flow_steps),
                              limits_hard.flow_edges);
    if (out->flow_edges < limits_default.flow_edges)
        out->flow_edges = limits_default.flow_edges;
}
