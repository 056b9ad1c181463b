#pragma once
/*
 * States of a flow in its controller, and which may follow which: whether its model is live, and the
 * write of its status that is wanted or in flight. They change independently. The setters are the
 * only writers; an edge that the tables lack is a bug and ends the process.
 */
#include <stdbool.h>

enum flow_opening {
    FLOW_CLOSED,   /* finished, stored, no job unfinished: only the object is kept */
    FLOW_OPEN,     /* the model is live */
    FLOW_UNUSABLE, /* the graph cannot be run, so the flow has no model */
    FLOW_GONE,     /* the object is deleted; the flow is freed when its calls are back */
    FLOW_OPENING_N
};

/* One write of the status is in flight at a time. */
enum status_write {
    STATUS_STORED,     /* nothing is to be written */
    STATUS_WAITING,    /* the status will be written when the window or a pause after a failure is
                        * over */
    STATUS_DUE,        /* the status will be written at once */
    STATUS_SENT,       /* a write is in flight */
    STATUS_SENT_AGAIN, /* a write is in flight, and WAITING follows */
    STATUS_SENT_DUE,   /* a write is in flight, and DUE follows */
    STATUS_WRITE_N
};

bool flow_opening_follows(enum flow_opening from, enum flow_opening to);
bool status_write_follows(enum status_write from, enum status_write to);

/** Sets a state. An edge that is not legal ends the process. */
void flow_opening_set(enum flow_opening *opening, enum flow_opening to);
void status_write_set(enum status_write *write, enum status_write to);

static inline bool status_write_in_flight(enum status_write write)
{
    return write >= STATUS_SENT;
}
/** Returns whether there is a change that the write in flight does not cover. */
static inline bool status_write_wanted(enum status_write write)
{
    return write != STATUS_STORED && write != STATUS_SENT;
}
/** A change is to be written, if not earlier then after the write in flight. */
static inline void status_write_want(enum status_write *write)
{
    if (!status_write_wanted(*write))
        status_write_set(write, *write == STATUS_SENT ? STATUS_SENT_AGAIN : STATUS_WAITING);
}
