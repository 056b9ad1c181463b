#pragma once
/*
 * States of a pod and of a container's run in the shim, and which may follow which. The setters are
 * the only writers; an edge that the tables lack is a bug and ends the process.
 */
#include <stdbool.h>

/* The life of a pod. */
enum pod_life {
    LIFE_ACTIVE, /* containers are started as pod_decide says */
    LIFE_ENDING, /* none is started any more; those that run are stopped */
    LIFE_FINAL,  /* all has ended: its status is the last one */
    POD_LIFE_N
};

/* The list of the shim that a pod is in. */
enum pod_listing {
    LISTED_NOWHERE,
    LISTED_UNRECORDED, /* shim.unrecorded: its START is not on disk yet, so it is not stepped */
    LISTED_DUE,        /* shim.due: it is stepped at the end of the turn */
    POD_LISTING_N
};

/* One run of a container. */
enum container_run {
    RUN_NONE,     /* there is no process */
    RUN_STARTING, /* there is one, but the program or its postStart hook is not done */
    RUN_UP,
    RUN_STOPPING_EARLY, /* STARTING, and it is to stop */
    RUN_STOPPING,       /* its preStop hook runs, or TERM was sent */
    CONTAINER_RUN_N
};

bool pod_life_follows(enum pod_life from, enum pod_life to);
bool pod_listing_follows(enum pod_listing from, enum pod_listing to);
bool container_run_follows(enum container_run from, enum container_run to);

/** Set a state; the edge must be legal. */
void pod_life_set(enum pod_life *life, enum pod_life to);
void pod_listing_set(enum pod_listing *listing, enum pod_listing to);
void container_run_set(enum container_run *run, enum container_run to);

static inline bool container_run_starting(enum container_run run)
{
    return run == RUN_STARTING || run == RUN_STOPPING_EARLY;
}
static inline bool container_run_stopping(enum container_run run)
{
    return run == RUN_STOPPING || run == RUN_STOPPING_EARLY;
}
