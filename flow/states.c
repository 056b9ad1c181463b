/*
 * The tables of legal edges: a row for each state, a bit for each state that may follow it. Staying
 * in a state is no edge.
 */
#include "flow/states.h"

#include <assert.h>

#define TO(state) (1u << (state))

static const unsigned opening_edges[FLOW_OPENING_N] = {
    [FLOW_CLOSED] = TO(FLOW_OPEN) | TO(FLOW_GONE),
    [FLOW_OPEN] = TO(FLOW_CLOSED) | TO(FLOW_UNUSABLE) | TO(FLOW_GONE),
    [FLOW_UNUSABLE] = TO(FLOW_OPEN) | TO(FLOW_GONE),
};

/* WAITING goes back to STORED when the rendered status is the stored one. */
static const unsigned write_edges[STATUS_WRITE_N] = {
    [STATUS_STORED] = TO(STATUS_WAITING) | TO(STATUS_DUE),
    [STATUS_WAITING] = TO(STATUS_STORED) | TO(STATUS_DUE) | TO(STATUS_SENT),
    [STATUS_DUE] = TO(STATUS_STORED) | TO(STATUS_WAITING) | TO(STATUS_SENT),
    [STATUS_SENT] = TO(STATUS_STORED) | TO(STATUS_SENT_AGAIN) | TO(STATUS_SENT_DUE),
    [STATUS_SENT_AGAIN] = TO(STATUS_WAITING) | TO(STATUS_SENT_DUE),
    [STATUS_SENT_DUE] = TO(STATUS_DUE),
};

bool flow_opening_follows(enum flow_opening from, enum flow_opening to)
{
    return opening_edges[from] >> to & 1;
}

bool status_write_follows(enum status_write from, enum status_write to)
{
    return write_edges[from] >> to & 1;
}

void flow_opening_set(enum flow_opening *opening, enum flow_opening to)
{
    assert(flow_opening_follows(*opening, to));
    *opening = to;
}

void status_write_set(enum status_write *write, enum status_write to)
{
    assert(status_write_follows(*write, to));
    *write = to;
}
