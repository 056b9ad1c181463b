/*
 * Whom to push out for a group that finds no room.
 *
 * Only pods that say so (volcano.sh/preemptable: "true", on the pod) are ever touched, and only
 *
 *   preempted   in the same queue, of a group of lower priority, if the group's priority class does
 *               not say preemptionPolicy: Never
 *   reclaimed   from other queues that are reclaimable and use more than they deserve, if the
 *               group's queue says what it deserves and stays within it
 *
 * A gang is never left in part: first go pods beyond the minimum of their gangs, then whole gangs;
 * lowest priority first, then the youngest. What turns out not to be needed in the end is spared.
 * A pod that runs is left alone for its volcano.sh/cooldown-time; when that kept the hunt from
 * finding enough, it is repeated when the first of them may go. Ref: Volcano
 * pkg/scheduler/actions/preempt, reclaim, pkg/scheduler/plugins/cdp.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/scheduler/internal.h"

/* A group some of whose pods may go. */
struct prey {
    struct group *group;
    bool reclaimed;
    bool whole;    /* all of it goes */
    int32_t spare; /* pods beyond the gang that have not been chosen */
};

struct choice {
    struct member *member;
    struct prey *prey;
    bool spared;
};

struct hunt {
    struct scheduler *s;
    struct group *group;
    struct amount need;
    struct prey *prey; /* [n_prey] */
    size_t n_prey;
    struct choice *choices; /* [n_choices] */
    size_t n_choices, cap;
    struct amount freed_at[PLACES_MAX];
    struct amount freed;
    int64_t now_ms;
    int64_t cooled_ms; /* when the first pod that is protected now may go; 0 = there is none */
};

/* Who may go at all. */

static bool is_above(struct amount used, struct amount deserved, struct amount lacks)
{
    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++)
        if (*amount_at(&lacks, kind) > 0 && *amount_at(&used, kind) > *amount_at(&deserved, kind))
            return true;
    return false;
}

static bool may_reclaim(const struct group *group, struct amount more)
{
    const struct queue *queue = group->queue;

    return queue->has_deserved && amount_within(amount_add(queue->used, more), queue->deserved);
}

/* What would be missing if nobody went. */
static struct amount lacking(const struct hunt *hunt)
{
    struct scheduler *s = hunt->s;

    return amount_minus(amount_add(s->used, hunt->need), s->places.capacity);
}

static bool is_prey(const struct hunt *hunt, const struct group *group, bool *reclaimed)
{
    if (group == hunt->group)
        return false;
    *reclaimed = group->queue != hunt->group->queue;
    if (!*reclaimed)
        return hunt->group->preempts && group->priority < hunt->group->priority;
    return group->queue->reclaimable && may_reclaim(hunt->group, hunt->need) &&
           is_above(group->queue->used, group->queue->deserved, lacking(hunt));
}

static int before(const void *left, const void *right)
{
    const struct group *a = ((const struct prey *)left)->group;
    const struct group *b = ((const struct prey *)right)->group;

    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence > b->sequence ? -1 : 1;
    return 0;
}

static void find_prey(struct hunt *hunt)
{
    struct group *group;
    size_t n = 0;

    LIST_FOREACH(group, &hunt->s->victims, victim)
    n++;
    hunt->prey = mem_array(n + 1, sizeof *hunt->prey);
    LIST_FOREACH(group, &hunt->s->victims, victim)
    {
        bool reclaimed;

        if (is_prey(hunt, group, &reclaimed))
            hunt->prey[hunt->n_prey++] =
                (struct prey){group, reclaimed, false, group_placed(group) - group_gate(group)};
    }
    qsort(hunt->prey, hunt->n_prey, sizeof *hunt->prey, before);
}

/* What it would give. */

static void free_place(struct hunt *hunt, const struct member *member, int sign)
{
    struct amount none = {0};
    struct amount by = sign > 0 ? member->need : amount_minus(none, member->need);

    hunt->freed = amount_add(hunt->freed, by);
    for (struct queue *queue = member->group->queue; queue; queue = queue->parent)
        queue->hunted = amount_add(queue->hunted, by);
    if (member->place >= 0)
        hunt->freed_at[member->place] = amount_add(hunt->freed_at[member->place], by);
}

