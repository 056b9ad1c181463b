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
#include "node/machine/amount.h"

struct group;
struct queue;
struct scheduler;

/* What a team counts its mates by. */
enum mate_standing {
    MATE_ABSENT,
    MATE_WAITS, /* and would be taken */
    MATE_HELD,  /* waits in a queue that is closed */
    MATE_ADMITTED,
    MATE_STANDINGS
};

struct team {
    UT_hash_handle hh; /* by namespace/annotation */
    struct scheduler *scheduler;
    LIST_HEAD(team_mates, group) mates;
    struct team_job *jobs;
    size_t unfinished, missing; /* of them; and those without a PodGroup */
    size_t least;               /* that start together; 0: all */
    size_t mates_by[MATE_STANDINGS];
    bool formed; /* `least` have been admitted */
    bool whole;

    bool chosen; /* the marks of its mates and what follows are as of now */
    struct amount need;
    struct queue *queue; /* of those that go, if it is one for all */
    bool one_queue;
    char key[];
};

/** Whatever team the group's object names: none, mostly. */
void team_enter(struct group *group);
void team_leave(struct group *group);

/** The group's stage, its queue or what it asks for may have changed. O(1), unless the team becomes
 * whole by that, or is no longer: then all its mates are touched. */
void team_see(struct group *group);

/** The group would be admitted with others, not alone. */
bool team_holds(const struct group *group);
/** What those that go together need. */
struct amount team_need(struct team *team);
/** The queue whose limit keeps them from being admitted together, now or (`ever`) at all; NULL. */
struct queue *team_limiter(struct team *team, bool ever);
/** They go: `admit` each. */
void team_admit(struct team *team, void (*admit)(struct group *group));

void teams_release(struct scheduler *scheduler);
