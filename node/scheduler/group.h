#pragma once
/*
 * The scheduler's records of PodGroups (groups) and of their pods (members).
 *
 *   group ─┬─ tasks    per task: minimum, number of pods
 *          └─ pending  unbound pods, by priority class, then age
 *
 * The *gate* is the number of members that must be placed together before any is bound. It is
 * minMember, counted over the tasks whose pods can exist (O-57). A task that depends on others and
 * has no pod yet is *locked*: its pods are created only when the others run, so it is not counted.
 *
 * All counts are updated as pods change, in O(1) each. Only group_select walks over members.
 */
#include <sys/queue.h>

#include "api/cluster.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "base/collections/hash.h"
#include "node/scheduler/job_gang.h"
#include "node/scheduler/phase.h"
#include "node/scheduler/queues.h"

struct scheduler;

/* The states of a pod, in the order of its life: updates of the pod object only move forward. */
enum member_state {
    MEMBER_UNFIT,   /* the pod is unbound, and no node can run it */
    MEMBER_PENDING, /* the pod is unbound, and a node can run it */
    MEMBER_BOUND,   /* the pod is bound to a node and does not run yet */
    MEMBER_RUNNING,
    MEMBER_SUCCEEDED,
    MEMBER_FAILED,
    MEMBER_STATE_N
};

struct group_task {
    struct group_task *next; /* next task of the job; a list, because a job has few tasks and each
                              * pod looks up its task once */
    int32_t min;
    int32_t exists;   /* number of the task's pods that are not under deletion */
    int32_t pending;  /* number of the task's pods that are pending */
    bool has_depends; /* the task's pods are created only once other tasks run */
    int32_t quota;    /* number of pods to select; used only during group_select */
    char name[];
};

struct member {
    UT_hash_handle hh; /* links the members in a hash table by uid */
    struct scheduler *scheduler;
    struct meta *meta;
    struct group *group;
    LIST_ENTRY(member) sibling;   /* links the members of a group, in group->all */
    struct group_task *task;      /* task of the pod; NULL if the pod names no task */
    struct fit_item pending_item; /* element of group->pending */
    struct amount need;
    uint64_t feasible; /* bit mask of the nodes that can run the pod */
    int node_index;    /* index of the node that the pod is bound to; -1: unbound, or an unknown
                        * node */
    int32_t priority;
    int64_t sequence;
    uint64_t since; /* stamp of the pod's binding, see scheduler.stamp */
    enum member_state state;
    int64_t cooldown_ms; /* how long after binding a running pod is not evicted; 0: no limit */
    int64_t cooled_ms;   /* wall time when the cooldown ends; 0: the pod does not run yet */
    bool deleting;
    bool preemptable; /* the pod may be evicted */
    bool evicted;     /* eviction of the pod is requested */
    bool chosen;      /* the pod is to be evicted; used only while victims are chosen (evict.c) */
    bool writing;     /* `call` is in flight; the record stays until it ends */
    bool bind_failed; /* the store failed to write the binding; retried later */
    bool gone;
    bool gated;          /* the pod has schedulingGates */
    char *unschedulable; /* message last written with PodScheduled=False, or NULL */
    struct cluster_call call;
};

enum group_stage {
    GROUP_ABSENT,   /* pods name the group, but its object does not exist */
    GROUP_WAITING,  /* phase Pending: the group is in its queue and not admitted */
    GROUP_ADMITTED, /* controllers may create pods; the group is in its queue while pods are to be
                     * bound */
};

struct group {
    UT_hash_handle hh; /* links the groups in a hash table by "namespace/name" */
    struct scheduler *scheduler;
    char *key;
    const struct object *object; /* the newest version of the PodGroup; NULL if absent or
                                  * `implicit` */
    struct queue *queue;
    struct fit_item queue_item; /* element of queue->waiting */
    int64_t sequence;
    int64_t created_ms; /* wall time of the group's creation, see creation_ms in records.c */
    int32_t priority;
    uint32_t order; /* number of the job in its queue, smaller first, of equal priority */
    enum group_stage stage;

    struct amount min_resources;
    struct group_task *tasks;
    int32_t min_member;
    int32_t min_total;   /* sum of the minimums of all tasks */
    int32_t min_counted; /* sum of the minimums of the tasks that are not locked */
    int32_t locked;      /* number of locked tasks that have a minimum */
    int32_t short_tasks; /* number of unlocked tasks with fewer pods than their minimum */

