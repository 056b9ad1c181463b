/*
 * The decisions of a turn.
 *
 *   touched groups:  charge anew → bind what the reservation covers → join or leave the line
 *   the lines:       while the first group of the next queue fits: admit it or bind its next pods
 *
 * A pass costs what was touched plus what is granted plus one refusal: it ends at the first group
 * the node has no room for, and a queue whose first group it refuses is not looked at again before
 * something changes for it.
 */
#include "node/scheduler_impl.h"

#include "api/types/quantity.h"
#include "base/mem.h"

/* Charges and reservations. */

static struct amount amount_min(struct amount a, struct amount b)
{
    return amount_minus(amount_add(a, b), amount_max(a, b));
}

static bool holds_open(const struct group *group)
{
    return group->granted.pods > 1;
}

static void charge(struct scheduler *s, struct group *group)
{
    struct amount now;

    if (group->stage == GROUP_ADMITTED)
        group->granted = amount_min(group->granted, group_reserve(group));
    else
        group->granted = (struct amount){0};
    now = amount_add(group->actual, group->granted);
    if (group->opened != holds_open(group)) {
        group->opened = holds_open(group);
        s->open_gangs += group->opened ? 1 : -1;
    }
    if (amount_equal(now, group->charged))
        return;
    s->used = amount_add(s->used, amount_minus(now, group->charged));
    queue_charge(&s->queues, group->queue, group->charged, now);
    group->charged = now;
}

static void grant(struct scheduler *s, struct group *group, struct amount reserve)
{
    group->granted = reserve;
    charge(s, group);
}

/* Refusals. */

void group_refuse(struct group *group, char *message)
{
    group->refused = true;
    if (message) {
        mem_free(group->message);
        group->message = message;
    }
}

static void clear_refusal(struct group *group)
{
    group->refused = group->hopeless = false;
    mem_free(group->message);
    group->message = NULL;
}

enum { TEXT_MAX = QUANTITY_TEXT_MAX };

static const char *cpu_text(int64_t milli, char out[TEXT_MAX])
{
    quantity_print((quantity_nano)milli * 1000000, QUANTITY_DECIMAL, out);
    return out;
}

static const char *memory_text(int64_t bytes, char out[TEXT_MAX])
{
    quantity_print((quantity_nano)bytes * 1000000000, QUANTITY_BINARY, out);
    return out;
}

/* The first resource of which `need` is more than `limit`; `who` ends in a verb. */
static char *describe(struct amount need, struct amount limit, const char *who)
{
    char a[TEXT_MAX], b[TEXT_MAX];

    if (need.pods > limit.pods)
        return mem_printf("needs %lld pods at once, %s at most %lld", (long long)need.pods, who,
                          (long long)limit.pods);
    if (need.cpu_milli > limit.cpu_milli)
        return mem_printf("needs %s cpu, %s %s", cpu_text(need.cpu_milli, a), who,
                          cpu_text(limit.cpu_milli, b));
    return mem_printf("needs %s of memory, %s %s", memory_text(need.memory_bytes, a), who,
                      memory_text(limit.memory_bytes, b));
}

char *scheduler_never_fits(const struct scheduler *s, struct amount need)
{
    scoped_str what = NULL;

    if (amount_within(need, s->capacity))
        return NULL;
    if (need.pods > s->capacity.pods) {
        what = describe(need, s->capacity, "the node runs");
        return mem_printf("%s: start with -j %lld or lower minAvailable", what,
                          (long long)need.pods);
    }
    what = describe(need, s->capacity, "the node has");
    return mem_printf("%s: lower the requests", what);
}

static char *never_fits(struct scheduler *s, struct group *group, struct amount need)
{
    char *message = scheduler_never_fits(s, need);
    struct queue *limiter = message ? NULL : queue_never(group->queue, need);

    if (limiter) {
        scoped_str who = mem_printf("queue %s allows", limiter->name);
        scoped_str what = describe(need, limiter->limit, who);

        message = mem_printf("%s: raise its spec.capability or use another queue", what);
    }
    return message;
}

/* Lines. */

static bool wants(const struct group *group)
{
    if (group->hopeless)
        return false;
    return group->stage == GROUP_WAITING || (group->stage == GROUP_ADMITTED && group_ready(group));
}

static void line_up(struct scheduler *s, struct group *group)
{
    if (wants(group) == order_has(&group->place))
        return;
    if (order_has(&group->place))
        queue_leave(&s->queues, group->queue, &group->place);
    else
        queue_join(&s->queues, group->queue, &group->place);
}

/* Binding. */

