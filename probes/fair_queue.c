/*
 * A ring of groups, each with a queue of polls. A group is in the ring exactly when a poll of it waits
 * and it has room in flight.
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

void probe_queue_add(struct probe_queue *queue, struct probe_group *group, struct probe_poll *poll)
{
    poll->state = POLL_QUEUED;
    poll->next = NULL;
    poll->prev = group->last;
    if (group->last)
        group->last->next = poll;
    else
        group->first = poll;
    group->last = poll;
    enter_ring(queue, group);
}

static void unqueue(struct probe_group *group, struct probe_poll *poll)
{
    if (poll->prev)
        poll->prev->next = poll->next;
    else
        group->first = poll->next;
    if (poll->next)
        poll->next->prev = poll->prev;
    else
        group->last = poll->prev;
    poll->prev = poll->next = NULL;
    poll->state = POLL_PAUSED;
}

void probe_queue_remove(struct probe_queue *queue, struct probe_group *group,
                        struct probe_poll *poll)
{
    if (poll->state == POLL_QUEUED) {
        unqueue(group, poll);
        if (!group->first)
            leave_ring(queue, group);
    }
    if (poll->state == POLL_IN_FLIGHT) {
        poll->state = POLL_PAUSED;
        queue->in_flight--;
        group->in_flight--;
        enter_ring(queue, group);
    }
}

struct probe_poll *probe_queue_next(struct probe_queue *queue, struct probe_group **out_group)
{
    struct probe_group *group = queue->first;
    struct probe_poll *poll;

    if (!group || queue->in_flight >= queue->at_once)
        return NULL;
    leave_ring(queue, group);
    poll = group->first;
    unqueue(group, poll);
    poll->state = POLL_IN_FLIGHT;
    queue->in_flight++;
    group->in_flight++;
    enter_ring(queue, group); /* at the end: the other groups come first */
    *out_group = group;
    return poll;
}
