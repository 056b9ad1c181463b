#pragma once
/*
 * Teams: the PodGroups of the jobs of a flow's gang (spec.gangs), admitted all or none.
 *
 * A team is *whole* when every unfinished job of its gang has its PodGroup and no queue of those
 * that wait is closed. Until then none of them stands in a line; then whichever comes first in its
 * line is served for all. A job that starts again later is alone in waiting, and admitted alone.
 *
 * A gang that needs fewer than all of its jobs (minAvailable) is whole as soon as so many can be
 * admitted, and is admitted with the smallest of them; from then on every other job goes alone.
 * Ref: spec/jobflow.md 13.6.
 */
#include <sys/queue.h>

#include "base/hash.h"
#include "node/amount.h"

struct group;
struct queue;
struct scheduler;

struct team {
    UT_hash_handle hh; /* by namespace/annotation */
    struct scheduler *scheduler;
    LIST_HEAD(team_mates, group) mates;
    struct team_job *jobs;
    size_t unfinished, missing; /* of them; and those without a PodGroup */
    size_t least;               /* that start together; 0: all */
    bool formed;                /* so many have been admitted */
    bool whole;
    char key[];
};

/** Whatever team the group's object names: none, mostly. */
void team_enter(struct group *group);
void team_leave(struct group *group);

/** Look again whether it is whole; its mates are touched when that has changed. */
void team_review(struct team *team);

/** The group would be admitted with others, not alone. */
bool team_holds(const struct group *group);
/** What those that go together need. */
struct amount team_need(const struct team *team);
/** The queue whose limit keeps them from being admitted together, now or (`ever`) at all; NULL. */
struct queue *team_limiter(const struct team *team, bool ever);
/** They go: `admit` each. */
void team_admit(struct team *team, void (*admit)(struct group *group));

void teams_release(struct scheduler *scheduler);
