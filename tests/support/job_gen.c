#include "tests/support/job_gen.h"

#include <string.h>

const char *gen_task_name(int task)
{
    static const char *const names[GEN_TASKS] = {"a", "b", "c"};

    return task >= 0 && task < GEN_TASKS ? names[task] : "";
}

int gen_job_replicas(const struct gen_job *job)
{
    int sum = 0;

    for (int t = 0; t < job->n_tasks; t++)
        sum += job->tasks[t].replicas;
    return sum;
}

#define BIT(event) (1u << EVENT_##event)

/* Events whose cause can end by itself. Only these may have a timeout. */
static const uint32_t delayable = BIT(POD_FAILED) | BIT(POD_EVICTED) | BIT(POD_PENDING);

static enum job_action roll_action(struct dice *dice, bool partitioned)
{
    static const enum job_action actions[] = {ACT_RESTART_JOB, ACT_RESTART_TASK,  ACT_RESTART_POD,
                                              ACT_RESTART_POD, ACT_RESTART_TASK,  ACT_RESTART_JOB,
                                              ACT_ABORT_JOB,   ACT_TERMINATE_JOB, ACT_COMPLETE_JOB};

    if (partitioned && dice_chance(dice, 40))
        return ACT_RESTART_PARTITION;
    return actions[dice_roll(dice, countof(actions))];
}

static void roll_policies(struct gen_policies *list, struct dice *dice, bool of_task,
                          bool partitioned)
{
    static const enum job_event events[] = {
        EVENT_POD_FAILED,  EVENT_POD_EVICTED, EVENT_POD_PENDING, EVENT_TASK_COMPLETED,
        EVENT_TASK_FAILED, EVENT_UNKNOWN,     EVENT_JOB_UPDATED};
    int choices = of_task ? 5 : 7, wanted = dice_roll(dice, GEN_POLICIES + 1);
    uint32_t used = 0;
    int code = 1;

    memset(list, 0, sizeof *list);
    while (list->count < wanted) {
        struct gen_policy *policy = &list->items[list->count++];

        policy->action = roll_action(dice, partitioned);
        policy->timeout_s = -1;
        if (used == 0 && dice_chance(dice, 10)) {
            policy->events = used = BIT(ANY);
        } else if (used == BIT(ANY) || dice_chance(dice, 25)) {
            policy->exit_code = code++;
            if (dice_chance(dice, 25))
                policy->timeout_s = 2 + dice_roll(dice, 6);
        } else {
            for (int n = 1 + dice_chance(dice, 25); n > 0; n--) {
                uint32_t event = 1u << events[dice_roll(dice, choices)];

                if (!(used & event))
                    policy->events |= event;
                used |= event;
            }
            if (policy->events == 0)
                list->count--, wanted--;
            else if (!(policy->events & ~delayable) &&
                     dice_chance(dice, policy->events & BIT(POD_PENDING) ? 90 : 35))
                policy->timeout_s = 2 + dice_roll(dice, 6);
        }
    }
}

static int least_of_tasks(const struct gen_job *job)
{
    int sum = 0;

    for (int t = 0; t < job->n_tasks; t++)
        sum += job->tasks[t].min_available;
    return sum;
}

static void roll_minimum(struct gen_job *job, struct dice *dice)
{
    int replicas = gen_job_replicas(job);

    job->min_available = least_of_tasks(job);
    if (job->min_available == 0 || dice_chance(dice, 40))
        job->min_available = replicas > 0 ? 1 + dice_roll(dice, replicas) : 0;
}

void gen_job_roll(struct gen_job *job, struct dice *dice)
{
    memset(job, 0, sizeof *job);
    job->n_tasks = 1 + dice_roll(dice, GEN_TASKS);
    for (int t = 0; t < job->n_tasks; t++) {
        struct gen_task *task = &job->tasks[t];
        bool partitioned = dice_chance(dice, 20);

        task->partition = partitioned ? 1 + dice_roll(dice, 2) : 0;
        task->replicas = partitioned ? 2 * task->partition : 1 + dice_roll(dice, GEN_REPLICAS);
        task->min_available =
            dice_chance(dice, 60) ? task->replicas : dice_roll(dice, task->replicas + 1);
        task->max_retry = dice_chance(dice, 20) ? -1 : 1 + dice_roll(dice, 4);
        task->needs = t > 0 && dice_chance(dice, 20) ? dice_roll(dice, t) : -1;
        if (dice_chance(dice, 50))
            roll_policies(&task->policies, dice, true, partitioned);
    }
    roll_policies(&job->policies, dice, false, job->tasks[0].partition > 0);
    roll_minimum(job, dice);
    job->max_retry = 1 + dice_roll(dice, 4);
    job->min_success = dice_chance(dice, 20) ? 1 + dice_roll(dice, gen_job_replicas(job)) : 0;
    job->ttl_s = dice_chance(dice, 20) ? dice_roll(dice, 6) : -1;
    job->services = dice_chance(dice, 15);
    job->keep_succeeded = dice_chance(dice, 20);
    job->slot_budget = dice_chance(dice, 20);
}

