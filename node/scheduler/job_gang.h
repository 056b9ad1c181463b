#pragma once
/*
 * Job gangs: PodGroups of the jobs in one of a flow's spec.gangs, admitted all or none.
 *
 * A gang is *whole* when every unfinished job has its PodGroup and none of the waiting PodGroups is
 * in a closed queue. Until then none of its PodGroups is queued. Once the gang is whole, the first
 * of them to reach the head of its queue is served on behalf of all. A job that starts again after
 * the gang's admission is admitted alone.
 *
 * A gang with minAvailable is whole as soon as that many jobs can be admitted. The scheduler then
 * admits the smallest of them together; every later job is admitted alone.
 * Ref: spec/jobflow.md 13.6.
 */
#include <sys/queue.h>

#include "base/collections/hash.h"
#include "node/machine/amount.h"

struct group;
struct queue;
struct scheduler;

/* State of a PodGroup, as counted by its gang. */
enum gang_standing {
    STANDING_ABSENT,
    STANDING_WAITS, /* the PodGroup waits in an open queue */
    STANDING_HELD,  /* the PodGroup waits in a closed queue */
    STANDING_ADMITTED,
    STANDING_N
};

struct job_gang {
    UT_hash_handle hh; /* links the gangs in a hash table by namespace and gang name */
    struct scheduler *scheduler;
    LIST_HEAD(gang_groups, group) groups;
    struct gang_job *jobs;
    size_t unfinished, missing; /* number of unfinished jobs; number of those without a PodGroup */
    size_t min_available;       /* how many jobs start together; 0: all */
    size_t groups_by[STANDING_N];
    bool formed; /* the first `min_available` jobs were admitted */
    bool whole;

    bool selection_valid; /* group->selected and the fields below are up to date */
    struct amount need;
    struct queue *queue; /* queue of the selected groups, if they share one; else NULL */
    bool one_queue;
    char key[];
};

/** Adds the group to the gang named in its object's annotations, if any. */
void job_gang_enter(struct group *group);
/** Removes the group from its gang, if any. The gang is freed with its last group and job. */
void job_gang_leave(struct group *group);

/** Updates the gang after a change of the group's stage, queue or resources. O(1), except when the
 * gang becomes whole or ceases to be: then all its groups are scheduled again. */
void job_gang_update(struct group *group);

/** Returns true if the group would be admitted together with its gang, false if alone. */
bool job_gang_admits_together(const struct group *group);
/** Returns the resources to reserve for all selected groups together. */
struct amount job_gang_need(struct job_gang *gang);
/** Returns the queue whose limit prevents the selected groups from being admitted together, either
 * now or, if `ever`, even when the queue is empty. Returns NULL if there is none. */
struct queue *job_gang_limiter(struct job_gang *gang, bool ever);
/** Calls `admit` for each selected group. */
void job_gang_admit(struct job_gang *gang, void (*admit)(struct group *group));

/** Frees all gangs. Called when the scheduler stops. */
void job_gangs_release(struct scheduler *scheduler);
