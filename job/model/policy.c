/*
 * Compiles policies to rows with event masks, and finds the first row that applies. Ref: Volcano
 * pkg/controllers/job/job_controller_util.go, applyPolicies.
 */
#include "job/model/policy.h"

#define BIT(event) (1u << EVENT_##event)

/* The events that "*" stands for. JobUpdated must be named (O-04); internal events never match. */
static const uint32_t any_event = BIT(POD_FAILED) | BIT(POD_EVICTED) | BIT(POD_PENDING) |
                                  BIT(UNKNOWN) | BIT(TASK_COMPLETED) | BIT(TASK_FAILED);
static const uint32_t internal_events = BIT(OUT_OF_SYNC) | BIT(COMMAND_ISSUED) | BIT(POD_RUNNING);

static uint32_t event_bits(const char *text)
{
    enum job_event event;

    if (!text || !*text || !job_event_parse(text, &event))
        return 0;
    return event == EVENT_ANY ? any_event : 1u << event;
}

struct job_policy_row job_policy_compile(const struct job_policy *policy)
{
    struct job_policy_row row = {
        .events = event_bits(policy->event),
        .exit_code = policy->exit_code,
        .action = ACT_SYNC_JOB,
        .has_timeout = policy->timeout_ns >= 0,
        .timeout_ms = policy->timeout_ns > 0 ? (policy->timeout_ns + 999999) / 1000000 : 0,
    };
    enum job_action action;

    for (size_t i = 0; i < policy->events.count; i++)
        row.events |= event_bits(policy->events.items[i]);
    if (policy->action && job_action_parse(policy->action, &action))
        row.action = action;
    return row;
}

bool job_policy_names(const struct job_policy_row *row, enum job_event event)
{
    if (event == EVENT_NONE || !(row->events & (1u << event)))
        return false;
    return event != EVENT_POD_PENDING || row->has_timeout;
}

static bool find(const struct job_policy_input *what, struct job_policy_rows rows,
                 enum job_policy_source source, struct job_policy_result *out)
{
    for (size_t i = 0; i < rows.count; i++) {
        const struct job_policy_row *row = &rows.items[i];

        if (!job_policy_names(row, what->event) &&
            !(row->exit_code.set && row->exit_code.value == what->exit_code))
            continue;
        *out = (struct job_policy_result){row->action, row->timeout_ms, source, i};
        return true;
    }
    return false;
}

struct job_policy_result job_policy_match(const struct job_policy_input *what,
                                          int32_t status_version, struct job_policy_rows task,
                                          struct job_policy_rows job)
{
    struct job_policy_result out = {.action = what->event == EVENT_JOB_UPDATED ? ACT_UPDATE_JOB
                                                                               : ACT_SYNC_JOB};

    if (what->has_action)
        return (struct job_policy_result){.action = what->action};
    if (internal_events & (1u << what->event))
        return out;
    if (what->other_job || what->version < status_version)
        return out;
    if (!find(what, task, POLICY_OF_TASK, &out))
        find(what, job, POLICY_OF_JOB, &out);
    return out;
}
