#pragma once
/*
 * States of a pod and of a container's run in the shim, and which may follow which. The setters are
 * the only writers; an edge that the tables lack is a bug and ends the process.
 */
#include <stdbool.h>

/* The states in the life of a pod. */
enum pod_life {
    LIFE_ACTIVE, /* the pod's containers are started as pod_decide says */
    LIFE_ENDING, /* no container is started any more, and those that run are stopped */
    LIFE_FINAL,  /* all of the pod has ended, and its status is the last one */
    POD_LIFE_N
};

/* The list of the shim that a pod is in. */
enum pod_listing {
    LISTED_NOWHERE,
    LISTED_UNRECORDED, /* the pod is in shim.unrecorded: its START is not on disk yet, so it is not
                        * stepped */
    LISTED_DUE,        /* the pod is in shim.due: it is stepped at the end of the turn */
    POD_LISTING_N
};

/* The states of one run of a container. */
enum container_run {
    RUN_NONE,     /* the container has no process */
    RUN_STARTING, /* the container has a process, but its program or its postStart hook is not
                   * done */
    RUN_UP,
    RUN_STOPPING_EARLY, /* as STARTING, and the container is to stop */
    RUN_STOPPING,       /* the container's preStop hook runs, or TERM was sent */
    CONTAINER_RUN_N
};

bool pod_life_follows(enum pod_life from, enum pod_life to);
bool pod_listing_follows(enum pod_listing from, enum pod_listing to);
bool container_run_follows(enum container_run from, enum container_run to);

/** Sets the state, which the tables of states.c must allow to follow the present one. Any other change
 * is a mistake of the program and ends the process. */
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