static bool queues_have_room(const struct hunt *hunt)
{
    for (const struct queue *queue = hunt->group->queue; queue; queue = queue->parent) {
        struct amount used = amount_minus(queue->used, queue->hunted);

        if (!amount_within(amount_add(used, hunt->need), queue->limit))
            return false;
    }
    return true;
}

static bool places_have_room(const struct hunt *hunt)
{
    struct group *group = hunt->group;
    int32_t missing = group_missing(group);
    struct place_wish *wishes;
    struct member **members;
    bool all;
    size_t n;

    if (hunt->s->places.count == 1 || group->stage == GROUP_WAITING)
        return true;
    n = group_select(group, missing > 1 ? (size_t)missing : 1, &members);
    wishes = mem_array(n + 1, sizeof *wishes);
    for (size_t i = 0; i < n; i++)
        wishes[i] = (struct place_wish){.fits = members[i]->fits, .need = members[i]->need};
    all = places_try(&hunt->s->places, hunt->freed_at, wishes, n);
    group_unselect(group, members, n);
    mem_free(wishes);
    mem_free(members);
    return all;
}

static bool is_enough(const struct hunt *hunt)
{
    struct scheduler *s = hunt->s;
    struct amount after = amount_minus(amount_add(s->used, hunt->need), hunt->freed);

    after = amount_add(after, queues_kept(&s->queues, hunt->group->queue, hunt->need));
    return amount_within(after, s->places.capacity) && queues_have_room(hunt) &&
           places_have_room(hunt);
}

/* Choosing. */

static bool can_go(struct hunt *hunt, const struct member *member)
{
    if ((member->state != MEMBER_BOUND && member->state != MEMBER_RUNNING) ||
        !member->preemptable || member->deleting || member->writing)
        return false;
    if (member->state == MEMBER_BOUND || member->cooled_ms <= hunt->now_ms)
        return true;
    if (!hunt->cooled_ms || member->cooled_ms < hunt->cooled_ms)
        hunt->cooled_ms = member->cooled_ms;
    return false;
}

static void choose(struct hunt *hunt, struct prey *prey, struct member *member)
{
    if (hunt->n_choices == hunt->cap) {
        hunt->cap = hunt->cap ? 2 * hunt->cap : 16;
        hunt->choices = mem_resize(hunt->choices, hunt->cap * sizeof *hunt->choices);
    }
    hunt->choices[hunt->n_choices++] = (struct choice){member, prey, false};
    member->chosen = true;
    free_place(hunt, member, 1);
}

/* The queue may not fall below what it deserves by what is taken from it. */
static bool still_above(const struct hunt *hunt, const struct prey *prey)
{
    const struct queue *queue = prey->group->queue;

    return !prey->reclaimed ||
           is_above(amount_minus(queue->used, queue->hunted), queue->deserved, lacking(hunt));
}

/* Those that do not run yet first: nothing is lost with them. */
static void choose_spare(struct hunt *hunt, struct prey *prey)
{
    static const enum member_state order[] = {MEMBER_BOUND, MEMBER_RUNNING};
    struct member *member;

    for (size_t i = 0; i < countof(order); i++)
        LIST_FOREACH(member, &prey->group->all, sibling)
        {
            if (prey->spare <= 0 || !still_above(hunt, prey) || is_enough(hunt))
                return;
            if (member->state != order[i] || !can_go(hunt, member))
                continue;
            choose(hunt, prey, member);
            prey->spare--;
        }
}

static bool can_go_whole(struct hunt *hunt, const struct group *group)
{
    const struct member *member;

    LIST_FOREACH(member, &group->all, sibling)
    {
        bool placed = member->state == MEMBER_BOUND || member->state == MEMBER_RUNNING;

        if (placed && !member->deleting && !can_go(hunt, member))
            return false;
    }
    return true;
}

static void choose_whole(struct hunt *hunt, struct prey *prey)
{
    struct member *member;

    if (!can_go_whole(hunt, prey->group) || !still_above(hunt, prey))
        return;
    prey->whole = true;
    LIST_FOREACH(member, &prey->group->all, sibling)
    if (can_go(hunt, member) && !member->chosen)
        choose(hunt, prey, member);
}

