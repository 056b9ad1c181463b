#pragma once
/*
 * A pod group and its members, as the scheduler counts them.
 *
 *   group ─┬─ tasks    per task: minimum, how many pods exist
 *          └─ pending  its unbound pods, by priority class, then age
 *
 * The *gate* is how many members must have a place before any gets one: minMember, but only tasks
 * whose pods can exist count (O-57). A task that depends on others and has no pod yet is locked:
 * its pods come when the others run, so waiting for them would be waiting for ever.
 *
 * All counts are kept while pods change, in O(1) each; nothing here walks over the members but
 * group_select, which binds them.
 */
#include <sys/queue.h>

#include "api/cluster.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "base/hash.h"
#include "node/scheduler/job_gang.h"
#include "node/scheduler/phase.h"
#include "node/scheduler/queues.h"

struct scheduler;

/* In the order of a pod's life: a change of the object only ever moves forward. */
enum member_state {
    MEMBER_UNFIT,   /* no node yet, and this one will never do */
    MEMBER_PENDING, /* no node yet */
    MEMBER_BOUND,   /* has a node, does not run yet */
    MEMBER_RUNNING,
    MEMBER_SUCCEEDED,
    MEMBER_FAILED,
    MEMBER_STATE_N
};

struct group_task {
    struct group_task *next; /* a job has few tasks, and each pod looks its own up once */
    int32_t min;
    int32_t exists;   /* pods not under deletion */
    bool has_depends; /* waits for other tasks before its pods are made */
    int32_t quota;    /* scratch of group_select */
    char name[];
};

struct member {
    UT_hash_handle hh; /* by uid */
    struct scheduler *scheduler;
    struct meta *meta;
    struct group *group;
    LIST_ENTRY(member) sibling; /* in group->all */
    struct group_task *task;    /* NULL: the pod names none */
    struct heap_item line;      /* in group->pending */
    struct amount need;
    uint64_t fits; /* the places that can take it */
    int place;     /* where it is bound to; -1 = nowhere, or to a node that is not ours */
    int32_t priority;
    int64_t sequence;
    enum member_state state;
    int64_t cooldown_ms; /* from its binding on it is not pushed out once it runs; 0 = it is */
    int64_t cooled_ms;   /* when that is over; 0 = it does not run yet */
    bool deleting;
    bool preemptable; /* it may be pushed out */
    bool evicted;     /* it is being */
    bool chosen;      /* scratch of scheduler_evict */
    bool writing;     /* `call` is under way; the record stays until it is done */
    bool bind_failed; /* for a reason of the store; tried again a little later */
    bool gone;
    bool gated;          /* it has schedulingGates */
    char *unschedulable; /* what was last written as PodScheduled=False, or NULL */
    struct cluster_call call;
};

enum group_stage {
    GROUP_ABSENT,   /* pods name it, the object does not exist */
    GROUP_WAITING,  /* phase Pending: in its queue's line */
    GROUP_ADMITTED, /* controllers may create pods; in the line while it wants to bind some */
};

struct group {
    UT_hash_handle hh; /* by "namespace/name" */
    struct scheduler *scheduler;
    char *key;
    const struct object *object; /* the newest version; NULL when absent or `implicit` */
    struct queue *queue;
    struct heap_item place; /* in queue->waiting */
    int64_t sequence;
    int64_t came_ms; /* when it was created, or seen where its record is coarser */
    int32_t priority;
    enum group_stage stage;

    struct amount min_resources;
    struct group_task *tasks;
    int32_t min_member;
    int32_t min_total;   /* of all tasks */
    int32_t min_counted; /* of the tasks that are not locked */
    int32_t locked;      /* tasks with a minimum that are locked */
    int32_t short_tasks; /* unlocked tasks with fewer pods than their minimum */

