/*
 * Each state of a step has one function, listed in the table at the end. It writes one line from
 * the status of the flow and, where that is not enough, from the PodGroup and the pods of the
 * step's job.
 */
#include "cli/inspect/explain.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/lister.h"
#include "view/condition_text.h"
#include "view/reason.h"

enum { NAMES_MAX = 6 };

void explain_release(struct explain *explain)
{
    mem_free(explain->failed_before);
    json_decref(explain->groups);
    resource_holders_release(&explain->holders);
}

void explain_when(const struct explain *explain, int64_t at_ms, struct buf *out)
{
    char text[TIME_TEXT_MAX];
    bool past = at_ms < explain->now_ms;

    duration_human(past ? explain->now_ms - at_ms : at_ms - explain->now_ms, text);
    buf_printf(out, past ? "%s ago" : "in %s", text);
}

static json_t *first_match(const struct explain *explain, const struct kind *kind,
                           const char *labels, const char *fields)
{
    const struct list_query query = {
        .kind = kind, .ns = explain->view->ns, .labels = labels, .fields = fields};
    scoped_str target = list_target(&query);

    return explain->client ? client_get(explain->client, target, NULL) : NULL;
}

static char *job_name(const struct explain *explain, const struct flow_view_step *step)
{
    const json_t *jobs = json_object_get(step->node, "jobs");
    const char *newest = json_string_value(json_array_get(jobs, json_array_size(jobs) - 1));

    return newest ? mem_strdup(newest) : mem_printf("%s-%s", explain->view->name, step->name);
}

/* The pods of a job, as far as they are kept. */
static void take_pods(const struct explain *explain, const char *job, struct reason_pods *out)
{
    scoped_str labels = mem_printf(LABEL_JOB_NAME "=%s", job);
    scoped(json) json_t *pods = first_match(explain, &kind_pod, labels, NULL);
    size_t i;
    json_t *pod;

    json_array_foreach(json_object_get(pods, "items"), i, pod)
    {
        struct error_list errors = {0};
        struct object *object;

        json_object_set_new(pod, "apiVersion", json_string("v1")); /* a list leaves them out */
        json_object_set_new(pod, "kind", json_string(kind_pod.name));
        object = object_from_json(pod, &errors);
        if (object)
            reason_pods_add(out, object);
        object_unref(object);
        error_list_release(&errors);
    }
}

/* Returns the PodGroups of a flow. A long name is shortened in the label, so then all PodGroups are
 * listed. */
static json_t *groups_of_flow(const struct explain *explain)
{
    enum { LABEL_MAX = 63 };
    const struct flow_view *view = explain->view;
    scoped_str label = mem_printf(LABEL_CREATED_BY_FLOW "=%s.%s", view->ns, view->name);
    bool whole = strlen(view->ns) + strlen(view->name) < LABEL_MAX;

    return first_match(explain, &kind_pod_group, whole ? label : NULL, NULL);
}

/* Appends the scheduler's newest message about the job's PodGroup. */
static void write_unschedulable(struct explain *explain, const char *job, struct buf *out)
{
    size_t i, k;
    json_t *group, *condition;

    if (!explain->groups)
        explain->groups = groups_of_flow(explain);
    json_array_foreach(json_object_get(explain->groups, "items"), i, group)
    {
        const json_t *owner = json_array_get(doc_at(group, "metadata.ownerReferences"), 0);
        const char *name = doc_text(owner, "name");
        const char *message = NULL;

        if (!name || strcmp(name, job) != 0)
            continue;
        json_array_foreach(doc_at(group, "status.conditions"), k, condition)
        {
            const char *type = doc_text(condition, "type");

            if (type && strcmp(type, "Unschedulable") == 0)
                message = doc_text(condition, "message");
        }
        if (message) {
            buf_printf(out, "%s%s", out->len ? ": " : "", message);
            resource_holders_write(&explain->holders, explain->client, explain->view->ns, message,
                                   out);
        }
        return;
    }
}