void gen_job_group_restarts(struct gen_job *job, struct dice *dice)
{
    for (int t = 0; t < job->n_tasks; t++) {
        struct gen_task *task = &job->tasks[t];

        task->partition = 0;
        task->replicas = GEN_REPLICAS - dice_roll(dice, 2);
        task->min_available = 1;
        task->policies = (struct gen_policies){
            .count = 1,
            .items = {{BIT(POD_FAILED), 0, ACT_RESTART_TASK, 2 + dice_roll(dice, 2)}},
        };
    }
    job->min_available = 1;
    job->min_success = 0;
    job->max_retry = 5;
}

void gen_job_lost_pods(struct gen_job *job, struct dice *dice)
{
    for (int t = 0; t < job->n_tasks; t++)
        job->tasks[t].policies = (struct gen_policies){
            .count = 1,
            .items = {{BIT(POD_EVICTED), 0, ACT_RESTART_TASK, 3 + dice_roll(dice, 4)}},
        };
    job->policies.count = 0;
    job->min_success = 0;
    job->max_retry = 5;
}

void gen_job_rescale(struct gen_job *job, struct dice *dice)
{
    for (int t = 0; t < job->n_tasks; t++) {
        struct gen_task *task = &job->tasks[t];

        if (task->partition || dice_chance(dice, 40))
            continue;
        task->replicas = dice_roll(dice, GEN_REPLICAS + 1);
        task->min_available =
            dice_chance(dice, 60) ? task->replicas : dice_roll(dice, task->replicas + 1);
    }
    roll_minimum(job, dice);
}

static void write_policies(const struct gen_policies *list, struct buf *out)
{
    buf_str(out, "\"policies\": [");
    for (int i = 0; i < list->count; i++) {
        const struct gen_policy *policy = &list->items[i];

        buf_printf(out, "%s{\"action\": \"%s\"", i ? ", " : "", job_action_text(policy->action));
        if (policy->events == 0) {
            buf_printf(out, ", \"exitCode\": %d", policy->exit_code);
        } else {
            const char *comma = "";

            buf_str(out, ", \"events\": [");
            for (int e = 0; e < JOB_EVENT_N; e++)
                if (policy->events & (1u << e)) {
                    buf_printf(out, "%s\"%s\"", comma, job_event_text((enum job_event)e));
                    comma = ", ";
                }
            buf_char(out, ']');
        }
        if (policy->timeout_s >= 0)
            buf_printf(out, ", \"timeout\": \"%ds\"", policy->timeout_s);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_tasks(const struct gen_job *job, struct buf *out)
{
    buf_printf(out, "\"minAvailable\": %d, \"tasks\": [", job->min_available);
    for (int t = 0; t < job->n_tasks; t++) {
        const struct gen_task *task = &job->tasks[t];

        buf_printf(
            out, "%s{\"name\": \"%s\", \"replicas\": %d, \"minAvailable\": %d, \"maxRetry\": %d, ",
            t ? ", " : "", gen_task_name(t), task->replicas, task->min_available, task->max_retry);
        if (task->partition)
            buf_printf(out,
                       "\"partitionPolicy\": {\"totalPartitions\": %d, \"partitionSize\": %d}, ",
                       task->replicas / task->partition, task->partition);
        if (task->needs >= 0)
            buf_printf(out, "\"dependsOn\": {\"name\": [\"%s\"]}, ", gen_task_name(task->needs));
        write_policies(&task->policies, out);
        buf_str(out, ", \"template\": {\"spec\": {\"restartPolicy\": \"Never\", \"containers\": "
                     "[{\"name\": \"main\", \"image\": \"x\", \"command\": [\"run\"]}]}}}");
    }
    buf_char(out, ']');
}

void gen_job_manifest(const struct gen_job *job, struct buf *out)
{
    buf_printf(out,
               "{\"apiVersion\": \"batch.volcano.sh/v1alpha1\", \"kind\": \"Job\", \"metadata\": "
               "{\"name\": \"j\", \"namespace\": \"default\", \"annotations\": "
               "{\"volcano.sh/keep-succeeded\": \"%s\", \"volcano.sh/restart-budget\": \"%s\"}}, "
               "\"spec\": {\"maxRetry\": %d, ",
               job->keep_succeeded ? "true" : "false", job->slot_budget ? "slot" : "job",
               job->max_retry);
    if (job->min_success > 0)
        buf_printf(out, "\"minSuccess\": %d, ", job->min_success);
    if (job->ttl_s >= 0)
        buf_printf(out, "\"ttlSecondsAfterFinished\": %d, ", job->ttl_s);
    if (job->services)
        buf_str(out, "\"plugins\": {\"svc\": []}, ");
    write_policies(&job->policies, out);
    buf_str(out, ", ");
    write_tasks(job, out);
    buf_str(out, "}}");
}

void gen_job_scale_patch(const struct gen_job *job, struct buf *out)
{
    buf_str(out, "{\"spec\": {");
    write_tasks(job, out);
    buf_str(out, "}}");
}
