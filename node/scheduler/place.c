/*
 * Finds nodes for pods, binds them, admits groups, and keeps the queues up to date with what the
 * groups want.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"

static bool wants(const struct group *group)
{
    if (group->unsatisfiable || group->claims)
        return false;
    if (group->job_gang && group->stage == GROUP_WAITING && !group->job_gang->whole)
        return false;
    return group->stage == GROUP_WAITING || (group->stage == GROUP_ADMITTED && group_ready(group));
}

static void leave_queue(struct group *group)
{
    if (!fit_queue_has(&group->queue_item))
        return;
    queue_leave(&group->scheduler->queues, group->queue, &group->queue_item);
    group_end_backfills(group);
    group->waits_since_ms = 0;
}

static void join_queue(struct group *group)
{
    if (fit_queue_has(&group->queue_item)) {
        fit_queue_set_need(&group->queue_item, group_least_need(group));
        return;
    }
    if (group->job_gang)
        group_clear_refusal(group); /* the group waited for the other groups of its job gang */
    group_rank(group);
    queue_join(&group->scheduler->queues, group->queue, &group->queue_item,
               group_least_need(group));
}

bool group_update_queueing(struct group *group)
{
    if (!wants(group)) {
        leave_queue(group);
        return false;
    }
    join_queue(group);
    return true;
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

static bool bind_all(struct group *group, struct member **members, size_t n)
{
    uint64_t since = group->granted.pods ? group->held_since : group->scheduler->stamp;

    if (!find_nodes(group->scheduler, group, members, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        members[i]->since = since;
        member_bind(members[i]);
    }
    return true;
}

static bool bind_gang(struct group *group)
{
    struct member **members;
    size_t n = group_select(group, (size_t)group_missing(group), &members);
    bool bound = bind_all(group, members, n);

    if (!bound)
        group_unselect(group, members, n);
    mem_free(members);
    return bound;
}

bool group_bind_next(struct group *group, struct member *member)
{
    bool gang = group_missing(group) > 1, in_turn;
    struct member *next = gang ? NULL : group_next_member(group);

    if (!member)
        member = next;
    in_turn = member == next;
    if (!(gang ? bind_gang(group) : bind_all(group, &member, 1)))
        return false;
    if (in_turn)
        group_clear_refusal(group); /* without a gang to wait for, the next member still waits */
    group_charge(group);
    return true;
}

void group_drop_claim(struct group *group)
{
    struct group **at = &group->scheduler->claimants;

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

void group_bind_reserved(struct group *group)
{
    while (group->stage == GROUP_ADMITTED && group->granted.pods && group_ready(group) &&
           amount_within(group_gang_need(group), group->granted)) {
        if (group_bind_next(group, NULL))
            continue;
        if (!group->unsatisfiable)
            group_claim(group, (struct amount){0});
        return;
    }
}

static void admit_one(struct group *group)
{
    struct amount need = group_reserve(group);

    group_drop_claim(group);
    group_clear_refusal(group);
    group->stage = GROUP_ADMITTED;
    job_gang_update(group);
    group_grant(group, need);
    scheduler_metrics_admitted(group);
    group_report_admitted(group);
    group_bind_reserved(group); /* binds pods that were created before the admission */
    group_update_queueing(group);
}

void group_admit(struct group *group)
{
    if (!job_gang_admits_together(group)) {
        admit_one(group);
        return;
    }
    group_drop_claim(group); /* the claim was made for all groups of the job gang */
    job_gang_admit(group->job_gang, admit_one);
}
