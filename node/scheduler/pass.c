/*
 * The scheduling pass. It runs once per turn in which something changed:
 *
 *   changed groups   update their charge, bind what is reserved, join or leave their queue
 *   claimants        try again those for which pods were evicted, before other groups are served
 *   queues           admit the first group of the next queue, or bind its next pods
 *
 * While the first group of a queue does not fit, groups behind it may pass it for PASSING_MS if the
 * queue's dequeueStrategy is traverse. After that, capacity is kept for it: other groups are served
 * only from guarantees. A large gang thus waits at most PASSING_MS longer than in strict order, and
 * no group starves.
 *
 * The cost of a pass is proportional to the changed groups, the granted groups and the refused
 * heads. When not even one pod fits, the pass ends at the first refused head.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"

enum {
    PASSING_MS = 10000, /* how long groups may pass the first one */
    BEHIND_MAX = 8,     /* how many groups behind the first are tried */
};

static bool wants(const struct group *group)
{
    if (group->unsatisfiable || group->claims)
        return false;
    if (group->job_gang && group->stage == GROUP_WAITING && !group->job_gang->whole)
        return false;
    return group->stage == GROUP_WAITING || (group->stage == GROUP_ADMITTED && group_ready(group));
}

static void update_queueing(struct scheduler *s, struct group *group)
{
    if (wants(group) == heap_has(&group->queue_item))
        return;
    if (heap_has(&group->queue_item)) {
        queue_leave(&s->queues, group->queue, &group->queue_item);
        group->waits_since_ms = 0;
    } else {
        if (group->job_gang)
            group_clear_refusal(group); /* it waited for the other groups of its job gang */
        group_rank(group);
        queue_join(&s->queues, group->queue, &group->queue_item);
    }
}

/* Marks the group unsatisfiable if its pods do not fit together even on empty nodes, and releases
 * its reservation, which would be of no use. */
static void mark_unplaceable(struct scheduler *s, struct group *group, struct placement *placements,
                             size_t n)
{
    struct amount all[SCHEDULER_NODES_MAX];

    for (size_t i = 0; i < s->node_set.count; i++)
        all[i] = s->node_set.items[i].used;
    if (node_set_try_place(&s->node_set, all, placements, n))
        return;
    group_refuse(group, mem_printf("can never fit: %zu pods together find no place on the %zu "
                                   "nodes even when they are empty: lower the requests",
                                   n, s->node_set.count));
    group->unsatisfiable = true;
    group_grant(group, (struct amount){0});
}

/* Assigns a node to each selected member. With several nodes, all must fit at the same time. */
static bool find_nodes(struct scheduler *s, struct group *group, struct member **members, size_t n)
{
    struct placement *placements;
    bool all;

    if (s->node_set.count == 1) {
        for (size_t i = 0; i < n; i++)
            members[i]->node_index = 0;
        return true;
    }
    placements = mem_array(n + 1, sizeof *placements);
    for (size_t i = 0; i < n; i++)
        placements[i] =
            (struct placement){.feasible = members[i]->feasible, .need = members[i]->need};
    all = node_set_try_place(&s->node_set, NULL, placements, n);
    for (size_t i = 0; all && i < n; i++)
        members[i]->node_index = placements[i].node_index;
    if (!all)
        mark_unplaceable(s, group, placements, n);
    mem_free(placements);
    return all;
}

static bool bind_next(struct scheduler *s, struct group *group, size_t how_many)
{
    struct member **members;
    size_t n = group_select(group, how_many, &members);
    bool found = find_nodes(s, group, members, n);

    if (!found)
        group_unselect(group, members, n);
    for (size_t i = 0; found && i < n; i++)
        member_bind(members[i]);
    mem_free(members);
    if (found) {
        group_clear_refusal(group);
        group_charge(group);
    }
    return found;
}

static size_t gang_size(const struct group *group)
{
    int32_t missing = group_missing(group);

    return missing > 1 ? (size_t)missing : 1;
}

static void drop_claim(struct scheduler *s, struct group *group)
{
    struct group **at = &s->claimants;

    if (!group->claims)
        return;
    while (*at != group)
        at = &(*at)->next_claimant;
    *at = group->next_claimant;
    group->next_claimant = NULL;
    group->claims = false;
    group->claim = (struct amount){0};
    group_charge(group);
}

/* Binds pods that the group's reservation covers. With several nodes the reserved capacity may be
 * fragmented; then the group gets a claim and is tried before all others until its pods fit. */
static void bind_reserved(struct scheduler *s, struct group *group)
{
    while (group->stage == GROUP_ADMITTED && group->granted.pods && group_ready(group) &&
           amount_within(group_gang_need(group), group->granted)) {
        if (bind_next(s, group, gang_size(group)))
            continue;
        if (!group->unsatisfiable)
            group_claim(group, (struct amount){0});
        return;
    }
}

static void review(struct scheduler *s, struct group *group)
{
    group_charge(group);
    job_gang_update(group);
    if (!group->object && !(group->implicit && group->members)) {
        drop_claim(s, group);
        update_queueing(s, group);
        group_drop(group);
        return;
    }
    bind_reserved(s, group);
    update_queueing(s, group);
    if (group->job_gang && group->stage == GROUP_WAITING && !group->job_gang->whole)
        group_refuse(group,
                     mem_printf("waits for the other jobs of gang %s", group->job_gang->key));
    group_report_later(group);
}

static void review_touched(struct scheduler *s)
{
    while (s->touched) {
        struct group *group = s->touched;

        s->touched = group->next_touched;
        if (!s->touched)
            s->touched_tail = &s->touched;
        group->touched = false;
        review(s, group);
    }
}

