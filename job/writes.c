/*
 * The tables of legal edges and the setters. Staying in a state is no edge.
 */
#include "job/writes.h"

#include <assert.h>

#define BIT(state) (1u << (state))

/* clang-format off */
static const unsigned write_edges[JOB_WRITE_N] = {
    [WRITE_NONE]   = BIT(WRITE_RESUME) | BIT(WRITE_STATUS) | BIT(WRITE_PHASE),
    [WRITE_RESUME] = BIT(WRITE_NONE),
    [WRITE_STATUS] = BIT(WRITE_NONE),
    [WRITE_PHASE]  = BIT(WRITE_NONE),
};

static const unsigned podgroup_edges[JOB_PODGROUP_STATE_N] = {
    [GROUP_UNCHECKED] = BIT(GROUP_CHECKED) | BIT(GROUP_CREATING) | BIT(GROUP_UPDATING) | BIT(GROUP_REMOVING),
    [GROUP_CHECKED]   = BIT(GROUP_UNCHECKED) | BIT(GROUP_REMOVING),
    [GROUP_CREATING]  = BIT(GROUP_UNCHECKED),
    [GROUP_UPDATING]  = BIT(GROUP_UNCHECKED),
    [GROUP_REMOVING]  = BIT(GROUP_UNCHECKED) | BIT(GROUP_REMOVED),
    [GROUP_REMOVED]   = BIT(GROUP_UNCHECKED),
};
/* clang-format on */

bool job_write_edge(enum job_write from, enum job_write to)
{
    return write_edges[from] & BIT(to);
}

bool job_podgroup_edge(enum job_podgroup_state from, enum job_podgroup_state to)
{
    return podgroup_edges[from] & BIT(to);
}

void job_write_set(enum job_write *write, enum job_write to)
{
    assert(job_write_edge(*write, to));
    *write = to;
}

void job_podgroup_set(enum job_podgroup_state *group, enum job_podgroup_state to)
{
    assert(job_podgroup_edge(*group, to));
    *group = to;
}
