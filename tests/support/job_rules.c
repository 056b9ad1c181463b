#include "tests/support/job_rules.h"

#include <string.h>

bool rule_edge(enum job_phase from, enum job_phase to)
{
    static const char *const edges[] = {
        "→Pending",
        "Pending→Running Restarting Aborting Completing Terminating",
        "Running→Pending Completed Failed Restarting Aborting Completing Terminating",
        "Restarting→Pending Failed Aborting Terminating Completing",
        "Aborting→Aborted Restarting Terminating",
        "Aborted→Restarting Terminating",
        "Completing→Completed",
        "Terminating→Terminated Failed",
    };
    const char *name = job_phase_text(from);

    for (size_t i = 0; i < countof(edges); i++) {
        const char *arrow = strstr(edges[i], "→");
        const char *rest = arrow + strlen("→");
        size_t len = (size_t)(arrow - edges[i]);

        if (strlen(name) != len || strncmp(edges[i], name, len) != 0)
            continue;
        for (size_t word; *rest; rest += word + (rest[word] == ' ')) {
            word = strcspn(rest, " ");
            if (strlen(job_phase_text(to)) == word && strncmp(rest, job_phase_text(to), word) == 0)
                return true;
        }
    }
    return false;
}

struct rule_effect rule_effect(enum job_phase phase, enum job_action action)
{
    bool targeted =
        action == ACT_RESTART_TASK || action == ACT_RESTART_POD || action == ACT_RESTART_PARTITION;
    bool active = phase == JOB_NONE || phase == JOB_PENDING || phase == JOB_RUNNING;
    struct rule_effect stay = {.to = JOB_NONE, .targeted = targeted};

    if (action == ACT_ABORT_JOB && (active || phase == JOB_RESTARTING))
        return (struct rule_effect){.to = JOB_ABORTING, .version = true};
    if (action == ACT_COMPLETE_JOB && (active || phase == JOB_RESTARTING))
        return (struct rule_effect){.to = JOB_COMPLETING, .version = true};
    if (action == ACT_TERMINATE_JOB &&
        (active || phase == JOB_RESTARTING || phase == JOB_ABORTING || phase == JOB_ABORTED))
        return (struct rule_effect){.to = JOB_TERMINATING, .version = true};
    if (action == ACT_RESTART_JOB && active)
        return (struct rule_effect){.to = JOB_RESTARTING, .version = true, .retry = true};
    if (action == ACT_RESUME_JOB && (phase == JOB_ABORTING || phase == JOB_ABORTED))
        return (struct rule_effect){.to = JOB_RESTARTING, .version = true, .retry = true};
    if (targeted && active)
        return (struct rule_effect){.to = JOB_RESTARTING, .retry = true, .targeted = true};
    return stay;
}

static bool policy_answers(const struct gen_policy *policy, enum job_event event, int exit_code)
{
    static const uint32_t any = (1u << EVENT_POD_FAILED) | (1u << EVENT_POD_EVICTED) |
                                (1u << EVENT_UNKNOWN) | (1u << EVENT_TASK_COMPLETED) |
                                (1u << EVENT_TASK_FAILED) | (1u << EVENT_POD_PENDING);
    bool named;

    if (policy->events == 0)
        return exit_code != 0 && policy->exit_code == exit_code;
    named = (policy->events & (1u << event)) ||
            ((policy->events & (1u << EVENT_ANY)) && (any & (1u << event)));
    return named && (event != EVENT_POD_PENDING || policy->timeout_s >= 0);
}

static bool first_of(const struct gen_policies *list, enum job_event event, int exit_code,
                     struct rule_answer *out)
{
    for (int i = 0; i < list->count; i++)
        if (policy_answers(&list->items[i], event, exit_code)) {
            *out = (struct rule_answer){list->items[i].action, list->items[i].timeout_s};
            return true;
        }
    return false;
}

bool rule_match(const struct gen_job *job, enum job_event event, int task, int exit_code,
                struct rule_answer *out)
{
    if (task >= 0 && first_of(&job->tasks[task].policies, event, exit_code, out))
        return true;
    return first_of(&job->policies, event, exit_code, out);
}

void rule_count(struct rule_counts *counts, const struct rule_pod *pods, int n_pods)
{
    memset(counts, 0, sizeof *counts);
    for (int i = 0; i < n_pods; i++) {
        const struct rule_pod *pod = &pods[i];
        int *const by_phase[] = {&counts->pending, &counts->running, &counts->succeeded,
                                 &counts->failed, &counts->unknown};

        counts->known_of[pod->task]++;
        if (pod->deleting) {
            counts->terminating++;
            continue;
        }
        ++*by_phase[pod->phase];
        counts->succeeded_of[pod->task] += pod->phase == POD_SUCCEEDED;
        counts->ready_of[pod->task] += pod->ready;
        if (pod->phase == POD_PENDING || pod->phase == POD_RUNNING)
            counts->restarts_of[pod->task] += pod->restarts;
    }
}

static enum job_phase running_verdict(const struct gen_job *job, const struct rule_counts *c)
{
    int replicas = gen_job_replicas(job), minimums = 0;
    bool missed = false;

    for (int t = 0; t < job->n_tasks; t++) {
        minimums += job->tasks[t].min_available;
        missed |= c->succeeded_of[t] < job->tasks[t].min_available;
    }
    if (replicas == 0)
        return JOB_RUNNING;
    if (job->min_success > 0 && c->succeeded >= job->min_success)
        return JOB_COMPLETED;
    if (c->succeeded + c->failed == replicas) {
        if (job->min_available >= minimums && missed)
            return JOB_FAILED;
        if (job->min_success > 0 && c->succeeded < job->min_success)
            return JOB_FAILED;
        return c->succeeded >= job->min_available ? JOB_COMPLETED : JOB_FAILED;
    }
    return c->pending > replicas - job->min_available ? JOB_PENDING : JOB_RUNNING;
}

enum job_phase rule_verdict(const struct gen_job *job, const struct rule_counts *c,
                            enum job_phase phase, int failures, int status_min_available)
{
    bool drained = c->terminating + c->pending + c->running + c->unknown == 0;

    switch ((int)phase) {
    case JOB_PENDING:
        return job->min_available <= c->running + c->succeeded + c->failed ? JOB_RUNNING : phase;
    case JOB_RUNNING:
        return running_verdict(job, c);
    case JOB_RESTARTING:
        if (failures >= job->max_retry)
            return JOB_FAILED;
        return gen_job_replicas(job) - c->terminating >= status_min_available ? JOB_PENDING : phase;
    case JOB_ABORTING:
        return drained ? JOB_ABORTED : phase;
    case JOB_COMPLETING:
        return drained ? JOB_COMPLETED : phase;
    case JOB_TERMINATING:
        return drained ? JOB_TERMINATED : phase;
    default:
        return phase;
    }
}

bool rule_unlocked(const struct gen_job *job, const struct rule_counts *counts, int task)
{
    int needs = job->tasks[task].needs;

    return needs < 0 || counts->ready_of[needs] >= job->tasks[needs].min_available;
}
