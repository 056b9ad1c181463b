/*
 * Warnings about Jobs that are valid but probably mistaken: policies that never apply, numbers of
 * successes that cannot be reached. Nothing is refused. Ref: spec/job.md O-13.
 */
#include <string.h>
#include <strings.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"
#include "base/compiler.h"

#define BIT(event) (1u << EVENT_##event)

/* The job that is checked, and the owner of the list of policies at hand. */
struct warnings {
    const struct admission *adm;
    const struct job_spec *spec;
    const char *path; /* path of the spec */
    const struct name_index *tasks;
    const struct job_task *task; /* owner of the policies; NULL = the job */
};

static uint32_t event_bit(const char *text)
{
    enum job_event event;

    return text && job_event_parse(text, &event) ? 1u << event : 0;
}

static uint32_t events_of(const struct job_policy *policy)
{
    uint32_t events = event_bit(policy->event);

    for (size_t i = 0; i < policy->events.count; i++)
        events |= event_bit(policy->events.items[i]);
    return events & ~BIT(NONE);
}

static const char *first_event(uint32_t events)
{
    for (int event = 0; event < JOB_EVENT_N; event++)
        if (events & (1u << event))
            return job_event_text((enum job_event)event);
    return "";
}

/* Returns whether the predicate holds for every task that the policies apply to. */
static bool all_tasks(const struct warnings *w, bool (*is)(const struct job_task *task))
{
    if (w->task)
        return is(w->task);
    for (size_t i = 0; i < w->spec->tasks.count; i++)
        if (!is(&w->spec->tasks.items[i]))
            return false;
    return true;
}

static const char *restart_policy_of(const struct job_task *task)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(task->template, "spec"), "restartPolicy"));

    return text ? text : "";
}

static bool never_restarts(const struct job_task *task)
{
    return strcmp(restart_policy_of(task), "Never") == 0;
}

static bool always_restarts(const struct job_task *task)
{
    return *restart_policy_of(task) && !never_restarts(task);
}

static bool has_no_partitions(const struct job_task *task)
{
    return !task->partition;
}

static void warn_policy(const struct warnings *w, const struct job_policy *policy, const char *path,
                        size_t i)
{
    uint32_t events = events_of(policy), of_job = events & (BIT(UNKNOWN) | BIT(JOB_UPDATED));
    enum job_action action = ACT_SYNC_JOB;

    job_action_parse(policy->action ? policy->action : "", &action);
    if (of_job && w->task)
        WARNING(w->adm, ("%s[%zu]", path, i),
                "%s is an event of the whole job, about which no task is asked: move the policy to "
                "the job's policies",
                first_event(of_job));
    else if (of_job && job_action_targeted(action))
        WARNING(
            w->adm, ("%s[%zu]", path, i),
            "%s is an event of the whole job and names no pod that %s could restart, so nothing "
            "will happen: use RestartJob",
            first_event(of_job), job_action_text(action));
    if (action == ACT_RESTART_PARTITION && all_tasks(w, has_no_partitions))
        WARNING(w->adm, ("%s[%zu].action", path, i),
                "RestartPartition does nothing without a partitionPolicy: use RestartTask or "
                "RestartPod");
    if ((events & BIT(TASK_FAILED)) && all_tasks(w, never_restarts))
        WARNING(
            w->adm, ("%s[%zu]", path, i),
            "TaskFailed counts restarts of containers, and restartPolicy Never allows none: use "
            "PodFailed");
    if (policy->exit_code.set && all_tasks(w, always_restarts))
        WARNING(w->adm, ("%s[%zu].exitCode", path, i),
                "a container that fails is restarted in its pod, so no exit code decides: set "
                "restartPolicy Never");
    if ((events & BIT(POD_PENDING)) && policy->timeout_ns == 0)
        WARNING(w->adm, ("%s[%zu].timeout", path, i),
                "every pod is pending at first, so %s follows as soon as one is made: give it time",
                job_action_text(action));
}