static void bind_next(struct scheduler *s, struct group *group, size_t how_many)
{
    struct member **members;
    size_t n = group_select(group, how_many, &members);

    for (size_t i = 0; i < n; i++)
        member_bind(members[i]);
    mem_free(members);
    clear_refusal(group);
    charge(s, group);
}

static size_t gang_size(const struct group *group)
{
    int32_t missing = group_missing(group);

    return missing > 1 ? (size_t)missing : 1;
}

/* Pods the reservation was made for need nobody's leave. */
static void bind_reserved(struct scheduler *s, struct group *group)
{
    while (group->stage == GROUP_ADMITTED && group->granted.pods && group_ready(group) &&
           amount_within(group_gang_need(group), group->granted))
        bind_next(s, group, gang_size(group));
}

static void review(struct scheduler *s, struct group *group)
{
    charge(s, group);
    if (!group->object && !(group->implicit && group->members)) {
        line_up(s, group);
        group_drop(group);
        return;
    }
    bind_reserved(s, group);
    line_up(s, group);
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

enum verdict { GRANTED, NO_ROOM, QUEUE_FULL, NEVER };

static enum verdict judge(struct scheduler *s, struct group *group, struct amount need)
{
    bool single = group->min_member <= 1 || group_missing(group) <= 0;
    struct amount limit = single && !s->open_gangs ? s->ahead_capacity : s->capacity;
    struct amount others = amount_minus(s->used, group->granted);
    struct queue *limiter;
    char *message = never_fits(s, group, need);

    if (message) {
        group->hopeless = true;
        group_refuse(group, message);
        return NEVER;
    }
    limiter = queue_full(group->queue, amount_minus(need, group->granted));
    if (limiter) {
        group_refuse(group, mem_printf("waits for room in queue %s", limiter->name));
        queue_block(&s->queues, group->queue, limiter);
        return QUEUE_FULL;
    }
    return amount_within(amount_add(others, need), limit) ? GRANTED : NO_ROOM;
}

static enum verdict serve(struct scheduler *s, struct group *group)
{
    bool admit = group->stage == GROUP_WAITING;
    struct amount need = admit ? group_reserve(group) : group_gang_need(group);
    enum verdict verdict = judge(s, group, need);

    if (verdict == GRANTED && admit) {
        clear_refusal(group);
        group->stage = GROUP_ADMITTED;
        grant(s, group, need);
        group_tell_admitted(group);
        bind_reserved(s, group); /* pods that were there before it */
    } else if (verdict == GRANTED) {
        bind_next(s, group, gang_size(group));
    } else if (verdict == NO_ROOM) {
        group_refuse(group, NULL);
    }
    line_up(s, group);
    return verdict;
}

static void refused_by_closed(struct scheduler *s, struct queue *queue, struct group *group)
{
    group_refuse(group, queue->exists
                            ? mem_printf("queue %s takes nothing: it is not open", queue->name)
                            : mem_printf("queue %s does not exist", queue->name));
    group_tell_later(group);
    queue_block(&s->queues, queue, queue);
}

static void refused_by_node(struct scheduler *s, struct group *group)
{
    if (s->refused_head == group)
        return;
    s->refused_head = group;
    timer_start(s->cluster->loop, &s->refusal, REFUSAL_DELAY_MS);
}

void scheduler_pass(struct task *task)
{
    struct scheduler *s = container_of(task, struct scheduler, pass);
    struct queue *queue;

    review_touched(s);
    while ((queue = queues_next(&s->queues))) {
        struct group *group = container_of(order_first(&queue->waiting), struct group, place);
        enum verdict verdict;

        if (!queue->open) {
            refused_by_closed(s, queue, group);
            continue;
        }
        verdict = serve(s, group);
        if (verdict == NO_ROOM) {
            refused_by_node(s, group);
            return;
        }
        group_tell_later(group);
    }
    s->refused_head = NULL;
    timer_stop(s->cluster->loop, &s->refusal);
}

static char *waits_for_room(const struct scheduler *s, struct amount need)
{
    char cpu[TEXT_MAX], memory[TEXT_MAX];

    return mem_printf("waits for room on the node: needs %lld of its %lld pods, %s cpu, %s of "
                      "memory",
                      (long long)need.pods, (long long)s->capacity.pods,
                      cpu_text(need.cpu_milli, cpu), memory_text(need.memory_bytes, memory));
}

/* Nothing has moved for a while: the head of each line is told what it waits for. */
void scheduler_refusal_due(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, refusal);
    struct group *group = s->refused_head;
    struct amount need;

    if (!group)
        return;
    need = group->stage == GROUP_WAITING ? group_reserve(group) : group_gang_need(group);
    group_refuse(group, waits_for_room(s, need));
    group_tell_later(group);
}
