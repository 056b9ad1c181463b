#pragma once
/*
 * Private declarations of the scheduler, shared by its source files:
 *
 *   scheduler.c  starts and stops; handles changes of nodes, queues and priority classes
 *   records.c    keeps one record per PodGroup and pod, from watch events
 *   pass.c       decides: one scheduling pass per turn, over changed groups and queue heads
 *   place.c      finds nodes for pods, binds them, and admits groups
 *   capacity.c   accounts for what groups use and decides whether a group fits
 *   reserve.c    decides who may start before a group that waits
 *   evict.c      chooses victims for preemption and reclaim
 *   job_gang.c   admits the PodGroups of a flow's gang together
 *   write.c      writes bindings, evictions and PodGroup statuses
 *   metrics.c    counts for /metrics
 */
#include "node/scheduler/bind.h"
#include "node/scheduler/group.h"
#include "node/scheduler/job_gang.h"
#include "node/scheduler/metrics.h"
#include "node/scheduler/scheduler.h"

enum {
    REPORT_DELAY_MS = 50,    /* delay of status writes; a state that is over before then is never
                              * written */
    REFUSAL_DELAY_MS = 1000, /* how long a queue's head waits before its status gives the reason */
    REFRESH_DELAY_MS = 5000, /* interval at which the reason of a refusal is refreshed */
    RETRY_DELAY_MS = 1000,
};

#define SCHEDULER_COMPONENT "volcano" /* the component named in events, as in Volcano */

struct scheduler {
    struct cluster *cluster;
    struct scheduler_metrics metrics;
    struct node_set node_set;
    struct amount ahead_capacity;
    struct amount used; /* sum of what all groups are charged */
    int64_t open_gangs; /* number of groups that hold a reservation for several pods, or a claim */
    bool head_waits;    /* the nodes refused the first group of a queue in this pass, so
                                 * no pod is bound ahead of it */
    struct backfill backfill;   /* amount reserved on the nodes for the first group of a queue */
    int backfills;              /* number of reservations, those within queues included */
    uint64_t stamp;             /* logical time, which increases with each reservation */
    uint64_t placement_changes; /* incremented whenever a pod takes or frees capacity */

    LIST_HEAD(scheduler_victims, group) victims; /* groups with preemptable pods */
    struct group *claimants;                     /* groups with a claim; they are served before
                                                  * the queues */
    int64_t evicting; /* number of pods that are evicted but not gone yet */

    struct queues queues;
    struct job_gang *job_gangs;
    struct group *groups;
    struct member *members;

    struct task pass;
    struct group *touched, **touched_tail;
    struct timer refusal;

    struct timer report;
    TAILQ_HEAD(dirty_groups, group) dirty; /* groups whose status is written when `report` fires */
    struct blob *inqueue;                  /* the status of a newly admitted group, shared by all
                                            * groups */

    struct timer cooled; /* fires when a pod's eviction cooldown ends */
    struct timer retry;  /* retries bindings that the store failed to write */

    struct cluster_watcher queue_watcher, class_watcher, group_watcher, pod_watcher, node_watcher;
    struct cluster_watcher job_watcher; /* active once a job gang exists */
    size_t calls; /* number of store calls in flight; the last one to end frees a stopped
                   * scheduler */
    bool stopped;
};

/* Defined in scheduler.c. Ends a store call; frees a stopped scheduler after the last one. */
void scheduler_call_done(struct scheduler *scheduler);

/* Defined in records.c. These functions handle watch events. */
void scheduler_group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                             const struct object *old, const struct object *object);
void scheduler_pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object);
/** Updates the record from the PodGroup object and from its current queue and priority class. */
void group_update(struct group *group, const struct object *object);
/** Recomputes on which nodes the pod can run. A pod that fits none, or that has schedulingGates,
 * becomes MEMBER_UNFIT and its status gives the reason; otherwise it becomes MEMBER_PENDING. */
void member_fit(struct member *member, const struct pod_spec *spec);
/** Schedules the group for review in the next pass. */
void group_touch(struct group *group);
/** Moves the member to another state in the counts of its group, and touches the group. */
void member_move(struct member *member, enum member_state state, bool deleting);
/** Counts the member as being evicted. */
void member_mark_evicted(struct member *member);
/** Reverts member_mark_evicted after a failed eviction. */
void member_unevict(struct member *member);
/** Removes the member from all counts. Its record is freed once no write is in flight. */
void member_drop(struct member *member);
/** Called when the PodGroup object is gone: drops the records of its finished pods, and frees the
 * group if no other pod uses it. */
void group_drop(struct group *group);

/* Defined in pass.c. Runs one scheduling pass. */
void scheduler_pass(struct task *task);

/* Defined in capacity.c. Says whether a group can have what it asks for: now, later, or never. */
enum verdict { GRANTED, NO_CAPACITY, QUEUE_FULL, NEVER };

