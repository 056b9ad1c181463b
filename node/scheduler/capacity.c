/*
 * Accounts for what groups use, decides whether a group fits, and explains refusals.
 *
 *   charged = actual (placed members) + granted (reserved at admission)
 *           + claim (being freed for the group by evictions)
 *
 * The sum of all charges and of unused guarantees stays within the capacity, with two exceptions:
 * single pods may be bound before there is room for them, and a claim is charged while the evicted
 * pods still hold theirs.
 */
#include "base/mem.h"
#include "node/scheduler/internal.h"
#include "node/scheduler/shortfall.h"

static bool is_open_gang(const struct group *group)
{
    return group->granted.pods > 1 || group->claims;
}

static double rank_share(struct group *group)
{
    return group_is_elastic(group) ? queues_share(&group->scheduler->queues, group->charged) : 0;
}

void group_rank(struct group *group)
{
    group->extra_members = group_is_elastic(group);
    group->share = rank_share(group);
}

/* Puts the group at its new position in the queue if its share orders it there. */
static void requeue(struct scheduler *s, struct group *group)
{
    double share = rank_share(group);

    if (!fit_queue_has(&group->queue_item) || (group->extra_members == group_is_elastic(group) &&
                                               !(group->share < share) && !(share < group->share)))
        return;
    queue_leave(&s->queues, group->queue, &group->queue_item);
    group_rank(group);
    queue_join(&s->queues, group->queue, &group->queue_item, group_least_need(group));
}

/* Notes what is granted to the group and claimed for it, and since when. */
static void hold(struct group *group, struct amount held)
{
    struct amount none = {0};

    if (amount_equal(held, group->held))
        return;
    group_count_backfill(group, amount_minus(none, group->held), group->held_since);
    if (!amount_within(held, group->held))
        group->held_since = group->scheduler->stamp;
    group->held = held;
    group_count_backfill(group, held, group->held_since);
}

void group_charge(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct amount now;

    if (group->stage == GROUP_ADMITTED && group->granted.pods)
        group->granted = amount_min(group->granted, group_reserve(group));
    else
        group->granted = (struct amount){0};
    hold(group, group->claims ? amount_add(group->granted, group->claim) : group->granted);
    now = amount_add(group->actual, group->held);
    if (group->opened != is_open_gang(group)) {
        group->opened = is_open_gang(group);
        s->open_gangs += group->opened ? 1 : -1;
    }
    if (!amount_equal(now, group->charged)) {
        s->used = amount_add(s->used, amount_minus(now, group->charged));
        queue_charge(&s->queues, group->queue, group->charged, now);
        group->charged = now;
    }
    requeue(s, group);
}

void group_grant(struct group *group, struct amount reserve)
{
    group->granted = reserve;
    group_charge(group);
}

void group_claim(struct group *group, struct amount claim)
{
    struct scheduler *s = group->scheduler;

    if (!group->claims) {
        group->claims = true;
        group->next_claimant = s->claimants;
        s->claimants = group;
    }
    group->claim = claim;
    group_charge(group);
}

struct amount group_need(struct group *group)
{
    if (job_gang_admits_together(group))
        return job_gang_need(group->job_gang);
    return group->stage == GROUP_WAITING ? group_reserve(group) : group_gang_need(group);
}

/* Returns true if single pods may be bound before there is room. They would get in the way of gangs,
 * of groups that wait for room, of guarantees and of preemption, so none of these may be in use. */
static bool binds_ahead(const struct scheduler *s)
{
    return !s->open_gangs && !s->head_waits && !s->backfill.head && !s->queues.guaranteed &&
           LIST_EMPTY(&s->victims) && s->node_set.count == 1;
}

bool scheduler_is_full(const struct scheduler *s)
{
    const struct amount *limit = binds_ahead(s) ? &s->ahead_capacity : &s->node_set.capacity;

    return s->used.pods >= limit->pods;
}

static char *never_fits(const struct scheduler *s, const struct group *group, struct amount need)
{
    const struct resource_names *extras = &s->node_set.extras;
    char *message = shortfall_of_node(need, s->node_set.capacity, extras);
    struct amount promised = queues_promised(&s->queues, group->queue, need);
    struct queue *limiter = NULL;

    if (!message && !amount_within(amount_add(need, promised), s->node_set.capacity)) {
        scoped_str what = shortfall_of_limit(need, amount_minus(s->node_set.capacity, promised),
                                             "the guarantees of other queues leave", extras);

        return mem_printf("can never run: %s: lower the requests or the guarantees", what);
    }
    if (!message && job_gang_admits_together(group))
        limiter = job_gang_limiter(group->job_gang, true);
    else if (!message)
        limiter = queue_never(group->queue, need);
    if (limiter) {
        scoped_str subject = mem_printf("queue %s allows", limiter->name);
        scoped_str what = shortfall_of_limit(need, limiter->limit, subject, extras);

        message =
            mem_printf("can never run: %s: raise its spec.capability or use another queue", what);
    }
    return message;
}

