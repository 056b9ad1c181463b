/*
 * Taking turns. A group is in the ring exactly when it has a queue and room in flight.
 */
#include "probes/turns.h"

static void enter_ring(struct probe_turns *turns, struct probe_group *group)
{
    if (group->in_turn || !group->first || group->flying >= turns->per_group)
        return;
    group->in_turn = true;
    group->next = NULL;
    if (turns->last)
        turns->last->next = group;
    else
        turns->first = group;
    turns->last = group;
}

static void leave_ring(struct probe_turns *turns, struct probe_group *group)
{
    struct probe_group *before = NULL;

    if (!group->in_turn)
        return;
    for (struct probe_group *g = turns->first; g != group; g = g->next)
        before = g;
    if (before)
        before->next = group->next;
    else
        turns->first = group->next;
    if (turns->last == group)
        turns->last = before;
    group->in_turn = false;
    group->next = NULL;
}

void probe_turns_wait(struct probe_turns *turns, struct probe_group *group,
                      struct probe_check *check)
{
    check->queued = true;
    check->next = NULL;
    check->prev = group->last;
    if (group->last)
        group->last->next = check;
    else
        group->first = check;
    group->last = check;
    enter_ring(turns, group);
}

static void unqueue(struct probe_group *group, struct probe_check *check)
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

void probe_turns_leave(struct probe_turns *turns, struct probe_group *group,
                       struct probe_check *check)
{
    if (check->queued) {
        unqueue(group, check);
        if (!group->first)
            leave_ring(turns, group);
    }
    if (check->flying) {
        check->flying = false;
        turns->flying--;
        group->flying--;
        enter_ring(turns, group);
    }
}

struct probe_check *probe_turns_next(struct probe_turns *turns, struct probe_group **out_group)
{
    struct probe_group *group = turns->first;
    struct probe_check *check;

    if (!group || turns->flying >= turns->at_once)
        return NULL;
    leave_ring(turns, group);
    check = group->first;
    unqueue(group, check);
    check->flying = true;
    turns->flying++;
    group->flying++;
    enter_ring(turns, group); /* at the end: the others come first */
    *out_group = group;
    return check;
}
