/*
 * Counts the members of a group against its gate and selects which to bind.
 */
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/job/lifecycle.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

static bool member_before(const struct fit_item *left, const struct fit_item *right)
{
    const struct member *a = container_of(left, struct member, pending_item);
    const struct member *b = container_of(right, struct member, pending_item);

    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->sequence < b->sequence;
}

bool group_before(const struct fit_item *left, const struct fit_item *right)
{
    const struct group *a = container_of(left, struct group, queue_item);
    const struct group *b = container_of(right, struct group, queue_item);

    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->extra_members != b->extra_members)
        return b->extra_members;
    if (a->extra_members && (a->share < b->share || b->share < a->share))
        return a->share < b->share;
    if (a->order != b->order)
        return a->order < b->order;
    return a->sequence < b->sequence;
}

struct group *group_new(struct scheduler *scheduler, const char *key)
{
    struct group *group = mem_alloc(sizeof *group);

    group->scheduler = scheduler;
    group->key = mem_strdup(key);
    group->pending.before = member_before;
    group->preempts = true;
    return group;
}

void group_free(struct group *group)
{
    struct group_task *task, *next;

    for (task = group->tasks; task; task = next) {
        next = task->next;
        mem_free(task);
    }
    object_unref((struct object *)group->object);
    mem_free(group->message);
    mem_free(group->reported_message);
    mem_free(group->key);
    mem_free(group);
}

static bool locked(const struct group_task *task)
{
    return task->has_depends && !task->exists;
}

static void sum_task(struct group *group, const struct group_task *task, int sign)
{
    group->min_total += sign * task->min;
    if (locked(task)) {
        group->locked += task->min ? sign : 0;
        return;
    }
    group->min_counted += sign * task->min;
    if (task->exists < task->min)
        group->short_tasks += sign;
}

struct group_task *group_task_named(struct group *group, const char *name)
{
    struct group_task *task;
    size_t len = strlen(name);

    for (task = group->tasks; task; task = task->next)
        if (strcmp(task->name, name) == 0)
            return task;
    task = mem_alloc(sizeof *task + len + 1);
    memcpy(task->name, name, len + 1);
    task->next = group->tasks;
    group->tasks = task;
    return task;
}

/* Loads minimums and dependencies of tasks. With a single task the minimum adds nothing to
 * minMember. */
static void load_tasks(struct group *group, const struct podgroup_spec *spec,
                       const struct object *job)
{
    const struct job_spec *jobspec = job ? job_spec_of(job) : NULL;

    group->min_total = group->min_counted = group->locked = group->short_tasks = 0;
    for (struct group_task *task = group->tasks; task; task = task->next) {
        task->min = 0;
        task->has_depends = false;
    }
    if (spec->min_task_member.count < 2)
        return;
    for (size_t i = 0; i < spec->min_task_member.count; i++)
        group_task_named(group, spec->min_task_member.items[i].key)->min =
            spec->min_task_member.items[i].value;
    for (size_t i = 0; jobspec && i < jobspec->tasks.count; i++)
        if (jobspec->tasks.items[i].depends_on.count && jobspec->tasks.items[i].name)
            group_task_named(group, jobspec->tasks.items[i].name)->has_depends = true;
    for (struct group_task *task = group->tasks; task; task = task->next)
        sum_task(group, task, 1);
}

/* Loads the status that a previous scheduler run wrote. Conditions of other writers are ignored. */
static void load_reported(struct group *group)
{
    const struct podgroup_status *status = podgroup_status_of(group->object);
    const struct podgroup_condition *last = NULL;

    group->reported =
        (struct group_report){status->phase, status->running, status->succeeded, status->failed};
    if (status->conditions.count) {
        last = &status->conditions.items[status->conditions.count - 1];
        group->reported.at_ms = last->at_ms;
    }
    if (last && last->type && strcmp(last->type, "Scheduled") == 0) {
        group->reported.condition = "Scheduled";
        group->reported.reason = PODGROUP_REASON_SCHEDULED;
    } else if (last && last->type && strcmp(last->type, "Unschedulable") == 0) {
        group->reported.condition = "Unschedulable";
        group->reported.reason = PODGROUP_REASON_RESOURCES;
        mem_free(group->reported_message);
        group->reported.message = group->reported_message = mem_strdup(last->message);
    }
}