enum verdict scheduler_judge(struct scheduler *s, struct group *group, struct amount need,
                             struct queue **limiter)
{
    bool single = group->min_member <= 1 || group_missing(group) <= 0;
    struct amount own = amount_add(group->granted, group->claim);
    struct amount more = amount_minus(need, own), used;
    char *message = never_fits(s, group, need);

    if (message) {
        group->unsatisfiable = true;
        group_refuse(group, message);
        return NEVER;
    }
    *limiter = job_gang_admits_together(group) ? job_gang_limiter(group->job_gang, false)
                                               : queue_full(group->queue, need, own);
    if (!*limiter)
        *limiter = queue_keeping(group, more);
    if (*limiter)
        return QUEUE_FULL;
    used = amount_minus(s->used, own);
    if (single && binds_ahead(s))
        return amount_fits(need, used, s->ahead_capacity) ? GRANTED : NO_CAPACITY;
    used = amount_add(used, queues_kept(&s->queues, group->queue, more));
    return amount_fits(need, used, s->node_set.capacity) && scheduler_backfills(s, group, more)
               ? GRANTED
               : NO_CAPACITY;
}

void group_refuse(struct group *group, char *message)
{
    group->refused = true;
    if (message) {
        mem_free(group->message);
        group->message = message;
    }
}

void group_clear_refusal(struct group *group)
{
    group_end_backfills(group);
    group->refused = group->unsatisfiable = false;
    group->waits_since_ms = 0;
    mem_free(group->message);
    group->message = NULL;
}

static char *waits_behind(const struct group *group, const struct group *head)
{
    scoped_str title = group_title(head, group);

    return mem_printf("waits behind %s of queue %s, for which room is kept", title,
                      head->queue->name);
}

static char *waits_for(struct scheduler *s, struct group *group)
{
    const struct resource_names *extras = &s->node_set.extras;
    struct amount need = group_need(group), own = amount_add(group->granted, group->claim);
    struct amount used = amount_minus(s->used, own), more = amount_minus(need, own);
    struct queue *limiter = queue_full(group->queue, need, own);
    struct queue *keeping = limiter ? NULL : queue_keeping(group, more);
    scoped_str what = NULL;

    if (group->claim.pods)
        return mem_printf("waits for %lld evicted pods to end", (long long)s->evicting);
    if (limiter) {
        what = shortfall_now(need, amount_minus(limiter->used, own), limiter->limit, extras);
        return mem_printf("waits for room in queue %s: %s", limiter->name, what);
    }
    if (keeping)
        return waits_behind(group, keeping->backfill.head);
    used = amount_add(used, queues_kept(&s->queues, group->queue, more));
    if (amount_fits(need, used, s->node_set.capacity) && !scheduler_backfills(s, group, more))
        return waits_behind(group, s->backfill.head);
    if (amount_fits(need, used, s->node_set.capacity) && s->node_set.count > 1)
        return mem_printf("waits for room on the nodes: %lld pods together find no place on the "
                          "%zu nodes as they are used now; queue %s",
                          (long long)need.pods, s->node_set.count, group->queue->name);
    what = shortfall_now(need, used, s->node_set.capacity, extras);
    return mem_printf("waits for room on the node: %s; queue %s", what, group->queue->name);
}

/* Reports a refusal: in the group's status, and for a pod without a group in the pod's condition.
 */
static void report(struct group *group, char *message)
{
    struct member *first = group->implicit ? group_next_member(group) : NULL;

    group_refuse(group, message);
    group_report_later(group);
    if (first)
        member_report_unschedulable(first, message);
}

/* Number of groups behind the head that get a message that names it. */
enum { REPORTED_BEHIND = 16 };

static void report_line(struct scheduler *s, struct queue *queue, int64_t before_ms)
{
    struct fit_item *item = fit_queue_first(&queue->waiting);
    struct group *head = item ? container_of(item, struct group, queue_item) : NULL;

    if (!head || !head->waits_since_ms || head->waits_since_ms > before_ms)
        return;
    report(head, waits_for(s, head));
    for (int n = 0; n < REPORTED_BEHIND && (item = fit_queue_next(item)); n++) {
        struct group *group = container_of(item, struct group, queue_item);
        scoped_str title = group_title(head, group);

        if (!group->message)
            report(group, mem_printf("waits in queue %s behind %s", queue->name, title));
    }
}

/* Reports to the head of each queue, and to groups with a claim, what they wait for. */
void scheduler_refusal_due(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, refusal);
    int64_t before_ms = loop_wall_ms(s->cluster->loop) - REFUSAL_DELAY_MS;
    struct queue *queue, *next;

    HASH_ITER(hh, s->queues.table, queue, next)
    report_line(s, queue, before_ms);
    for (struct group *group = s->claimants; group; group = group->next_claimant)
        report(group, waits_for(s, group));
}

void group_waits(struct group *group)
{
    struct scheduler *s = group->scheduler;

    bool is_new = !group->waits_since_ms;

    group_refuse(group, NULL);
    if (is_new)
        group->waits_since_ms = loop_wall_ms(s->cluster->loop);
    if (!timer_armed(&s->refusal))
        timer_start(s->cluster->loop, &s->refusal, is_new ? REFUSAL_DELAY_MS : REFRESH_DELAY_MS);
}
