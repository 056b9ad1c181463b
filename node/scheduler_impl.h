#pragma once
/*
 * The scheduler's inside, shared by its files:
 *
 *   scheduler.c         objects come and go: records, counts, who is touched
 *   scheduler_pass.c    decides: one pass per turn over what was touched and the heads of the lines
 *   scheduler_write.c   carries out: bindings, phases, refusals
 */
#include "node/scheduler.h"
#include "node/scheduler_bind.h"
#include "node/scheduler_group.h"

enum {
    TELL_DELAY_MS = 50,      /* phases nobody waits for: what is over by then is never written */
    REFUSAL_DELAY_MS = 1000, /* a head that waits longer is told why */
    RETRY_DELAY_MS = 1000,
};

struct scheduler {
    struct cluster *cluster;
    const char *node_name;
    const struct kv *labels;
    size_t n_labels;
    struct amount capacity, ahead_capacity;
    struct amount used; /* sum of the groups' charges */
    int64_t open_gangs; /* groups that hold a reservation for several pods */

    struct queues queues;
    struct group *groups;
    struct member *members;
    struct binder binder;

    struct task pass;
    struct group *touched, **touched_tail;
    struct group *refused_head; /* first of the line the node had no room for; NULL = none */
    struct timer refusal;

    struct timer tell;
    struct group *dirty, **dirty_tail;
    struct blob *inqueue; /* the status every admitted group gets */

    struct timer retry; /* bindings that failed for reasons of the store */

    struct cluster_watcher queue_watcher, class_watcher, group_watcher, pod_watcher;
    size_t calls; /* under way; the last one to end frees a stopped scheduler */
    bool stopped;
};

/* scheduler.c */
void group_touch(struct group *group);
void member_move(struct member *member, enum member_state state, bool deleting);
void member_drop(struct member *member); /* out of the counts; freed once nothing is under way */
/** The object is gone: nobody asks for its finished pods any more, and without others for it. */
void group_drop(struct group *group);
void scheduler_call_done(struct scheduler *scheduler);

/* scheduler_pass.c */
void scheduler_pass(struct task *task);
void scheduler_refusal_due(struct timer *timer);
/** The line the group heads has no room; `message` (owned) or NULL while it is too early to tell.
 */
void group_refuse(struct group *group, char *message);
/** Why the node can never give `need`: an owned text with the figures and a way out; NULL if it
 * can. */
char *scheduler_never_fits(const struct scheduler *scheduler, struct amount need);

/* scheduler_write.c */
void member_bind(struct member *member);
void member_tell_unschedulable(struct member *member, const char *message);
void group_tell_admitted(struct group *group);
void group_tell_later(struct group *group);
void scheduler_tell(struct timer *timer);
void scheduler_retry(struct timer *timer);
