/*
 * The tables of legal edges: a row for each state, a bit for each state that may follow it. Staying
 * in a state is no edge.
 */
#include "node/shim/states.h"

#include <assert.h>

#define TO(state) (1u << (state))

static const unsigned life_edges[POD_LIFE_N] = {
    [LIFE_ACTIVE] = TO(LIFE_ENDING),
    [LIFE_ENDING] = TO(LIFE_FINAL),
};

static const unsigned listing_edges[POD_LISTING_N] = {
    [LISTED_NOWHERE] = TO(LISTED_UNRECORDED) | TO(LISTED_DUE),
    [LISTED_UNRECORDED] = TO(LISTED_NOWHERE),
    [LISTED_DUE] = TO(LISTED_NOWHERE),
};

static const unsigned run_edges[CONTAINER_RUN_N] = {
    [RUN_NONE] = TO(RUN_STARTING),
    [RUN_STARTING] = TO(RUN_UP) | TO(RUN_STOPPING_EARLY) | TO(RUN_NONE),
    [RUN_UP] = TO(RUN_STOPPING) | TO(RUN_NONE),
    [RUN_STOPPING_EARLY] = TO(RUN_STOPPING) | TO(RUN_NONE),
    [RUN_STOPPING] = TO(RUN_NONE),
};

bool pod_life_follows(enum pod_life from, enum pod_life to)
{
    return life_edges[from] >> to & 1;
}

bool pod_listing_follows(enum pod_listing from, enum pod_listing to)
{
    return listing_edges[from] >> to & 1;
}

bool container_run_follows(enum container_run from, enum container_run to)
{
    return run_edges[from] >> to & 1;
}

void pod_life_set(enum pod_life *life, enum pod_life to)
{
    assert(pod_life_follows(*life, to));
    *life = to;
}

void pod_listing_set(enum pod_listing *listing, enum pod_listing to)
{
    assert(pod_listing_follows(*listing, to));
    *listing = to;
}

void container_run_set(enum container_run *run, enum container_run to)
{
    assert(container_run_follows(*run, to));
    *run = to;
}