    LIST_HEAD(group_members, member) all;
    int32_t members;               /* number of counted members, those under deletion included */
    int32_t count[MEMBER_STATE_N]; /* number of members by state; pods under deletion are not
                                    * counted */
    int32_t terminating;           /* number of pods under deletion that still use capacity */
    struct fit_queue pending;
    struct amount pending_need; /* sum of what the members in `pending` need */
    struct amount gang_need;    /* cache of group_gang_need; valid while gang_known */
    struct amount actual;       /* amount used by members that are bound or running */
    struct amount granted;      /* amount reserved at admission for members not placed yet */
    struct amount claim;        /* capacity freed for the group by evicting other pods */
    struct amount held;         /* sum of granted and claim, as they are charged */
    uint64_t held_since;        /* stamp of the last time that `held` grew */
    int backfills;              /* number of backfill reservations of which the group is the head */
    struct amount charged;      /* what the group's queue and the nodes are charged for it */
    double share; /* `charged` as a share of the total capacity; orders groups in a queue */
    int64_t waits_since_ms;       /* wall time of the first refusal; 0: not refused */
    uint64_t evict_failed_at;     /* value of placement_changes after a search without victims */
    int32_t n_preemptable;        /* number of placed members that may be evicted */
    struct job_gang *job_gang;    /* the job gang with which the group is admitted; usually NULL */
    LIST_ENTRY(group) gang_entry; /* element of job_gang->groups */
    struct gang_job *gang_job;    /* the group's job in the gang, or NULL */
    enum gang_standing standing;
    LIST_ENTRY(group) victim; /* element of scheduler.victims while n_preemptable > 0 */

    struct group *next_touched, *next_claimant;
    TAILQ_ENTRY(group) report_entry; /* element of scheduler.dirty while `dirty` */
    struct group_report reported;    /* the status as stored, or as being written by `call` */
    char *reported_message;          /* owns reported.message */
    char *message;                   /* reason of the last refusal, for the status; NULL: none */
    struct cluster_call call;

    bool implicit : 1; /* the group stands for a single pod without a PodGroup */
    bool gang_known : 1;
    bool opened : 1; /* the group is counted in scheduler.open_gangs */
    bool touched : 1, dirty : 1, writing : 1;
    bool unsatisfiable : 1; /* the group exceeds what its queue or the nodes can ever give; it is in
                             * no queue */
    bool refused : 1;       /* the group was head of its queue and did not fit */
    bool extra_members : 1; /* the gang is placed; further members are served after other gangs */
    bool preempts : 1;      /* the priority class of the group allows preemption */
    bool claims : 1;        /* the group is an element of scheduler.claimants */
    bool selected : 1;      /* the group is admitted next with its job gang; valid while
                             * job_gang->selection_valid */
};

/** Returns a new group without members, in stage GROUP_ABSENT. `key` is "namespace/name". */
struct group *group_new(struct scheduler *scheduler, const char *key);
/** Frees the group. Its members must be gone. */
void group_free(struct group *group);
/** Orders the groups of a queue: higher priority first; then gangs before extra members; among
 * extra members the smaller share of capacity; then the older. */
bool group_before(const struct fit_item *a, const struct fit_item *b);

/**
 * Updates the record from the PodGroup object. `job` (or NULL) is the owning Job, which gives the
 * dependencies of tasks. Recomputes everything derived from the minimums in O(tasks).
 */
void group_load(struct group *group, const struct object *object, const struct object *job,
                const struct resource_names *extras);
/** Handles a PodGroup whose object is gone. Pods of the group may still exist. */
void group_unload(struct group *group);

/** Adds the member to the counts of its current state (`sign` 1), or removes it (`sign` -1). */
void group_count(struct group *group, struct member *member, int sign);
/** Returns the task of this name, which is created if it is unknown. */
struct group_task *group_task_named(struct group *group, const char *name);

/** Returns what a message to the owner of `reader` calls the group (owned): "job NAME" if a Job
 * controls it, "pod NAME" of a pod without a PodGroup, else "PodGroup NAME"; with its namespace if
 * that is not the one of `reader`. */
char *group_title(const struct group *group, const struct group *reader);
/** Returns the gate: how many members must be placed together before any is bound. */
int32_t group_gate(const struct group *group);
/** Returns how many members must be bound together next. It is 0 or less once the gang is placed.
 */
int32_t group_missing(const struct group *group);
/** Returns true if enough pods exist to bind the gang, or if it is placed and another pod is
 * pending. */
bool group_ready(const struct group *group);
/** Returns what admission reserves: the resources of the gate's members, less those that are placed
 * already. */
struct amount group_reserve(const struct group *group);
/** Returns how many members have been placed, finished ones included. */
int32_t group_placed(const struct group *group);
/** Returns the counts that determine the group's phase. */
struct group_view group_view(const struct group *group);

/**
 * Removes up to `how_many` members to be bound together from `pending`, in binding order: first
 * those that tasks' minimums require, then others. Returns their number; `out` is an owned array.
 */
size_t group_select(struct group *group, size_t how_many, struct member ***out);
/** Returns true once the gang is placed and members beyond it are bound one by one. */
bool group_is_elastic(const struct group *group);
/** Returns the member to bind next if one is enough, or NULL: the first that a task's minimum
 * requires, else the first. */
struct member *group_next_member(struct group *group);
/** Returns the member to bind next of an elastic group if what `room` leaves is enough for one of
 * them, else NULL. */
struct member *group_fitting_member(struct group *group, struct amount room);
/** Returns the resources that the members to be bound next need together: the rest of the gang or,
 * once the gang is placed, one more member. */
struct amount group_gang_need(struct group *group);
/** Returns a lower bound of what the group needs next beyond what it holds. It is exact unless the
 * group is elastic or in a job gang. */
struct amount group_least_need(struct group *group);
/** Puts selected members that could not be bound back into `pending`. */
void group_unselect(struct group *group, struct member *const *members, size_t n);
