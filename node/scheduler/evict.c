/*
 * Chooses pods to evict for a group that does not fit.
 *
 * Only pods with volcano.sh/preemptable: "true" may be evicted, for one of two reasons:
 *
 *   Preempted   the pod is in the same queue, its group has lower priority, and the priority class
 *               of the waiting group does not have preemptionPolicy: Never
 *   Reclaimed   the pod's queue is reclaimable and uses more than it deserves, and the waiting
 *               group's queue has a deserved amount and stays within it
 *
 * No gang is left in part: first extra members above their gang's minimum are chosen, then whole
 * gangs; groups of lowest priority first, then the youngest. Choices that turn out not to be needed
 * are spared. A running pod is not evicted during its volcano.sh/cooldown-time; if that prevents
 * the eviction, the search is repeated when the first cooldown ends.
 * Ref: Volcano pkg/scheduler/actions/preempt, reclaim, pkg/scheduler/plugins/cdp.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/scheduler/internal.h"

/* A group whose pods may be evicted. */
struct victim {
    struct group *group;
    bool reclaimed;
    bool whole;    /* all pods of the group are chosen */
    int32_t extra; /* number of members above its gang's minimum that are not chosen yet */
};

struct choice {
    struct member *member;
    struct victim *victim;
    bool spared;
};

struct eviction {
    struct scheduler *s;
    struct group *group;
    struct amount need;
    struct victim *victims; /* groups whose pods may be evicted, [n_victims] */
    size_t n_victims;
    struct choice *choices; /* chosen pods, [n_choices] */
    size_t n_choices, cap;
    struct amount freed_at[SCHEDULER_NODES_MAX];
    struct amount freed;
    int64_t now_ms;
    int64_t cooled_ms; /* when the first cooldown of a protected pod ends; 0: none is protected */
};

/* Returns true if the queue uses more than it deserves of a resource that is short. */

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

/* Returns how much capacity is short without evictions; negative amounts are free. */
static struct amount shortage(const struct eviction *eviction)
{
    struct scheduler *s = eviction->s;

    return amount_minus(amount_add(s->used, eviction->need), s->node_set.capacity);
}

static bool is_victim(const struct eviction *eviction, const struct group *group, bool *reclaimed)
{
    if (group == eviction->group)
        return false;
    *reclaimed = group->queue != eviction->group->queue;
    if (!*reclaimed)
        return eviction->group->preempts && group->priority < eviction->group->priority;
    return group->queue->reclaimable && may_reclaim(eviction->group, eviction->need) &&
           is_above(group->queue->used, group->queue->deserved, shortage(eviction));
}

static int before(const void *left, const void *right)
{
    const struct group *a = ((const struct victim *)left)->group;
    const struct group *b = ((const struct victim *)right)->group;

    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence > b->sequence ? -1 : 1;
    return 0;
}

static void find_victims(struct eviction *eviction)
{
    struct group *group;
    size_t n = 0;

    LIST_FOREACH(group, &eviction->s->victims, victim)
    n++;
    eviction->victims = mem_array(n + 1, sizeof *eviction->victims);
    LIST_FOREACH(group, &eviction->s->victims, victim)
    {
        bool reclaimed;

        if (is_victim(eviction, group, &reclaimed))
            eviction->victims[eviction->n_victims++] =
                (struct victim){group, reclaimed, false, group_placed(group) - group_gate(group)};
    }
    qsort(eviction->victims, eviction->n_victims, sizeof *eviction->victims, before);
}

/* Adds what the member's eviction frees (`sign` 1), or takes it back (-1). */

static void count_freed(struct eviction *eviction, const struct member *member, int sign)
{
    struct amount none = {0};
    struct amount by = sign > 0 ? member->need : amount_minus(none, member->need);

    eviction->freed = amount_add(eviction->freed, by);
    for (struct queue *queue = member->group->queue; queue; queue = queue->parent)
        queue->would_free = amount_add(queue->would_free, by);
    if (member->node_index >= 0)
        eviction->freed_at[member->node_index] =
            amount_add(eviction->freed_at[member->node_index], by);
}

