/*
 * The decisions of a turn.
 *
 *   touched groups:  charge anew → bind what the reservation covers → join or leave the line
 *   claimants:       those for whom others were pushed out, before anybody takes the room
 *   the lines:       the first group of the next queue: admit it or bind its next pods
 *
 * A first group without room lets those behind it pass for a while, if its queue's dequeueStrategy
 * is traverse; then the room is kept for it: nobody is served any more but from a guarantee. So a
 * large gang waits at most PASSING_MS longer than it would in a strict line, and nobody starves.
 *
 * A pass costs what was touched, what is granted, and the heads it refuses; when not even one pod
 * fits, it ends at the first.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"

enum {
    PASSING_MS = 10000, /* how long a first group lets others pass */
    BEHIND_MAX = 8,     /* how far down a line is looked for somebody who fits */
};

/* Lines. */

static bool wants(const struct group *group)
{
    if (group->hopeless || group->claims)
        return false;
    if (group->team && group->stage == GROUP_WAITING && !group->team->whole)
        return false;
    return group->stage == GROUP_WAITING || (group->stage == GROUP_ADMITTED && group_ready(group));
}

static void line_up(struct scheduler *s, struct group *group)
{
    if (wants(group) == heap_has(&group->place))
        return;
    if (heap_has(&group->place)) {
        queue_leave(&s->queues, group->queue, &group->place);
        group->waits_since_ms = 0;
    } else {
        if (group->team)
            group_clear_refusal(group); /* it waited for its mates */
        group_rank(group);
        queue_join(&s->queues, group->queue, &group->place);
    }
}

/* Binding. */

/* Together they would not even fit empty nodes: the room reserved for them is of no use. */
static void give_up(struct scheduler *s, struct group *group, struct place_wish *wishes, size_t n)
{
    struct amount all[PLACES_MAX];

    for (size_t i = 0; i < s->places.count; i++)
        all[i] = s->places.items[i].used;
    if (places_try(&s->places, all, wishes, n))
        return;
    group_refuse(group, mem_printf("can never fit: %zu pods together find no place on the %zu "
                                   "nodes even when they are empty: lower the requests",
                                   n, s->places.count));
    group->hopeless = true;
    group_grant(group, (struct amount){0});
}

/* With several nodes, the members chosen must find places together. */
static bool find_places(struct scheduler *s, struct group *group, struct member **members, size_t n)
{
    struct place_wish *wishes;
    bool all;

    if (s->places.count == 1) {
        for (size_t i = 0; i < n; i++)
            members[i]->place = 0;
        return true;
    }
    wishes = mem_array(n + 1, sizeof *wishes);
    for (size_t i = 0; i < n; i++)
        wishes[i] = (struct place_wish){.fits = members[i]->fits, .need = members[i]->need};
    all = places_try(&s->places, NULL, wishes, n);
    for (size_t i = 0; all && i < n; i++)
        members[i]->place = wishes[i].place;
    if (!all)
        give_up(s, group, wishes, n);
    mem_free(wishes);
    return all;
}

