/*
 * A ring of groups, each with a queue of polls. A group is in the ring exactly when a poll of it
 * waits and it has room in flight.
 */
#include "probes/fair_queue.h"

static void enter_ring(struct probe_queue *queue, struct probe_group *group)
{
    if (group->in_ring || TAILQ_EMPTY(&group->polls) || group->in_flight >= queue->per_group)
        return;
    if (TAILQ_EMPTY(&queue->ring)) /* the queue may be new, all zeroes */
        TAILQ_INIT(&queue->ring);
    TAILQ_INSERT_TAIL(&queue->ring, group, ring);
    group->in_ring = true;
}

static void leave_ring(struct probe_queue *queue, struct probe_group *group)
{
    if (group->in_ring)
        TAILQ_REMOVE(&queue->ring, group, ring);
    group->in_ring = false;
}

void probe_queue_add(struct probe_queue *queue, struct probe_group *group, struct probe_poll *poll)
{
    poll->state = POLL_QUEUED;
    if (TAILQ_EMPTY(&group->polls))
        TAILQ_INIT(&group->polls);
    TAILQ_INSERT_TAIL(&group->polls, poll, of_group);
    enter_ring(queue, group);
}

static void unqueue(struct probe_group *group, struct probe_poll *poll)
{
    TAILQ_REMOVE(&group->polls, poll, of_group);
    poll->state = POLL_PAUSED;
}

void probe_queue_remove(struct probe_queue *queue, struct probe_group *group,
                        struct probe_poll *poll)
{
    if (poll->state == POLL_QUEUED) {
        unqueue(group, poll);
        if (TAILQ_EMPTY(&group->polls))
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
    struct probe_group *group = TAILQ_FIRST(&queue->ring);
    struct probe_poll *poll;

    if (!group || queue->in_flight >= queue->at_once)
        return NULL;
    leave_ring(queue, group);
    poll = TAILQ_FIRST(&group->polls);
    unqueue(group, poll);
    poll->state = POLL_IN_FLIGHT;
    queue->in_flight++;
    group->in_flight++;
    enter_ring(queue, group); /* behind the other groups, which come first */
    *out_group = group;
    return poll;
}