void group_load(struct group *group, const struct object *object, const struct object *job,
                const struct resource_names *extras)
{
    const struct podgroup_spec *spec = podgroup_spec_of(object);

    bool is_new = !group->object;

    object_unref((struct object *)group->object);
    group->object = object_ref(object);
    if (is_new) {
        load_reported(group);
        group->stage =
            group->reported.phase == PODGROUP_NONE || group->reported.phase == PODGROUP_PENDING
                ? GROUP_WAITING
                : GROUP_ADMITTED;
    }
    group->sequence = object->row ? object->row : object->meta->created_at_ms;
    group->order = job_queue_priority(object->meta);
    group->min_member = spec->min_member;
    group->min_resources = amount_of_map(&spec->min_resources, extras, 0);
    group->gang_known = false;
    load_tasks(group, spec, job);
}

void group_unload(struct group *group)
{
    object_unref((struct object *)group->object);
    group->object = NULL;
    group->stage = GROUP_ABSENT;
    group->reported = (struct group_report){0};
}

static bool occupies_node(const struct member *member)
{
    return member->state == MEMBER_BOUND || member->state == MEMBER_RUNNING;
}

static void count_preemptable(struct group *group, int sign)
{
    struct scheduler *s = group->scheduler;

    if (sign > 0 && !group->n_preemptable)
        LIST_INSERT_HEAD(&s->victims, group, victim);
    group->n_preemptable += sign;
    if (!group->n_preemptable)
        LIST_REMOVE(group, victim);
}

static void charge_node(struct group *group, struct member *member, struct amount change, int sign)
{
    struct scheduler *s = group->scheduler;

    group->actual = amount_add(group->actual, change);
    s->placement_changes++;
    if (member->node_index >= 0) {
        struct node_info *node_info = &s->node_set.items[member->node_index];

        node_info->used = amount_add(node_info->used, change);
    }
    if (member->preemptable && !member->deleting)
        count_preemptable(group, sign);
}

void group_count(struct group *group, struct member *member, int sign)
{
    struct amount none = {0};
    struct amount before = sign < 0 ? member->need : none, after = sign < 0 ? none : member->need;
    struct amount change = amount_minus(after, before);

    group->members += sign;
    group->gang_known = false;
    if (occupies_node(member)) {
        charge_node(group, member, change, sign);
        group_count_backfill(group, change, member->since);
    }
    if (member->deleting) {
        group->terminating += occupies_node(member) ? sign : 0;
        return;
    }
    group->count[member->state] += sign;
    if (member->state == MEMBER_PENDING) {
        group->pending_need = amount_add(group->pending_need, change);
        if (sign > 0)
            fit_queue_add(&group->pending, &member->pending_item, member->need);
        else
            fit_queue_remove(&group->pending, &member->pending_item);
    }
    if (member->task) {
        member->task->pending += member->state == MEMBER_PENDING ? sign : 0;
        sum_task(group, member->task, -1);
        member->task->exists += sign;
        sum_task(group, member->task, 1);
    }
}

int32_t group_placed(const struct group *group)
{
    return group->count[MEMBER_BOUND] + group->count[MEMBER_RUNNING] +
           group->count[MEMBER_SUCCEEDED] + group->count[MEMBER_FAILED];
}

int32_t group_gate(const struct group *group)
{
    if (group->locked && group->min_counted < group->min_member)
        return group->min_counted;
    return group->min_member;
}

int32_t group_missing(const struct group *group)
{
    return group_gate(group) - group_placed(group);
}

bool group_ready(const struct group *group)
{
    int32_t missing = group_missing(group);

    if (!group->count[MEMBER_PENDING])
        return false;
    if (missing <= 0)
        return true;
    /* As in Volcano, minimums of tasks count only if minMember covers them all. */
    return group->count[MEMBER_PENDING] >= missing &&
           (group->min_member < group->min_total || !group->short_tasks);
}

static int64_t part(int64_t whole, int32_t of, int32_t all)
{
    return all > 0 && of < all ? (int64_t)(((__int128)whole * of + all - 1) / all) : whole;
}

struct amount group_reserve(const struct group *group)
{
    int32_t missing = group_missing(group);
    struct amount least = group->min_resources, reserve = {0};

    if (missing <= 0)
        return reserve;
    reserve = least;
    for (size_t kind = 0; missing < group->min_member && kind < AMOUNT_KINDS; kind++)
        *amount_at(&reserve, kind) = part(*amount_at(&least, kind), missing, group->min_member);
    reserve.pods = missing;
    return reserve;
}

struct group_view group_view(const struct group *group)
{
    return (struct group_view){
        .admitted = group->stage == GROUP_ADMITTED,
        .refused = group->refused && group_missing(group) > 0,
        .min_member = group->min_member,
        .gate = group_gate(group),
        .bound = group->count[MEMBER_BOUND],
        .running = group->count[MEMBER_RUNNING],
        .succeeded = group->count[MEMBER_SUCCEEDED],
        .failed = group->count[MEMBER_FAILED],
        .terminating = group->terminating,
    };
}