static void admit_one(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct amount need = group_reserve(group);

    drop_claim(s, group);
    group_clear_refusal(group);
    group->stage = GROUP_ADMITTED;
    job_gang_update(group);
    group_grant(group, need);
    scheduler_metrics_admitted(group);
    group_report_admitted(group);
    bind_reserved(s, group); /* binds pods created before the admission */
    update_queueing(s, group);
}

/* Admits the group or, for a job gang, the groups selected with it. The group itself need not be
 * among them. */
static void admit(struct scheduler *s, struct group *group)
{
    if (!job_gang_admits_together(group)) {
        admit_one(group);
        return;
    }
    drop_claim(s, group); /* the claim was made for all of them */
    job_gang_admit(group->job_gang, admit_one);
}

static enum verdict serve(struct scheduler *s, struct group *group, struct queue **limiter)
{
    struct amount need = group_need(group);
    enum verdict verdict = scheduler_judge(s, group, need, limiter);

    if (verdict == GRANTED && group->stage == GROUP_WAITING) {
        admit(s, group);
    } else if (verdict == GRANTED) {
        if (bind_next(s, group, gang_size(group)))
            drop_claim(s, group);
        else
            verdict = group->unsatisfiable ? NEVER : NO_CAPACITY;
    }
    update_queueing(s, group);
    return verdict;
}

/* Serves the first group behind the head that fits. Groups that were tried leave the queue
 * meanwhile. */
static void serve_behind(struct scheduler *s, struct queue *queue)
{
    struct heap_item *aside[BEHIND_MAX];
    size_t n = 0;

    while (n < BEHIND_MAX && heap_first(&queue->waiting)) {
        struct heap_item *item = heap_first(&queue->waiting);
        struct group *group = container_of(item, struct group, queue_item);
        struct queue *limiter;
        enum verdict verdict = n ? serve(s, group, &limiter) : NO_CAPACITY;

        if (verdict == GRANTED || verdict == NEVER)
            group_report_later(group);
        if (heap_first(&queue->waiting) != item)
            continue;
        heap_remove(&queue->waiting, item);
        aside[n++] = item;
    }
    for (size_t i = 0; i < n; i++)
        heap_add(&queue->waiting, aside[i], 0);
}

static bool may_be_passed(struct scheduler *s, struct group *group)
{
    return loop_wall_ms(s->cluster->loop) - group->waits_since_ms < PASSING_MS;
}

static void refused_by_closed(struct scheduler *s, struct queue *queue, struct group *group)
{
    group_refuse(group, queue->exists
                            ? mem_printf("queue %s takes nothing: it is not open", queue->name)
                            : mem_printf("queue %s does not exist", queue->name));
    group_report_later(group);
    queue_block(&s->queues, queue, queue);
}

/* Evicts pods for a group. Returns true if the group has a claim afterwards. */
static bool evict_for(struct scheduler *s, struct group *group)
{
    if (!scheduler_evict_for(s, group, group_need(group)))
        return false;
    update_queueing(s, group);
    return true;
}

/* Handles a head that the nodes refuse. Returns false if free capacity is now kept for it. */
static bool refused_by_node(struct scheduler *s, struct queue *queue, struct group *group)
{
    bool passable = may_be_passed(s, group);

    if (passable && !queue->fifo && !scheduler_is_full(s))
        serve_behind(s, queue);
    queue_pass_over(&s->queues, queue);
    return passable;
}

static void refused_by_queue(struct scheduler *s, struct queue *queue, struct group *group,
                             struct queue *limiter)
{
    if (may_be_passed(s, group) && !queue->fifo)
        serve_behind(s, queue);
    queue_block(&s->queues, queue, limiter);
}

static void serve_claimants(struct scheduler *s)
{
    struct group *group = s->claimants;

    while (group) {
        struct group *next = group->next_claimant;
        struct queue *limiter;

        bool still_wants = group->stage == GROUP_ADMITTED ? group_ready(group) : group->queue->open;

        if (still_wants && serve(s, group, &limiter) == GRANTED) {
            group_report_later(group);
        } else if (!still_wants || (!s->evicting && group->claim.pods)) {
            /* The evicted pods are gone, and what they freed was not enough. */
            drop_claim(s, group);
            update_queueing(s, group);
        }
        group = next;
    }
}

/* Serves the first group of `queue`. Returns false if the pass is over. */
static bool serve_first(struct scheduler *s, struct queue *queue, bool *kept)
{
    struct group *group = container_of(heap_first(&queue->waiting), struct group, queue_item);
    struct queue *limiter = NULL;

    if (!queue->open) {
        refused_by_closed(s, queue, group);
        return true;
    }
    if (*kept && !queue_guarantees(queue, group_need(group))) {
        queue_pass_over(&s->queues, queue);
        return true;
    }
    switch (serve(s, group, &limiter)) {
    case GRANTED:
    case NEVER:
        group_report_later(group);
        return true;
    case QUEUE_FULL:
        group_waits(group);
        if (!evict_for(s, group))
            refused_by_queue(s, queue, group, limiter);
        return true;
    case NO_CAPACITY:
        break;
    }
    group_waits(group);
    s->gang_waits = s->gang_waits || group_need(group).pods > 1;
    if (evict_for(s, group))
        return true;
    *kept = !refused_by_node(s, queue, group) || *kept;
    return s->queues.guaranteed || !LIST_EMPTY(&s->victims) || !(*kept || scheduler_is_full(s));
}

void scheduler_pass(struct task *task)
{
    struct scheduler *s = container_of(task, struct scheduler, pass);
    struct queue *queue;
    bool kept = false; /* free capacity is kept for a group that has waited long enough */

    s->gang_waits = false;
    review_touched(s);
    serve_claimants(s);
    while ((queue = queues_next(&s->queues)))
        if (!serve_first(s, queue, &kept))
            break;
    queues_next_pass(&s->queues);
}