static void spare(struct hunt *hunt, struct choice *choice, bool spared)
{
    choice->spared = spared;
    free_place(hunt, choice->member, spared ? -1 : 1);
}

static void spare_prey(struct hunt *hunt, const struct prey *prey, bool spared)
{
    for (size_t i = 0; i < hunt->n_choices; i++)
        if (hunt->choices[i].prey == prey)
            spare(hunt, &hunt->choices[i], spared);
}

/* Highest priority first. A gang is spared whole. */
static void spare_needless(struct hunt *hunt)
{
    for (size_t i = hunt->n_prey; i-- > 0;) {
        struct prey *prey = &hunt->prey[i];

        if (!prey->whole)
            continue;
        spare_prey(hunt, prey, true);
        if (!is_enough(hunt))
            spare_prey(hunt, prey, false);
    }
    for (size_t i = hunt->n_choices; i-- > 0;) {
        struct choice *choice = &hunt->choices[i];

        if (choice->spared || choice->prey->whole)
            continue;
        spare(hunt, choice, true);
        if (!is_enough(hunt))
            spare(hunt, choice, false);
    }
}

static bool hunt_down(struct hunt *hunt)
{
    find_prey(hunt);
    for (size_t i = 0; i < hunt->n_prey && !is_enough(hunt); i++)
        choose_spare(hunt, &hunt->prey[i]);
    for (size_t i = 0; i < hunt->n_prey && !is_enough(hunt); i++)
        choose_whole(hunt, &hunt->prey[i]);
    if (!hunt->n_choices || !is_enough(hunt))
        return false;
    spare_needless(hunt);
    return true;
}

/* The scratch marks go; the choices stay. */
static void call_off(struct hunt *hunt)
{
    for (size_t i = 0; i < hunt->n_choices; i++) {
        hunt->choices[i].member->chosen = false;
        if (!hunt->choices[i].spared)
            free_place(hunt, hunt->choices[i].member, -1);
    }
}

/* Carrying out. */

static void push_out(struct hunt *hunt)
{
    const struct group *group = hunt->group;

    for (size_t i = 0; i < hunt->n_choices; i++) {
        struct choice *choice = &hunt->choices[i];
        const struct group *from = choice->prey->group;
        scoped_str why = NULL;

        if (choice->spared)
            continue;
        if (choice->prey->reclaimed)
            why = mem_printf("queue %s uses more than it deserves and gives room back to PodGroup "
                             "%s of queue %s",
                             from->queue->name, group->key, group->queue->name);
        else
            why = mem_printf("makes room for PodGroup %s of queue %s: priority %d over %d",
                             group->key, group->queue->name, group->priority, from->priority);
        member_evict(choice->member, choice->prey->reclaimed ? "Reclaimed" : "Preempted", why);
    }
}

void scheduler_cooled(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, cooled);

    s->placements++; /* who found nobody looks again */
    queues_unblock(&s->queues);
    loop_post(s->cluster->loop, &s->pass);
}

static void hunt_again(struct scheduler *s, const struct hunt *hunt)
{
    int64_t wait_ns = (hunt->cooled_ms - hunt->now_ms) * 1000000;

    if (!timer_armed(&s->cooled) || s->cooled.due_ns > loop_mono_ns(s->cluster->loop) + wait_ns)
        timer_start_ns(s->cluster->loop, &s->cooled, wait_ns);
}

bool scheduler_make_room(struct scheduler *s, struct group *group, struct amount need)
{
    struct hunt hunt = {.s = s,
                        .group = group,
                        .need = amount_minus(need, group->granted),
                        .now_ms = loop_wall_ms(s->cluster->loop)};
    bool found;

    if (LIST_EMPTY(&s->victims) || group->claims || group->evict_seen == s->placements + 1)
        return false;
    found = hunt_down(&hunt);
    call_off(&hunt);
    if (found) {
        push_out(&hunt);
        group_claim(group, hunt.need);
    } else {
        group->evict_seen = s->placements + 1;
        if (hunt.cooled_ms)
            hunt_again(s, &hunt);
    }
    mem_free(hunt.prey);
    mem_free(hunt.choices);
    return found;
}
