/*
 * Rules of a list of lifecycle policies: known events and actions, no event or exit code twice, and
 * nothing beside the event *. Ref: spec/job.md 4.5, O-12, O-13.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"

/* Events and actions that a policy may name. The others are internal. */
static const bool event_allowed[JOB_EVENT_N] = {
    [EVENT_ANY] = true,         [EVENT_POD_FAILED] = true,  [EVENT_POD_EVICTED] = true,
    [EVENT_POD_PENDING] = true, [EVENT_UNKNOWN] = true,     [EVENT_TASK_COMPLETED] = true,
    [EVENT_TASK_FAILED] = true, [EVENT_JOB_UPDATED] = true,
};
static const bool action_allowed[JOB_ACTION_N] = {
    [ACT_ABORT_JOB] = true,    [ACT_RESTART_JOB] = true,       [ACT_RESTART_TASK] = true,
    [ACT_RESTART_POD] = true,  [ACT_RESTART_PARTITION] = true, [ACT_TERMINATE_JOB] = true,
    [ACT_COMPLETE_JOB] = true, [ACT_RESUME_JOB] = true,
};

static const char *allowed_list(struct buf *out, const bool *allowed, int count,
                                const char *(*text)(int))
{
    buf_clear(out);
    for (int i = 0; i < count; i++)
        if (allowed[i])
            buf_printf(out, "%s%s", out->len ? ", " : "", text(i));
    return out->data;
}

static const char *event_text(int event)
{
    return job_event_text((enum job_event)event);
}

static const char *action_text(int action)
{
    return job_action_text((enum job_action)action);
}

/* The events of earlier policies in the list. */
struct seen {
    bool events[JOB_EVENT_N];
    size_t event_count; /* number of different events so far */
    bool wildcard_reported;
};

static void check_action(const struct job_policy *policy, const char *path, size_t i,
                         struct error_list *errors)
{
    scoped(buf) struct buf allowed = {0};
    enum job_action action;

    if (!policy->action || !job_action_parse(policy->action, &action) || !action_allowed[action])
        FINDING(errors, ("%s[%zu].action", path, i),
                "invalid policy action \"%s\": must be one of %s",
                policy->action ? policy->action : "",
                allowed_list(&allowed, action_allowed, JOB_ACTION_N, action_text));
}

/* Checks one event of a policy. `own` holds the events of the same policy, which may be
 * repeated. */
static void check_event(const char *text, const char *path, size_t i, struct seen *seen, bool *own,
                        struct error_list *errors)
{
    scoped(buf) struct buf allowed = {0};
    enum job_event event;

    if (!job_event_parse(text, &event) || !event_allowed[event]) {
        FINDING(errors, ("%s[%zu]", path, i), "invalid policy event \"%s\": must be one of %s",
                text, allowed_list(&allowed, event_allowed, JOB_EVENT_N, event_text));
        return;
    }
    if (own[event])
        return;
    own[event] = true;
    if (seen->events[event])
        FINDING(errors, ("%s[%zu]", path, i),
                "duplicate event %s: an earlier policy of the list has it", text);
    else
        seen->event_count++;
}

static void check_wildcard(const char *path, size_t i, struct seen *seen, struct error_list *errors)
{
    if (!seen->events[EVENT_ANY] || seen->event_count < 2 || seen->wildcard_reported)
        return;
    seen->wildcard_reported = true;
    FINDING(errors, ("%s[%zu]", path, i),
            "if there's * here, no other policy should be here: * already means every event");
}

static void check_events(const struct job_policy *policy, const char *path, size_t i,
                         struct seen *seen, struct error_list *errors)
{
    bool own[JOB_EVENT_N] = {false};

    for (size_t e = 0; e < policy->events.count; e++)
        check_event(policy->events.items[e], path, i, seen, own, errors);
    if (policy->event && *policy->event)
        check_event(policy->event, path, i, seen, own, errors);
    for (int event = 0; event < JOB_EVENT_N; event++)
        seen->events[event] = seen->events[event] || own[event];
    check_wildcard(path, i, seen, errors);
}

static void check_exit_code(const struct job_policy_list *policies, const char *path, size_t i,
                            struct error_list *errors)
{
    int32_t code = policies->items[i].exit_code.value;

    if (code == 0)
        FINDING(errors, ("%s[%zu].exitCode", path, i),
                "0 is not a valid error code: it is success");
    for (size_t j = 0; j < i; j++) {
        const struct opt_i32 *other = &policies->items[j].exit_code;

        if (code != 0 && other->set && other->value == code) {
            FINDING(errors, ("%s[%zu].exitCode", path, i),
                    "duplicate exitCode %d: an earlier policy of the list has it", code);
            return;
        }
    }
}

static bool names_event(const struct job_policy *policy, const char *event)
{
    for (size_t e = 0; e < policy->events.count; e++)
        if (strcmp(policy->events.items[e], event) == 0)
            return true;
    return policy->event && strcmp(policy->event, event) == 0;
}

static void warn_timeout(const struct admission *adm, const struct job_policy *policy,
                         const char *path, size_t i)
{
    if (policy->timeout_ns < 0 && names_event(policy, "PodPending"))
        WARNING(adm, ("%s[%zu]", path, i),
                "a policy on PodPending without a timeout never acts: set timeout to how long a "
                "pod may wait");
}

void job_check_policies(const struct admission *adm, const struct job_policy_list *policies,
                        const char *path, struct error_list *errors)
{
    struct seen seen = {0};

    for (size_t i = 0; i < policies->count; i++) {
        const struct job_policy *policy = &policies->items[i];
        bool has_event = (policy->event && *policy->event) || policy->events.count;

        if (has_event && policy->exit_code.set)
            FINDING(errors, ("%s[%zu]", path, i),
                    "must not specify event and exitCode simultaneously");
        else if (!has_event && !policy->exit_code.set)
            FINDING(errors, ("%s[%zu]", path, i), "either event and exitCode should be specified");
        if (has_event)
            check_events(policy, path, i, &seen, errors);
        if (policy->exit_code.set)
            check_exit_code(policies, path, i, errors);
        check_action(policy, path, i, errors);
        warn_timeout(adm, policy, path, i);
    }
}