static bool queues_have_capacity(const struct eviction *eviction)
{
    for (const struct queue *queue = eviction->group->queue; queue; queue = queue->parent) {
        struct amount used = amount_minus(queue->used, queue->would_free);

        if (!amount_fits(eviction->need, used, queue->limit))
            return false;
    }
    return true;
}

static bool nodes_have_capacity(const struct eviction *eviction)
{
    struct group *group = eviction->group;
    int32_t missing = group_missing(group);
    struct placement *placements;
    struct member **members;
    bool all;
    size_t n;

    if (eviction->s->node_set.count == 1 || group->stage == GROUP_WAITING)
        return true;
    n = group_select(group, missing > 1 ? (size_t)missing : 1, &members);
    placements = mem_array(n + 1, sizeof *placements);
    for (size_t i = 0; i < n; i++)
        placements[i] =
            (struct placement){.feasible = members[i]->feasible, .need = members[i]->need};
    all = node_set_try_place(&eviction->s->node_set, eviction->freed_at, placements, n);
    group_unselect(group, members, n);
    mem_free(placements);
    mem_free(members);
    return all;
}

static bool is_enough(const struct eviction *eviction)
{
    struct scheduler *s = eviction->s;
    struct amount used = amount_minus(s->used, eviction->freed);

    used = amount_add(used, queues_kept(&s->queues, eviction->group->queue, eviction->need));
    return amount_fits(eviction->need, used, s->node_set.capacity) &&
           queues_have_capacity(eviction) && nodes_have_capacity(eviction);
}

static bool may_evict(struct eviction *eviction, const struct member *member)
{
    if ((member->state != MEMBER_BOUND && member->state != MEMBER_RUNNING) ||
        !member->preemptable || member->deleting || member->writing)
        return false;
    if (member->state == MEMBER_BOUND || member->cooled_ms <= eviction->now_ms)
        return true;
    if (!eviction->cooled_ms || member->cooled_ms < eviction->cooled_ms)
        eviction->cooled_ms = member->cooled_ms;
    return false;
}

static void choose(struct eviction *eviction, struct victim *victim, struct member *member)
{
    if (eviction->n_choices == eviction->cap) {
        eviction->cap = eviction->cap ? 2 * eviction->cap : 16;
        eviction->choices =
            mem_resize(eviction->choices, eviction->cap * sizeof *eviction->choices);
    }
    eviction->choices[eviction->n_choices++] = (struct choice){member, victim, false};
    member->chosen = true;
    count_freed(eviction, member, 1);
}

/* Returns true if the victim's queue may lose more pods without falling below what it deserves. */
static bool still_above(const struct eviction *eviction, const struct victim *victim)
{
    const struct queue *queue = victim->group->queue;

    return !victim->reclaimed || is_above(amount_minus(queue->used, queue->would_free),
                                          queue->deserved, shortage(eviction));
}

/* Chooses pods that do not run yet first: their eviction loses no work. */
static void choose_extra_members(struct eviction *eviction, struct victim *victim)
{
    static const enum member_state order[] = {MEMBER_BOUND, MEMBER_RUNNING};
    struct member *member;

    for (size_t i = 0; i < countof(order); i++)
        LIST_FOREACH(member, &victim->group->all, sibling)
        {
            if (victim->extra <= 0 || !still_above(eviction, victim) || is_enough(eviction))
                return;
            if (member->state != order[i] || !may_evict(eviction, member))
                continue;
            choose(eviction, victim, member);
            victim->extra--;
        }
}

static bool may_evict_whole(struct eviction *eviction, const struct group *group)
{
    const struct member *member;

    LIST_FOREACH(member, &group->all, sibling)
    {
        bool placed = member->state == MEMBER_BOUND || member->state == MEMBER_RUNNING;

        if (placed && !member->deleting && !may_evict(eviction, member))
            return false;
    }
    return true;
}

static void choose_whole_gang(struct eviction *eviction, struct victim *victim)
{
    struct member *member;

    if (!may_evict_whole(eviction, victim->group) || !still_above(eviction, victim))
        return;
    victim->whole = true;
    LIST_FOREACH(member, &victim->group->all, sibling)
    if (may_evict(eviction, member) && !member->chosen)
        choose(eviction, victim, member);
}