static bool any_restart(const struct job_policy_list *policies)
{
    for (size_t i = 0; i < policies->count; i++) {
        enum job_action action = ACT_SYNC_JOB;

        job_action_parse(policies->items[i].action ? policies->items[i].action : "", &action);
        if (action == ACT_RESTART_JOB || job_action_targeted(action))
            return true;
    }
    return false;
}

static void warn_policies(const struct warnings *w, const struct job_policy_list *policies,
                          const char *path)
{
    for (size_t i = 0; i < policies->count; i++)
        warn_policy(w, &policies->items[i], path, i);
}

static bool is_iteration(const char *text)
{
    static const char *const known[] = {"any", "all", "IterationAny", "IterationAll"};

    for (size_t i = 0; i < countof(known); i++)
        if (strcasecmp(text, known[i]) == 0)
            return true;
    return !*text;
}

static void warn_order(const struct warnings *w, const struct job_task *task, size_t at)
{
    const char *iteration = task->depends_iteration ? task->depends_iteration : "";

    if (!is_iteration(iteration))
        WARNING(w->adm, ("%s.tasks[%zu].dependsOn.iteration", w->path, at),
                "\"%s\" is neither \"any\" nor \"all\" and means all", iteration);
    for (size_t i = 0; i < task->depends_on.count; i++) {
        uint32_t position = name_index_get(w->tasks, task->depends_on.items[i]);
        const struct job_task *first =
            position == NAME_NONE ? NULL : &w->spec->tasks.items[position];

        if (first && first->min_available.set && first->min_available.value == 0)
            WARNING(w->adm, ("%s.tasks[%zu].dependsOn.name[%zu]", w->path, at, i),
                    "is not waited for: minAvailable of task %s is 0", first->name);
    }
}

static void warn_ends(const struct warnings *w, int64_t replicas)
{
    const struct job_spec *spec = w->spec;

    if (spec->min_success.set && spec->min_success.value > replicas)
        WARNING(
            w->adm, ("%s.minSuccess", w->path),
            "%d pods cannot succeed, for there are %lld replicas in all tasks: the job can only "
            "fail",
            spec->min_success.value, (long long)replicas);
    if (replicas == 0)
        WARNING(
            w->adm, ("%s.tasks", w->path),
            "no task has replicas: the job stays Running, without a pod, until it is scaled up");
}

static void warn_budget(const struct warnings *w)
{
    bool any = any_restart(&w->spec->policies);

    for (size_t i = 0; i < w->spec->tasks.count; i++)
        any |= any_restart(&w->spec->tasks.items[i].policies);
    if (any && w->spec->max_retry == 1)
        WARNING(w->adm, ("%s.maxRetry", w->path),
                "1 allows no restart: the first one ends the job as Failed; N allows N-1");
}

void job_warn(const struct admission *adm, const struct job_spec *spec,
              const struct name_index *tasks, const char *path)
{
    struct warnings w = {adm, spec, path, tasks, NULL};
    scoped(buf) struct buf part = {0};
    int64_t replicas = 0;

    if (!adm->warnings)
        return;
    buf_printf(&part, "%s.policies", path);
    warn_policies(&w, &spec->policies, part.data);
    for (size_t i = 0; i < spec->tasks.count; i++) {
        const struct job_task *task = &spec->tasks.items[i];

        w.task = task;
        replicas += task->replicas;
        buf_clear(&part);
        buf_printf(&part, "%s.tasks[%zu].policies", path, i);
        warn_policies(&w, &task->policies, part.data);
        warn_order(&w, task, i);
    }
    warn_ends(&w, replicas);
    warn_budget(&w);
}

void job_warn_class(const struct admission *adm, const char *class, const char *path)
{
    if (adm->get && class && *class && strncmp(class, "system-", 7) != 0 &&
        !lookup(adm, &kind_priority_class, "", class))
        WARNING(adm, ("%s", path),
                "there is no PriorityClass \"%s\": it counts as priority 0 until there is", class);
}