/* Appends which gang a ready step starts with, and its members that are not ready. */
static bool write_gang(const struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view *view = explain->view;
    size_t g, m;
    json_t *gang, *member;

    json_array_foreach(doc_at(view->doc, "spec.gangs"), g, gang)
    {
        scoped(buf) struct buf others = {0};
        const char *name = doc_text(gang, "name");
        bool mine = false;

        json_array_foreach(json_object_get(gang, "flows"), m, member)
        {
            uint32_t at = flow_view_find(view, json_string_value(member));

            mine = mine || at == i;
            if (at != UINT32_MAX && at != i && !flow_view_step_active(&view->steps[at]) &&
                !flow_view_step_over(&view->steps[at]))
                buf_printf(&others, "%s%s (%s)", others.len ? ", " : "", view->steps[at].name,
                           flow_view_step_state(&view->steps[at]));
        }
        if (!mine || !others.len)
            continue;
        buf_printf(out, "is ready, and starts together with its gang %s: waits for %s",
                   name ? name : "", others.data);
        return true;
    }
    return false;
}

static void write_targets(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view *view = explain->view;
    const struct flow_view_step *step = &view->steps[i];
    uint32_t n, open = 0;
    scoped(buf) struct buf names = {0};
    const struct flow_view_step *missed;

    flow_view_link(explain->view, NULL);
    n = view->targets.first[i + 1] - view->targets.first[i];
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flow_view_step *target = &view->steps[view->targets.next[t]];

        if (!flow_view_target_open(step, target) || open++ >= NAMES_MAX)
            continue;
        buf_printf(&names, "%s%s", names.len ? ", " : "", target->name);
        if (target->state != VIEW_NONE)
            buf_printf(&names, " (%s)", flow_view_step_state(target));
    }
    if (open > NAMES_MAX)
        buf_printf(&names, " and %u more", open - NAMES_MAX);
    missed = flow_view_missed_target(view, i);
    if (missed) {
        buf_printf(out, "never starts: its probe did not pass before %s was Completed",
                   missed->name);
        return;
    }
    if (!open && view->phase != FLOW_NONE && write_gang(explain, i, out))
        return;
    if (!n)
        buf_str(out, view->phase != FLOW_NONE
                         ? "waits for nothing: it starts as soon as there is room"
                         : "starts at once");
    else if (open)
        buf_printf(out, "waits for %s%s", step->any ? "any of " : "", names.data);
    else
        buf_str(out, "its targets are done: it starts as soon as there is room");
    if (open && doc_at(flow_view_step_spec(step), "dependsOn.probe"))
        buf_str(out, ", or until its probes pass");
}

/* Returns for each step the failed step before it that keeps it from running, of several the last
 * in topological order; UINT32_MAX when there is none. It is computed once for all steps. */
static const uint32_t *failures_before(struct explain *explain)
{
    const struct flow_view *view = explain->view;
    uint32_t *place;

    if (explain->failed_before)
        return explain->failed_before;
    flow_view_link(explain->view, NULL);
    explain->failed_before = mem_array((size_t)view->n_steps + 1, sizeof(uint32_t));
    place = mem_array((size_t)view->n_steps + 1, sizeof *place);
    for (uint32_t k = 0; k < view->n_steps; k++) {
        uint32_t at = view->order[k], found = UINT32_MAX;

        place[at] = k;
        for (uint32_t t = view->targets.first[at]; t < view->targets.first[at + 1]; t++) {
            uint32_t target = view->targets.next[t];
            uint32_t failed = flow_view_step_failed(&view->steps[target])
                                  ? target
                                  : explain->failed_before[target];

            if (failed != UINT32_MAX && (found == UINT32_MAX || place[failed] > place[found]))
                found = failed;
        }
        explain->failed_before[at] = found;
    }
    mem_free(place);
    return explain->failed_before;
}

/* "waits for approval since 2h (deploy?): jobflow approve jf/release gate" */
static void explain_question(const struct explain *explain, const struct flow_view_step *step,
                             struct buf *out)
{
    const int64_t asked_ms = doc_time_ms(step->node, "askedTime");
    char since[TIME_TEXT_MAX];

    buf_str(out, "waits for approval");
    if (asked_ms) {
        duration_human(explain->now_ms - asked_ms, since);
        buf_printf(out, " since %s", since);
    }
    if (step->message)
        buf_printf(out, " (%s)", step->message);
    buf_printf(out, ": jobflow approve jf/%s %s", explain->view->name, step->name);
}

static void explain_waiting(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view *view = explain->view;
    const struct flow_view_step *step = &view->steps[i];

    if (view->phase == FLOW_FAILED || view->phase == FLOW_TERMINATING) {
        uint32_t failed = failures_before(explain)[i];

        if (failed != UINT32_MAX)
            buf_printf(out, "not run: %s before it is %s", view->steps[failed].name,
                       flow_view_step_state(&view->steps[failed]));
        else
            buf_printf(out, "not run: the flow is %s", flow_phase_text(view->phase));
        return;
    }
    if (flow_view_step_asks(step)) {
        explain_question(explain, step, out);
        return;
    }
    if (step->reason || step->message) {
        flow_view_step_reason(step, out);
        return;
    }
    if (json_is_true(doc_at(view->doc, "spec.suspend")))
        buf_str(out, "the flow is suspended; ");
    write_targets(explain, i, out);
}