static void spare(struct eviction *eviction, struct choice *choice, bool spared)
{
    choice->spared = spared;
    count_freed(eviction, choice->member, spared ? -1 : 1);
}

static void spare_group(struct eviction *eviction, const struct victim *victim, bool spared)
{
    for (size_t i = 0; i < eviction->n_choices; i++)
        if (eviction->choices[i].victim == victim)
            spare(eviction, &eviction->choices[i], spared);
}

/* Spares choices that are not needed, highest priority first. A gang is spared as a whole. */
static void spare_unneeded(struct eviction *eviction)
{
    for (size_t i = eviction->n_victims; i-- > 0;) {
        struct victim *victim = &eviction->victims[i];

        if (!victim->whole)
            continue;
        spare_group(eviction, victim, true);
        if (!is_enough(eviction))
            spare_group(eviction, victim, false);
    }
    for (size_t i = eviction->n_choices; i-- > 0;) {
        struct choice *choice = &eviction->choices[i];

        if (choice->spared || choice->victim->whole)
            continue;
        spare(eviction, choice, true);
        if (!is_enough(eviction))
            spare(eviction, choice, false);
    }
}

static bool choose_victims(struct eviction *eviction)
{
    find_victims(eviction);
    for (size_t i = 0; i < eviction->n_victims && !is_enough(eviction); i++)
        choose_extra_members(eviction, &eviction->victims[i]);
    for (size_t i = 0; i < eviction->n_victims && !is_enough(eviction); i++)
        choose_whole_gang(eviction, &eviction->victims[i]);
    if (!eviction->n_choices || !is_enough(eviction))
        return false;
    spare_unneeded(eviction);
    return true;
}

/* Resets the marks on members and queues. The list of choices stays. */
static void reset_marks(struct eviction *eviction)
{
    for (size_t i = 0; i < eviction->n_choices; i++) {
        eviction->choices[i].member->chosen = false;
        if (!eviction->choices[i].spared)
            count_freed(eviction, eviction->choices[i].member, -1);
    }
}

static void evict_chosen(struct eviction *eviction)
{
    const struct group *group = eviction->group;

    for (size_t i = 0; i < eviction->n_choices; i++) {
        struct choice *choice = &eviction->choices[i];
        const struct group *from = choice->victim->group;
        scoped_str title = group_title(group, from);
        scoped_str why = NULL;

        if (choice->spared)
            continue;
        if (choice->victim->reclaimed)
            why = mem_printf("queue %s uses more than it deserves and gives room back to "
                             "%s of queue %s",
                             from->queue->name, title, group->queue->name);
        else
            why = mem_printf("makes room for %s of queue %s: priority %d over %d", title,
                             group->queue->name, group->priority, from->priority);
        member_evict(choice->member, choice->victim->reclaimed ? "Reclaimed" : "Preempted", why);
    }
}

void scheduler_cooled(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, cooled);

    s->placement_changes++; /* groups that found no victims may search again */
    queues_unblock(&s->queues);
    loop_post(s->cluster->loop, &s->pass);
}

static void retry_after_cooldown(struct scheduler *s, const struct eviction *eviction)
{
    int64_t wait_ns = (eviction->cooled_ms - eviction->now_ms) * 1000000;

    if (!timer_armed(&s->cooled) || s->cooled.due_ns > loop_mono_ns(s->cluster->loop) + wait_ns)
        timer_start_ns(s->cluster->loop, &s->cooled, wait_ns);
}

bool scheduler_evict_for(struct scheduler *s, struct group *group, struct amount need)
{
    struct eviction eviction = {.s = s,
                                .group = group,
                                .need = amount_minus(need, group->granted),
                                .now_ms = loop_wall_ms(s->cluster->loop)};
    bool found;

    if (LIST_EMPTY(&s->victims) || group->claims ||
        group->evict_failed_at == s->placement_changes + 1)
        return false;
    found = choose_victims(&eviction);
    reset_marks(&eviction);
    if (found) {
        evict_chosen(&eviction);
        group_claim(group, eviction.need);
    } else {
        group->evict_failed_at = s->placement_changes + 1;
        if (eviction.cooled_ms)
            retry_after_cooldown(s, &eviction);
    }
    mem_free(eviction.victims);
    mem_free(eviction.choices);
    return found;
}