static bool bind_next(struct scheduler *s, struct group *group, size_t how_many)
{
    struct member **members;
    size_t n = group_select(group, how_many, &members);
    bool found = find_places(s, group, members, n);

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

/* Claims. */

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

/* Pods the reservation was made for need nobody's leave. With several nodes the room may be in
 * pieces; then the group is tried before all others until it is not. */
static void bind_reserved(struct scheduler *s, struct group *group)
{
    while (group->stage == GROUP_ADMITTED && group->granted.pods && group_ready(group) &&
           amount_within(group_gang_need(group), group->granted)) {
        if (bind_next(s, group, gang_size(group)))
            continue;
        if (!group->hopeless)
            group_claim(group, (struct amount){0});
        return;
    }
}

/* Reviewing what was touched. */

static void review(struct scheduler *s, struct group *group)
{
    group_charge(group);
    team_see(group);
    if (!group->object && !(group->implicit && group->members)) {
        drop_claim(s, group);
        line_up(s, group);
        group_drop(group);
        return;
    }
    bind_reserved(s, group);
    line_up(s, group);
    if (group->team && group->stage == GROUP_WAITING && !group->team->whole)
        group_refuse(group, mem_printf("waits for the other jobs of gang %s", group->team->key));
    group_tell_later(group);
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

/* Serving. */

static void admit_one(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct amount need = group_reserve(group);

    drop_claim(s, group);
    group_clear_refusal(group);
    group->stage = GROUP_ADMITTED;
    team_see(group);
    group_grant(group, need);
    scheduler_figures_admitted(group);
    group_tell_admitted(group);
    bind_reserved(s, group); /* pods that were there before it */
    line_up(s, group);
}

/* The group, or those of its team that go together, of which it need not be one. */
static void admit(struct scheduler *s, struct group *group)
{
    if (!team_holds(group)) {
        admit_one(group);
        return;
    }
    drop_claim(s, group); /* made for all of them */
    team_admit(group->team, admit_one);
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
            verdict = group->hopeless ? NEVER : NO_ROOM;
    }
    line_up(s, group);
    return verdict;
}

/* Somebody behind the first who fits. Those looked at are set aside meanwhile. */
static void serve_behind(struct scheduler *s, struct queue *queue)
{
    struct heap_item *aside[BEHIND_MAX];
    size_t n = 0;

    while (n < BEHIND_MAX && heap_first(&queue->waiting)) {
        struct heap_item *item = heap_first(&queue->waiting);
        struct group *group = container_of(item, struct group, place);
        struct queue *limiter;
        enum verdict verdict = n ? serve(s, group, &limiter) : NO_ROOM;

        if (verdict == GRANTED || verdict == NEVER)
            group_tell_later(group);
        if (heap_first(&queue->waiting) != item)
            continue;
        heap_remove(&queue->waiting, item);
        aside[n++] = item;
    }
    for (size_t i = 0; i < n; i++)
        heap_add(&queue->waiting, aside[i]);
}

static bool is_patient(struct scheduler *s, struct group *group)
{
    return loop_wall_ms(s->cluster->loop) - group->waits_since_ms < PASSING_MS;
}

static void refused_by_closed(struct scheduler *s, struct queue *queue, struct group *group)
{
    group_refuse(group, queue->exists
                            ? mem_printf("queue %s takes nothing: it is not open", queue->name)
                            : mem_printf("queue %s does not exist", queue->name));
    group_tell_later(group);
    queue_block(&s->queues, queue, queue);
}

/* True: room will be made for it. */
static bool claims_room(struct scheduler *s, struct group *group)
{
    if (!scheduler_make_room(s, group, group_need(group)))
        return false;
    line_up(s, group);
    return true;
}

/* Returns false when nobody else is to be served from the room there is. */
static bool refused_by_node(struct scheduler *s, struct queue *queue, struct group *group)
{
    bool patient = is_patient(s, group);

    if (patient && !queue->fifo && !scheduler_is_full(s))
        serve_behind(s, queue);
    queue_pass_over(&s->queues, queue);
    return patient;
}

static void refused_by_queue(struct scheduler *s, struct queue *queue, struct group *group,
                             struct queue *limiter)
{
    if (is_patient(s, group) && !queue->fifo)
        serve_behind(s, queue);
    queue_block(&s->queues, queue, limiter);
}

static void serve_claimants(struct scheduler *s)
{
    struct group *group = s->claimants;

    while (group) {
        struct group *next = group->next_claimant;
        struct queue *limiter;

        bool goes_on = group->stage == GROUP_ADMITTED ? group_ready(group) : group->queue->open;

        if (goes_on && serve(s, group, &limiter) == GRANTED) {
            group_tell_later(group);
        } else if (!goes_on || (!s->evicting && group->claim.pods)) {
            drop_claim(s, group); /* those it waited for may be gone, and it was not enough */
            line_up(s, group);
        }
        group = next;
    }
}

/* The first group of `queue`. False: the pass is over. */
static bool serve_first(struct scheduler *s, struct queue *queue, bool *kept)
{
    struct group *group = container_of(heap_first(&queue->waiting), struct group, place);
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
        group_tell_later(group);
        return true;
    case QUEUE_FULL:
        group_waits(group);
        if (!claims_room(s, group))
            refused_by_queue(s, queue, group, limiter);
        return true;
    case NO_ROOM:
        break;
    }
    group_waits(group);
    s->gang_waits = s->gang_waits || group_need(group).pods > 1;
    if (claims_room(s, group))
        return true;
    *kept = !refused_by_node(s, queue, group) || *kept;
    return s->queues.guaranteed || !LIST_EMPTY(&s->victims) || !(*kept || scheduler_is_full(s));
}

void scheduler_pass(struct task *task)
{
    struct scheduler *s = container_of(task, struct scheduler, pass);
    struct queue *queue;
    bool kept = false; /* what room there is, for a group that has waited long enough */

    s->gang_waits = false;
    review_touched(s);
    serve_claimants(s);
    while ((queue = queues_next(&s->queues)))
        if (!serve_first(s, queue, &kept))
            break;
    queues_next_pass(&s->queues);
}
