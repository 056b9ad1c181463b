/*
 * Who may start before a group that waits for room.
 *
 * The first group of a queue that finds no room may be passed by any group that fits, for
 * PASSING_MS. From then on room is reserved for it (node/machine/backfill.h): on the nodes if these
 * refuse it, or within the limit of the queue that refuses it. What starts later may use only what
 * the reservation leaves. So no group starves, whatever comes behind it, and what it does not need
 * is still used.
 *
 * A reservation does not bind those that come before its head: groups before it in its own queue,
 * and queues of higher priority. Those that are served from their queue's guarantee, or from what
 * was evicted for them, are not bound either. With several nodes free room may be in pieces, and
 * nothing passes.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"

enum { PASSING_MS = 10000 };

static const struct group *head_of(const struct backfill *backfill)
{
    return backfill->head;
}

static bool precedes(const struct group *group, const struct group *head)
{
    if (group->queue != head->queue)
        return group->queue->priority > head->queue->priority;
    return group_before(&group->queue_item, &head->queue_item);
}

static bool is_bound_by(const struct group *group, const struct backfill *backfill)
{
    return backfill->head && backfill->head != group && !precedes(group, head_of(backfill));
}

void group_count_backfill(struct group *group, struct amount change, uint64_t stamp)
{
    struct scheduler *s = group->scheduler;

    if (!s->backfills)
        return;
    backfill_count(&s->backfill, change, stamp);
    for (struct queue *queue = group->queue; queue; queue = queue->parent)
        backfill_count(&queue->backfill, change, stamp);
}

static void drop(struct scheduler *s, struct backfill *backfill)
{
    struct group *head = (struct group *)(uintptr_t)backfill->head;

    head->backfills--;
    s->backfills--;
    backfill_end(backfill);
}

/* Ends a reservation. What it kept may let other groups start, so all queues are looked at
 * again. */
static void end(struct scheduler *s, struct backfill *backfill)
{
    drop(s, backfill);
    queues_unblock(&s->queues);
    loop_post(s->cluster->loop, &s->pass);
}

void group_end_backfills(struct group *group)
{
    struct scheduler *s = group->scheduler;

    if (!group->backfills)
        return;
    if (s->backfill.head == group)
        end(s, &s->backfill);
    for (struct queue *queue = group->queue; queue; queue = queue->parent)
        if (queue->backfill.head == group)
            end(s, &queue->backfill);
}

void scheduler_end_backfills(struct scheduler *s)
{
    struct queue *queue, *next;

    if (!s->backfills)
        return;
    if (s->backfill.head)
        end(s, &s->backfill);
    HASH_ITER(hh, s->queues.table, queue, next)
    if (queue->backfill.head)
        end(s, &queue->backfill);
}

static bool may_be_passed(const struct scheduler *s, const struct group *group)
{
    return loop_wall_ms(s->cluster->loop) - group->waits_since_ms < PASSING_MS;
}

/* Returns the amount to reserve for a head: what it needs or, with several nodes, all there is. */
static struct amount reserved_for(const struct scheduler *s, struct group *group,
                                  const struct queue *limiter)
{
    if (!limiter && s->node_set.count > 1)
        return s->node_set.capacity;
    return amount_minus(group_need(group), amount_add(group->granted, group->claim));
}

void group_refused_by(struct group *group, struct queue *limiter)
{
    struct scheduler *s = group->scheduler;
    struct backfill *backfill = limiter ? &limiter->backfill : &s->backfill;
    struct amount need = reserved_for(s, group, limiter);

    if (limiter && s->backfill.head == group)
        end(s, &s->backfill); /* as long as its queue refuses the group, it can use no node */
    if (may_be_passed(s, group))
        return;
    if (backfill->head == group) {
        backfill->need = need;
        return;
    }
    if (is_bound_by(group, backfill))
        return;
    if (backfill->head)
        drop(s, backfill);
    backfill_begin(backfill, group, need, ++s->stamp);
    group->backfills++;
    s->backfills++;
}

bool scheduler_backfills(const struct scheduler *s, const struct group *group, struct amount more)
{
    struct amount room = backfill_room(&s->backfill, s->node_set.capacity);

    return !is_bound_by(group, &s->backfill) || queue_guarantees(group->queue, more) ||
           amount_fits(more, (struct amount){0}, room);
}

struct queue *queue_keeping(const struct group *group, struct amount more)
{
    if (!group->scheduler->backfills)
        return NULL;
    for (struct queue *queue = group->queue; queue; queue = queue->parent)
        if (is_bound_by(group, &queue->backfill) &&
            !amount_fits(more, (struct amount){0}, backfill_room(&queue->backfill, queue->limit)))
            return queue;
    return NULL;
}

/* Returns whether all groups of the queue, or all but its first, are bound by the reservation. */
static bool binds_all(const struct backfill *backfill, const struct queue *queue)
{
    const struct group *head = head_of(backfill);

    if (!head)
        return false;
    return head->queue == queue ? fit_queue_first(&queue->waiting) == &head->queue_item
                                : queue->priority <= head->queue->priority;
}

struct amount queue_limits_room(const struct scheduler *s, const struct queue *queue)
{
    struct amount room = queue_room(queue);

    for (const struct queue *at = queue; s->backfills && at; at = at->parent)
        if (binds_all(&at->backfill, queue))
            room = amount_min(room, backfill_room(&at->backfill, at->limit));
    return room;
}

struct amount queue_total_room(const struct scheduler *s, const struct queue *queue)
{
    struct amount room = queue_limits_room(s, queue);
    struct amount nodes = amount_minus(s->node_set.capacity, s->used);
    bool guaranteed = queue_has_guarantee(queue);

    nodes = amount_minus(nodes, s->queues.kept);
    if (guaranteed)
        nodes = amount_add(nodes, s->queues.kept); /* it may be kept for this queue */
    else if (binds_all(&s->backfill, queue))
        nodes = amount_min(nodes, backfill_room(&s->backfill, s->node_set.capacity));
    return amount_min(room, nodes);
}