static const json_t *newest_attempt(const struct flow_view_step *step)
{
    const json_t *attempts = json_object_get(step->node, "attempts");
    size_t n = json_array_size(attempts);

    return n ? json_array_get(attempts, n - 1) : NULL;
}

void explain_exit_codes(const json_t *attempt, struct buf *out)
{
    const char *task;
    json_t *codes, *code;
    size_t i, before = out->len;

    json_object_foreach((json_t *)(size_t)json_object_get(attempt, "exitCodes"), task, codes)
    {
        json_array_foreach(codes, i, code)
        {
            if (json_integer_value(code) == 0)
                continue;
            buf_printf(out, "%s%s ended with %d", out->len > before ? ", " : "", task,
                       (int)json_integer_value(code));
            break;
        }
    }
}

static void explain_retrying(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &explain->view->steps[i];
    int64_t next_ms = doc_time_ms(step->node, "nextRetryTime");
    scoped(buf) struct buf codes = {0};

    buf_printf(out, "attempt %d has failed", (int)step->attempts);
    explain_exit_codes(newest_attempt(step), &codes);
    if (codes.len)
        buf_printf(out, " (%s)", codes.data);
    buf_str(out, "; the next begins ");
    if (next_ms)
        explain_when(explain, next_ms, out);
    else
        buf_str(out, "when the old job is gone");
}

/* The case of a switch that took its default is "". */
static void write_case(const char *name, struct buf *out)
{
    buf_printf(out, "chose %s", *name ? name : "the default: no case holds");
}

/* Appends the switch that lists the step, and the case it chose instead: "route chose good". */
static bool write_choice(const struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view *view = explain->view;

    flow_view_link(explain->view, NULL);
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flow_view_step *target = &view->steps[view->targets.next[t]];
        const char *choice = doc_text(target->node, "case");

        if (!json_object_get(flow_view_step_spec(target), "switch"))
            continue;
        buf_printf(out, "%s ", target->name);
        write_case(choice ? choice : "", out);
        return true;
    }
    return false;
}

static void write_false_condition(const struct explain *explain, const struct flow_view_step *step,
                                  struct buf *out)
{
    scoped(buf) struct buf terms = {0};

    if (!explain->hides_specs)
        condition_write(explain->view, json_object_get(flow_view_step_spec(step), "if"), true,
                        &terms);
    buf_printf(out, "its condition (if) was false%s%s", terms.len ? ": " : "",
               terms.len ? terms.data : "");
}

/* Appends the first target that failed and which the flow went on without. */
static bool write_failed_target(const struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view *view = explain->view;

    flow_view_link(explain->view, NULL);
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flow_view_step *target = &view->steps[view->targets.next[t]];

        if (target->state != VIEW_FAILED && target->state != VIEW_TERMINATED)
            continue;
        buf_printf(out, "%s is %s", target->name, flow_view_step_state(target));
        return true;
    }
    return false;
}

static void explain_skipped(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &explain->view->steps[i];

    if (step->reason || step->message)
        flow_view_step_reason(step, out);
    else if (write_choice(explain, i, out))
        return;
    else if (json_object_get(flow_view_step_spec(step), "if"))
        write_false_condition(explain, step, out);
    else if (!write_failed_target(explain, i, out))
        buf_str(out, "everything it waits for was skipped");
}