/** Updates what the group's queue and the nodes are charged to what the group holds now. */
void group_charge(struct group *group);
/** Computes what orders the group within its queue. Called before the group joins the queue. */
void group_rank(struct group *group);
/** Reserves `reserve` for members that are not placed yet. */
void group_grant(struct group *group, struct amount reserve);
/** Gives the group a claim: from now on it is served before the queues. `claim` is the capacity
 * that pods evicted for it will free; it is zero if the group's reservation is fragmented over
 * nodes. */
void group_claim(struct group *group, struct amount claim);
/** Returns the resources that the group asks for next: those to reserve at admission while it waits
 * for admission, else those of the members to bind next. */
struct amount group_need(struct group *group);
/** Decides whether the group can have `need`. On NEVER, marks the group unsatisfiable and sets its
 * message; on QUEUE_FULL, sets `limiter` to the queue whose limit is reached or kept for
 * another. */
enum verdict scheduler_judge(struct scheduler *scheduler, struct group *group, struct amount need,
                             struct queue **limiter);
/** Returns true if not even one more pod fits. */
bool scheduler_is_full(const struct scheduler *scheduler);
/** Marks the group as refused. `message` (owned, or NULL) replaces the reason in its status. */
void group_refuse(struct group *group, char *message);
/** Clears the refusal and its message; the group may be tried again. */
void group_clear_refusal(struct group *group);
/** Marks the group as refused for now. If it still waits after REFUSAL_DELAY_MS, its status gives
 * the reason. */
void group_waits(struct group *group);
/** Handler of the timer `refusal`: writes the reasons of groups that have waited long enough. */
void scheduler_refusal_due(struct timer *timer);

/* Defined in place.c. Binds what is to be bound next, the gang or one member; NULL `member` means
 * the next one. Returns false if no nodes have room for all of it. */
bool group_bind_next(struct group *group, struct member *member);
/** Binds pods that the group's reservation covers. With several nodes the reserved capacity may be
 * fragmented; then the group gets a claim and is tried before all others until its pods fit. */
void group_bind_reserved(struct group *group);
/** Admits the group or, for a job gang, the groups selected with it. The group itself need not be
 * among them. */
void group_admit(struct group *group);
/** Ends the claim of a group that has what was freed for it, or does not need it any more. */
void group_drop_claim(struct group *group);
/** Lets the group join its queue or leave it. Returns true if the group wants something and is in
 * its queue. */
bool group_update_queueing(struct group *group);

/* Defined in reserve.c. Counts what the group takes, or gives back, for reservations that began
 * before `stamp`, the moment of its taking. */
void group_count_backfill(struct group *group, struct amount change, uint64_t stamp);
/** Handles the refusal of the first group of a queue by `limiter` or (NULL) by the nodes. If the
 * group has been passed long enough, room is reserved for it. */
void group_refused_by(struct group *group, struct queue *limiter);
/** Ends the reservations that were made for the group. */
void group_end_backfills(struct group *group);
/** Ends all reservations. Those that are still due begin anew in the next pass. */
void scheduler_end_backfills(struct scheduler *scheduler);
/** Returns true if the group may take `more` beside what is reserved on the nodes. */
bool scheduler_backfills(const struct scheduler *scheduler, const struct group *group,
                         struct amount more);
/** Returns the queue within whose limit so much is reserved for another group that this one cannot
 * take `more`, or NULL. */
struct queue *queue_keeping(const struct group *group, struct amount more);
/** Returns what the limits of the queue and of those above it, less what is reserved, leave for
 * groups behind the queue's first. */
struct amount queue_limits_room(const struct scheduler *scheduler, const struct queue *queue);
/** Returns what queue_limits_room returns, but no more than the nodes have free. It is exact on a
 * single node, except for queues with a guarantee, which may have less. */
struct amount queue_total_room(const struct scheduler *scheduler, const struct queue *queue);

/** Defined in evict.c. Evicts pods of other groups so that the group gets `need`, which becomes its
 * claim. Returns false and evicts none if too few pods may be evicted. */
bool scheduler_evict_for(struct scheduler *scheduler, struct group *group, struct amount need);
/** Handler of the timer `cooled`: lets groups search for victims again. */
void scheduler_cooled(struct timer *timer);

/* Defined in write.c. Writes the pod's node name. */
void member_bind(struct member *member);
/** Deletes the pod. `reason` and `why` are the reason and message of its event. */
void member_evict(struct member *member, const char *reason, const char *why);
/** Writes the condition PodScheduled=False with `message`; NULL removes the reason. */
void member_report_unschedulable(struct member *member, const char *message);
/** Writes the status of a newly admitted group at once. */
void group_report_admitted(struct group *group);
/** Writes the status of the group after REPORT_DELAY_MS, if it differs then. */
void group_report_later(struct group *group);
/** Drops a pending status write, because the PodGroup object is gone. */
void group_cancel_report(struct group *group);
/** Handler of the timer `report`: writes the statuses of dirty groups. */
void scheduler_report(struct timer *timer);
/** Handler of the timer `retry`: tries failed bindings again. */
void scheduler_retry(struct timer *timer);
