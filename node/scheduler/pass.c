/*
 * The scheduling pass. It runs once per turn in which something changed:
 *
 *   changed groups   update their charge, bind what is reserved, join or leave their queue
 *   claimants        try again those for which pods were evicted, before other groups are served
 *   queues           admit the first group of the next queue, or bind its next pods
 *
 * When the first group of a queue is refused, the groups behind it that fit are served in their
 * order, unless the queue's dequeueStrategy is fifo. reserve.c says what they may take.
 *
 * The cost of a pass is proportional to the changed groups, the granted groups and the queues whose
 * first group is refused: a queue finds the next group that fits without looking at those that do
 * not. When not even one pod fits, the pass ends at the first refused head.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* Number of groups of a queue that may seem to fit and be refused, in one pass. */
enum { TRIES_MAX = 64 };

static void review(struct scheduler *s, struct group *group)
{
    group_charge(group);
    job_gang_update(group);
    if (!group->object && !(group->implicit && group->members)) {
        group_drop_claim(group);
        group_update_queueing(group);
        group_drop(group);
        return;
    }
    group_bind_reserved(group);
    group_update_queueing(group);
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

/* Gives the group what it asks for next, if there is room. `member` (or NULL) is the member of an
 * elastic group to bind out of turn. */
static enum verdict serve(struct scheduler *s, struct group *group, struct member *member,
                          struct queue **limiter)
{
    struct amount need = member ? member->need : group_need(group);
    enum verdict verdict = scheduler_judge(s, group, need, limiter);

    if (verdict == GRANTED && group->stage == GROUP_WAITING) {
        group_admit(group);
    } else if (verdict == GRANTED) {
        if (group_bind_next(group, member))
            group_drop_claim(group);
        else
            verdict = group->unsatisfiable ? NEVER : NO_CAPACITY;
    }
    group_update_queueing(group);
    return verdict;
}

/* Serves a group of a queue whose first group was refused. */
static enum verdict serve_behind(struct scheduler *s, struct group *group)
{
    struct member *member = NULL;
    struct queue *limiter;

    if (group_is_elastic(group)) {
        member = group_fitting_member(group, queue_total_room(s, group->queue));
        if (!member)
            return NO_CAPACITY;
    }
    return serve(s, group, member, &limiter);
}

static struct group *group_of(const struct fit_item *item)
{
    return item ? container_of(item, struct group, queue_item) : NULL;
}

/* Returns the next group of the queue to try in this pass, or NULL. */
static struct group *next_group(struct scheduler *s, struct queue *queue)
{
    if (!queue->refused)
        return group_of(fit_queue_first(&queue->waiting));
    return group_of(fit_queue_find(&queue->waiting, queue->tried, queue_total_room(s, queue)));
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
    group_update_queueing(group);
    return true;
}

static struct queue *topmost_limited(struct queue *queue)
{
    struct queue *top = queue;

    for (; queue; queue = queue->parent)
        if (queue->limited)
            top = queue;
    return top;
}

/* Ends the service of a queue in this pass. If none of its groups could start even on empty nodes,
 * the queue is blocked until something ends below the limits. */
static void finish_queue(struct scheduler *s, struct queue *queue)
{
    if (queue->limiter && queue->fifo)
        queue_block(&s->queues, queue, queue->limiter);
    else if (queue->limiter && !fit_queue_find(&queue->waiting, NULL, queue_limits_room(s, queue)))
        queue_block(&s->queues, queue, topmost_limited(queue));
    else
        queue_pass_over(&s->queues, queue);
}

/* Handles the refusal of the first group by `limiter` or (NULL) the nodes. Returns false if the
 * pass is over. */
static bool refuse_head(struct scheduler *s, struct queue *queue, struct group *group,
                        struct queue *limiter)
{
    group_waits(group);
    s->head_waits = s->head_waits || !limiter;
    if (evict_for(s, group))
        return true;
    group_refused_by(group, limiter);
    queue_refuse(&s->queues, queue, limiter, group_is_elastic(group) ? NULL : &group->queue_item);
    if (queue->fifo || (!limiter && scheduler_is_full(s)))
        finish_queue(s, queue);
    return s->queues.guaranteed || !LIST_EMPTY(&s->victims) || !scheduler_is_full(s);
}

static void serve_claimants(struct scheduler *s)
{
    struct group *group = s->claimants;

    while (group) {
        struct group *next = group->next_claimant;
        struct queue *limiter;

        bool still_wants = group->stage == GROUP_ADMITTED ? group_ready(group) : group->queue->open;

        if (still_wants && serve(s, group, NULL, &limiter) == GRANTED) {
            group_report_later(group);
        } else if (!still_wants || (!s->evicting && group->claim.pods)) {
            /* The evicted pods are gone, and what they freed was not enough. */
            group_drop_claim(group);
            group_update_queueing(group);
        }
        group = next;
    }
}

/* Tries a group behind the refused first one. */
static void try_behind(struct scheduler *s, struct queue *queue, struct group *group)
{
    enum verdict verdict = serve_behind(s, group);

    if (verdict == GRANTED || verdict == NEVER) {
        group_report_later(group);
        return;
    }
    queue->tried = &group->queue_item;
    if (++queue->tries == TRIES_MAX)
        finish_queue(s, queue);
}

/* Serves the next group of `queue`. Returns false if the pass is over. */
static bool serve_queue(struct scheduler *s, struct queue *queue)
{
    struct group *group = next_group(s, queue);
    struct queue *limiter = NULL;
    enum verdict verdict;

    if (!group) {
        finish_queue(s, queue);
        return true;
    }
    if (!queue->open) {
        refused_by_closed(s, queue, group);
        return true;
    }
    if (group->touched && !group_update_queueing(group))
        return true; /* the pods of the victim were evicted in this pass */
    if (queue->refused) {
        try_behind(s, queue, group);
        return true;
    }
    verdict = serve(s, group, NULL, &limiter);
    if (verdict == QUEUE_FULL || verdict == NO_CAPACITY)
        return refuse_head(s, queue, group, verdict == QUEUE_FULL ? limiter : NULL);
    group_report_later(group);
    return true;
}

void scheduler_pass(struct task *task)
{
    struct scheduler *s = container_of(task, struct scheduler, pass);
    struct queue *queue;

    s->head_waits = false;
    review_touched(s);
    serve_claimants(s);
    while ((queue = queues_next(&s->queues)))
        if (!serve_queue(s, queue))
            break;
    queues_next_pass(&s->queues);
}
