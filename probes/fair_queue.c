/*
 * Taking turns. A group is in the ring exactly when it has a queue and room in flight.
 */
#include "probes/fair_queue.h"

static void enter_ring(struct probe_queue *queue, struct probe_group *group)
{
    if (group->in_ring || !group->first || group->in_flight >= queue->per_group)
        return;
    group->in_ring = true;
    group->next = NULL;
    if (queue->last)
        queue->last->next = group;
    else
        queue->first = group;
    queue->last = group;
}

static void leave_ring(struct probe_queue *queue, struct probe_group *group)
{
    struct probe_group *before = NULL;

    if (!group->in_ring)
        return;
    for (struct probe_group *g = queue->first; g != group; g = g->next)
        before = g;
    if (before)
        before->next = group->next;
    else
        queue->first = group->next;
    if (queue->last == group)
        queue->last = before;
    group->in_ring = false;
    group->next = NULL;
}

void probe_queue_add(struct probe_queue *queue, struct probe_group *group, struct probe_poll *check)
{
    check->queued = true;
    check->next = NULL;
    check->prev = group->last;
    if (group->last)
        group->last->next = check;
    else
        group->first = check;
    group->last = check;
    enter_ring(queue, group);
}

static void unqueue(struct probe_group *group, struct probe_poll *check)
{
    if (check->prev)
        check->prev->next = check->next;
    else
        group->first = check->next;
    if (check->next)
        check->next->prev = check->prev;
    else
        group->last = check->prev;
    check->prev = check->next = NULL;
    check->queued = false;
}

void probe_queue_remove(struct probe_queue *queue, struct probe_group *group,
                        struct probe_poll *check)
{
    if (check->queued) {
        unqueue(group, check);
        if (!group->first)
            leave_ring(queue, group);
    }
    if (check->in_flight) {
        check->in_flight = false;
        queue->in_flight--;
        group->in_flight--;
        enter_ring(queue, group);
    }
}

struct probe_poll *probe_queue_next(struct probe_queue *queue, struct probe_group **out_group)
{
    struct probe_group *group = queue->first;
    struct probe_poll *check;

    if (!group || queue->in_flight >= queue->at_once)
        return NULL;
    leave_ring(queue, group);
    check = group->first;
    unqueue(group, check);
    check->in_flight = true;
    queue->in_flight++;
    group->in_flight++;
    enter_ring(queue, group); /* at the end: the others come first */
    *out_group = group;
    return check;
}