    LIST_HEAD(group_members, member) all;
    int32_t members;               /* of them, those that are counted */
    int32_t count[MEMBER_STATE_N]; /* pods not under deletion */
    int32_t terminating;           /* pods under deletion that still hold their place */
    struct heap pending;
    struct amount pending_need; /* sum over `pending` */
    struct amount gang_need;    /* memo of group_gang_need, while gang_known */
    struct amount actual;       /* sum over members that hold a place */
    struct amount granted;      /* reserved at admission for members that are not placed yet */
    struct amount claim;        /* room made for it by pushing others out */
    struct amount charged;      /* what the group's queue and the node are charged with */
    double share;               /* of everything, by what it is charged with; orders the line */
    int64_t waits_since_ms;     /* first refused by the node or a limit; 0 = not */
    uint64_t evict_seen;        /* scheduler.placements when nobody could be pushed out */
    int32_t n_preemptable;      /* placed members that may be pushed out */
    struct team *team;          /* whose jobs are admitted with its own; NULL mostly */
    LIST_ENTRY(group) mate;     /* in team->mates */
    struct team_job *team_job;  /* its job there; NULL: none */
    enum mate_standing standing;
    LIST_ENTRY(group) victim; /* in scheduler.victims while there are any */

    struct group *next_touched, *next_claimant;
    TAILQ_ENTRY(group) telling; /* in scheduler.dirty while `dirty` */
    struct group_told told;     /* what the object's status says, or will when `call` is done */
    char *told_message;         /* told.message */
    char *message;              /* of the last refusal, for the status; NULL = not to be told */
    struct cluster_call call;

    bool implicit : 1; /* stands for one pod that belongs to no group */
    bool gang_known : 1;
    bool opened : 1; /* counted in scheduler.open_gangs */
    bool touched : 1, dirty : 1, writing : 1;
    bool hopeless : 1; /* larger than its queue or the node will ever allow: in no line */
    bool refused : 1;  /* the line it heads found no room */
    bool beyond : 1;   /* it has its gang: what it asks for now comes after others' gangs */
    bool preempts : 1; /* its class allows it to push others out */
    bool claims : 1;   /* in scheduler.claimants */
    bool goes : 1;     /* of the team: among those to be admitted next, while team->chosen */
};

struct group *group_new(struct scheduler *scheduler, const char *key);
void group_free(struct group *group);
/** Order of the groups in one queue: priority; gangs before what goes beyond them; of the latter
 * those that have least; creation. */
bool group_before(const struct heap_item *a, const struct heap_item *b);

/**
 * Take over what the PodGroup object says. `job` (or NULL) is its owner, asked for task
 * dependencies. Everything that depends on the minimums is worked out anew: O(tasks).
 */
void group_load(struct group *group, const struct object *object, const struct object *job,
                const struct resource_names *extras);
/** The object is gone; pods may still be there. */
void group_unload(struct group *group);

/** The member enters (`sign` 1) or leaves (-1) the counts in the state it has. */
void group_count(struct group *group, struct member *member, int sign);
struct group_task *group_task_named(struct group *group, const char *name);

int32_t group_gate(const struct group *group);
/** How many members must still be bound together with the next one; ≤ 0: the gang has its places.
 */
int32_t group_missing(const struct group *group);
/** There are enough pods to bind the gang, or it is bound and there is one more. */
bool group_ready(const struct group *group);
/** What admission reserves: the resources of the gang's first stage, less what is placed already.
 */
struct amount group_reserve(const struct group *group);
/** How many members have a place, those that have ended included. */
int32_t group_placed(const struct group *group);
struct group_view group_view(const struct group *group);

/**
 * Take the members that must be bound together out of `pending`, in binding order: those the tasks'
 * minimums ask for, filled up with the others. Returns how many were put into `out` (owned array).
 */
size_t group_select(struct group *group, size_t how_many, struct member ***out);
/** What the members to be bound next need together: the rest of the gang, or the next one. */
struct amount group_gang_need(struct group *group);
/** Members that were selected and could not be bound wait again. */
void group_unselect(struct group *group, struct member *const *members, size_t n);
