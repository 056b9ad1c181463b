/*
 * The default limits and the hard limits, as two constants of the same struct.
 */
#include "api/types/limits.h"

/* Columns: limit, default, hard maximum. */
/* clang-format off */
#define LIMITS(X)                               \
    X(flow_steps,         100000,    1000000)   \
    X(flow_edges,         1000000,   10000000)  \
    X(step_probes,        64,        256)       \
    X(job_tasks,          100,       500)       \
    X(job_replicas,       10000,     100000)    \
    X(retries,            100,       1000)      \
    X(label_count,        256,       256)       \
    X(annotation_bytes,   256 << 10, 256 << 10) \
    X(data_bytes,         1 << 20,   1 << 20)   \
    X(probe_path,         2 << 10,   2 << 10)   \
    X(probe_header_name,  256,       256)       \
    X(probe_header_value, 4 << 10,   4 << 10)   \
    X(argument_bytes,     96 << 10,  128 << 10) \
    X(arguments_bytes,    1 << 20,   2 << 20)   \
    X(pod_containers,     32,        32)        \
    X(pod_volumes,        64,        64)        \
    X(container_mounts,   128,       128)
/* clang-format on */

#define DEFAULT(what, usual, most) .what = (usual),
#define HARD(what, usual, most)    .what = (most),

const struct limits limits_default = {LIMITS(DEFAULT)};
const struct limits limits_hard = {LIMITS(HARD)};

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