static void explain_running(struct explain *explain, uint32_t i, struct buf *out)
{
    static const char *const sources[] = {"", "by runningEstimate", "by what earlier ones took"};
    const struct flow_view_step *step = &explain->view->steps[i];
    int64_t ms = flow_view_step_ms(step, explain->now_ms);
    scoped(buf) struct buf progress = {0};
    scoped_str job = job_name(explain, step);
    char text[TIME_TEXT_MAX];

    if (step->reason && strcmp(step->reason, "HashingOutputs") == 0) {
        buf_str(out, "its job has completed; what it wrote is looked at, so that it can be reused");
        return;
    }
    if (step->state == VIEW_PENDING) {
        buf_printf(out, "job %s waits for its pods", job);
        write_unschedulable(explain, job, out);
        return;
    }
    if (ms >= 0) {
        duration_human(ms, text);
        buf_printf(out, "for %s", text);
    } else {
        buf_str(out, "at work");
    }
    flow_view_step_progress(step, &progress);
    if (progress.len)
        buf_printf(out, ", %s iterations", progress.data);
    if (flow_view_step_serves(step)) {
        buf_printf(out, "; ends with the steps that depend on it%s%s", step->message ? ": " : "",
                   step->message ? step->message : "");
        return;
    }
    if (step->estimated == ESTIMATE_NONE) {
        buf_str(out, "; nothing says how long it takes");
        return;
    }
    if (ms > step->estimate_ms + 1000) { /* times are stored in seconds */
        duration_human(step->estimate_ms, text);
        buf_printf(out, ", longer than the expected %s (%s)", text, sources[step->estimated]);
        return;
    }
    buf_str(out, "; expected to end ");
    explain_when(explain, step->expected_end_ms, out);
    buf_printf(out, " (%s)", sources[step->estimated]);
}

static void explain_completed(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &explain->view->steps[i];
    const char *choice = doc_text(step->node, "case");
    scoped(buf) struct buf took = {0};

    if (choice) {
        write_case(choice, out);
        return;
    }
    if (flow_view_step_cached(step)) {
        buf_str(out, step->message ? step->message : "");
        return;
    }
    flow_view_step_took(step, explain->now_ms, &took);
    if (!took.len && step->loops && !flow_view_step_iterations_known(step))
        buf_str(out, "it had no iteration");
    if (!took.len)
        return;
    buf_printf(out, "took %s", took.data);
    if (step->attempts > 1 && !flow_view_step_jobless(step))
        buf_printf(out, ", in attempt %d", (int)step->attempts);
    if (doc_text(step->node, "reuse"))
        buf_printf(out, "; %s", doc_text(step->node, "reuse"));
}

/* Explains a failed step as a run does. Without pods the exit codes of the newest attempt are known
 * from the status. */
static void explain_failed(struct explain *explain, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &explain->view->steps[i];
    bool pods_tell = !flow_view_step_jobless(step) && reason_only_counts(step->message);
    scoped_str job = job_name(explain, step);
    struct reason_pods pods = {0};

    if (pods_tell)
        take_pods(explain, job, &pods);
    if (pods_tell && !pods.n_failed)
        explain_exit_codes(newest_attempt(step), out);
    if (pods_tell && (pods.n_failed || !out->len))
        reason_of_failure(step->reason, step->message, &pods, out);
    else if (!pods_tell)
        flow_view_step_reason(step, out);
    if (step->attempts > 1 && !flow_view_step_jobless(step))
        buf_printf(out, "%safter %d attempts", out->len ? "; " : "", (int)step->attempts);
    reason_pods_release(&pods);
}

static void explain_reason(struct explain *explain, uint32_t i, struct buf *out)
{
    flow_view_step_reason(&explain->view->steps[i], out);
}

static void explain_stopped(struct explain *explain, uint32_t i, struct buf *out)
{
    scoped(buf) struct buf progress = {0};

    flow_view_step_progress(&explain->view->steps[i], &progress);
    buf_printf(out, "the flow ended after %s iterations", progress.data ? progress.data : "");
}

static void explain_aborted(struct explain *explain, uint32_t i, struct buf *out)
{
    scoped_str job = job_name(explain, &explain->view->steps[i]);

    buf_printf(out, "suspended: 'jobflow resume job/%s' goes on with it", job);
}

/* States that are not listed belong to an active job. */
static void (*const states[VIEW_STATE_N])(struct explain *explain, uint32_t step,
                                          struct buf *out) = {
    [VIEW_NONE] = write_targets,      [VIEW_WAITING] = explain_waiting,
    [VIEW_BLOCKED] = explain_reason,  [VIEW_RETRYING] = explain_retrying,
    [VIEW_SKIPPED] = explain_skipped, [VIEW_COMPLETED] = explain_completed,
    [VIEW_FAILED] = explain_failed,   [VIEW_TERMINATED] = explain_failed,
    [VIEW_ABORTED] = explain_aborted, [VIEW_STOPPED] = explain_stopped,
};

void explain_step(struct explain *explain, uint32_t i, struct buf *out)
{
    enum view_state state = (enum view_state)explain->view->steps[i].state;

    (states[state] ? states[state] : explain_running)(explain, i, out);
}
