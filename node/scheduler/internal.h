#pragma once
/*
 * The scheduler's inside, shared by its files:
 *
 *   scheduler.c         its life; nodes, queues and classes change
 *   records.c pods and groups come and go: records, counts, who is touched
 *   pass.c    decides: one pass per turn over what was touched and the heads of the lines
 *   capacity.c    what groups are charged with, whether there is room, what is said if not
 *   evict.c   whom to push out
 *   job_gang.c    groups that are admitted together
 *   write.c   carries out: bindings, evictions, phases
 *   metrics.c counts it for /metrics
 */
#include "node/scheduler/bind.h"
#include "node/scheduler/group.h"
#include "node/scheduler/job_gang.h"
#include "node/scheduler/metrics.h"
#include "node/scheduler/scheduler.h"

enum {
    TELL_DELAY_MS = 50,      /* phases nobody waits for: what is over by then is never written */
    REFUSAL_DELAY_MS = 1000, /* a head that waits longer is told why */
    REFRESH_DELAY_MS = 5000, /* and again when the figures have changed */
    RETRY_DELAY_MS = 1000,
};

#define SCHEDULER_COMPONENT "volcano" /* source of its events, as upstream's */

struct scheduler {
    struct cluster *cluster;
    struct scheduler_figures figures;
    struct places places;
    struct amount ahead_capacity;
    struct amount used;  /* sum of the groups' charges */
    int64_t open_gangs;  /* groups that hold a reservation for several pods, or a claim */
    bool gang_waits;     /* in this pass a gang was refused: nobody is bound ahead of it */
    uint64_t placements; /* grows with every place taken or given back */

    LIST_HEAD(scheduler_victims, group) victims; /* groups with pods that may be pushed out */
    struct group *claimants;                     /* groups served before the lines */
    int64_t evicting;                            /* pods that were and are not gone yet */

    struct queues queues;
    struct team *teams;
    struct group *groups;
    struct member *members;

    struct task pass;
    struct group *touched, **touched_tail;
    struct timer refusal;

    struct timer tell;
    TAILQ_HEAD(telling_groups, group) dirty; /* their status is written when `tell` fires */
    struct blob *inqueue;                    /* the status every admitted group gets */

    struct timer cooled; /* pods that may not be pushed out yet may be then */
    struct timer retry;  /* bindings that failed for reasons of the store */

    struct cluster_watcher queue_watcher, class_watcher, group_watcher, pod_watcher, node_watcher;
    struct cluster_watcher job_watcher; /* once there is a team */
    size_t calls; /* under way; the last one to end frees a stopped scheduler */
    bool stopped;
};

/* scheduler.c */
void scheduler_call_done(struct scheduler *scheduler);

/* records.c */
void scheduler_group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                             const struct object *old, const struct object *object);
void scheduler_pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object);
/** The group is as its object says, and as queue and priority class are now. */
void group_see(struct group *group, const struct object *object);
/** It can go nowhere, or can again; nothing that has schedulingGates can. */
void member_fit(struct member *member, const struct pod_spec *spec);
void group_touch(struct group *group);
void member_move(struct member *member, enum member_state state, bool deleting);
void member_mark_evicted(struct member *member);
void member_unevict(struct member *member);
void member_drop(struct member *member); /* out of the counts; freed once nothing is under way */
/** The object is gone: nobody asks for its finished pods any more, and without others for it. */
void group_drop(struct group *group);

/* pass.c */
void scheduler_pass(struct task *task);

/* capacity.c */
enum verdict { GRANTED, NO_ROOM, QUEUE_FULL, NEVER };

/** Bring what queues and node are charged with up to date with the group. */
void group_charge(struct group *group);
/** Before it joins its line. */
void group_rank(struct group *group);
void group_grant(struct group *group, struct amount reserve);
/** It is served before the lines: others are on their way out for it (`claim` is what they leave),
 * or what is reserved for it lies in pieces. */
void group_claim(struct group *group, struct amount claim);
/** What admission would reserve, or what the next members need together. */
struct amount group_need(struct group *group);
/** NEVER sets the group aside and says why; QUEUE_FULL names the queue whose limit it is. */
enum verdict scheduler_judge(struct scheduler *scheduler, struct group *group, struct amount need,
                             struct queue **limiter);
/** Not even one pod fits. */
bool scheduler_is_full(const struct scheduler *scheduler);
/** The line the group heads has no room; `message` (owned) or NULL while it is too early to tell.
 */
void group_refuse(struct group *group, char *message);
void group_clear_refusal(struct group *group);
/** Refused for now; it is told why if that lasts. */
void group_waits(struct group *group);
void scheduler_refusal_due(struct timer *timer);

/* evict.c */
/** Push out pods so that the group gets `need`, which then is its claim. False: nobody may be, or
 * it would not be enough. */
bool scheduler_make_room(struct scheduler *scheduler, struct group *group, struct amount need);
void scheduler_cooled(struct timer *timer);

/* write.c */
void member_bind(struct member *member);
/** Delete the pod; `why` is for its event. */
void member_evict(struct member *member, const char *reason, const char *why);
void member_tell_unschedulable(struct member *member, const char *message);
void group_tell_admitted(struct group *group);
void group_tell_later(struct group *group);
void group_tell_no_more(struct group *group); /* its object is gone */
void scheduler_tell(struct timer *timer);
void scheduler_retry(struct timer *timer);