static struct member *member_of(const struct fit_item *item)
{
    return item ? container_of(item, struct member, pending_item) : NULL;
}

/* Sets each task's quota to the number of its pending pods that its minimum requires. Returns their
 * sum. */
static int32_t set_quotas(struct group *group)
{
    int32_t sum = 0;

    if (!group->min_total)
        return 0;
    for (struct group_task *task = group->tasks; task; task = task->next) {
        int32_t missing = task->min - (task->exists - task->pending);

        task->quota = missing < task->pending ? missing : task->pending;
        sum += task->quota > 0 ? task->quota : 0;
    }
    return sum;
}

static bool has_quota(const struct member *member)
{
    return member->task && member->task->quota > 0;
}

size_t group_select(struct group *group, size_t how_many, struct member ***out)
{
    size_t n = how_many < group->pending.count ? how_many : group->pending.count, chosen = 0;
    struct member **picked = mem_array(n + 1, sizeof(struct member *));
    int32_t quotas = set_quotas(group);
    struct fit_item *item = fit_queue_first(&group->pending);

    while (quotas > 0 && chosen < n && item) {
        struct member *member = member_of(item);

        item = fit_queue_next(item);
        if (!has_quota(member))
            continue;
        member->task->quota--;
        quotas--;
        fit_queue_remove(&group->pending, &member->pending_item);
        picked[chosen++] = member;
    }
    while (chosen < n) {
        picked[chosen] = member_of(fit_queue_first(&group->pending));
        fit_queue_remove(&group->pending, &picked[chosen++]->pending_item);
    }
    *out = picked;
    return chosen;
}

void group_unselect(struct group *group, struct member *const *members, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fit_queue_add(&group->pending, &members[i]->pending_item, members[i]->need);
}

bool group_is_elastic(const struct group *group)
{
    return group->stage == GROUP_ADMITTED && group_missing(group) <= 0;
}

struct member *group_next_member(struct group *group)
{
    struct fit_item *first = fit_queue_first(&group->pending), *item = first;

    if (set_quotas(group) > 0)
        while (item && !has_quota(member_of(item)))
            item = fit_queue_next(item);
    return member_of(item ? item : first);
}

struct member *group_fitting_member(struct group *group, struct amount room)
{
    struct member *next = group_next_member(group);

    if (next && amount_fits(next->need, (struct amount){0}, room))
        return next;
    return member_of(fit_queue_find(&group->pending, NULL, room));
}

struct amount group_gang_need(struct group *group)
{
    int32_t missing = group_missing(group);

    if (missing <= 1) {
        struct member *next = group_next_member(group);

        return next ? next->need : (struct amount){0};
    }
    if ((size_t)missing >= group->pending.count)
        return group->pending_need;
    if (!group->gang_known) {
        struct member **picked;
        size_t n = group_select(group, (size_t)missing, &picked);

        group->gang_need = (struct amount){0};
        for (size_t i = 0; i < n; i++)
            group->gang_need = amount_add(group->gang_need, picked[i]->need);
        group_unselect(group, picked, n);
        group->gang_known = true;
        mem_free(picked);
    }
    return group->gang_need;
}

struct amount group_least_need(struct group *group)
{
    struct amount need;

    if (group->stage == GROUP_WAITING)
        need = group_reserve(group);
    else if (group_is_elastic(group))
        need = fit_queue_least(&group->pending);
    else
        need = group_gang_need(group);
    return amount_minus(need, amount_add(group->granted, group->claim));
}

static size_t namespace_len(const struct group *group)
{
    return strcspn(group->key, "/");
}

char *group_title(const struct group *group, const struct group *reader)
{
    const struct member *pod = group->implicit ? LIST_FIRST(&group->all) : NULL;
    const struct owner_ref *owner = group->object ? meta_controller(group->object->meta) : NULL;
    bool is_job = owner && strcmp(owner->kind, kind_job.name) == 0;
    const char *kind = is_job ? "job" : pod ? "pod" : "PodGroup";
    size_t len = namespace_len(group);
    const char *name = is_job ? owner->name : pod ? pod->meta->name : group->key + len + 1;
    bool same = len == namespace_len(reader) && strncmp(group->key, reader->key, len) == 0;

    return same ? mem_printf("%s %s", kind, name)
                : mem_printf("%s %s of namespace %.*s", kind, name, (int)len, group->key);
}
