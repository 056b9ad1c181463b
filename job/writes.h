#pragma once
/*
 * States of the writes that a job has in flight one at a time: its own object and its PodGroup.
 *
 * Each state is an enum with a table of legal edges and one setter. The setter ends the process on
 * an edge that the table lacks, because a second write on the same call would lose the answer to
 * the first. Writes of pods need no such state: each has a call of its own (job/pod_writes.c).
 */
#include <stdbool.h>

/* The write of the job's own object. */
enum job_write {
    WRITE_NONE,
    WRITE_RESUME, /* the annotations that count a resume, before it is decided (O-34) */
    WRITE_STATUS, /* a status with the same phase */
    WRITE_PHASE,  /* a status with a new phase */
    JOB_WRITE_N
};

/* What is known about the PodGroup, and the write of it in flight. */
enum job_podgroup_state {
    GROUP_UNCHECKED, /* the spec of the PodGroup must still be compared with what the job asks
                      * for */
    GROUP_CHECKED,   /* the spec of the PodGroup is as the job asks */
    GROUP_CREATING,
    GROUP_UPDATING,
    GROUP_REMOVING,
    GROUP_REMOVED, /* the removal was accepted; the object has not left the cache yet */
    JOB_PODGROUP_STATE_N
};

bool job_write_edge(enum job_write from, enum job_write to);
bool job_podgroup_edge(enum job_podgroup_state from, enum job_podgroup_state to);

/** Sets the state of a write. An edge that is not legal ends the process. */
void job_write_set(enum job_write *write, enum job_write to);
void job_podgroup_set(enum job_podgroup_state *group, enum job_podgroup_state to);

/** Returns whether a write of the PodGroup is in flight. */
static inline bool job_podgroup_writing(enum job_podgroup_state group)
{
    return group == GROUP_CREATING || group == GROUP_UPDATING || group == GROUP_REMOVING;
}
/** The PodGroup or the job's spec changed: compare them again. A write in flight ends in
 * GROUP_UNCHECKED anyway. */
static inline void job_podgroup_recheck(enum job_podgroup_state *group)
{
    if (*group == GROUP_CHECKED)
        job_podgroup_set(group, GROUP_UNCHECKED);
}
