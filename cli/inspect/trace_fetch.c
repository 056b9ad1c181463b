/*
 * Reads what happened to a flow, and when: attempts from the items of its steps, pods from the
 * namespace.
 *
 * Stored times are whole seconds, while a duration of running is exact. An attempt therefore began
 * to run that long before it ended, but not before its job was made. The first attempt was ready
 * when its targets had ended, or under `any` when the first of them had. A further attempt was
 * ready when the one before it had ended.
 */
#include "cli/inspect/trace_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/text/doc.h"
#include "api/types/text/quantity.h"
#include "base/encoding/jsonscan.h"
#include "base/encoding/jsonw.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/client/step_fetch.h"

struct fetch {
    struct trace *trace;
    json_t *steps_by_job; /* {uid of a job: position of its step} */
};

static size_t add_word(struct trace *trace, const char *word)
{
    size_t at = trace->words.len;

    buf_add(&trace->words, word ? word : "", word ? strlen(word) + 1 : 1);
    return at;
}

static void member_json(struct jsonw *json, const char *key, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    if (text)
        jsonw_member_raw(json, key, text, strlen(text));
    free(text);
}

/* Returns when nothing that a step depends on was left to wait for; 0 when that is not known. */
static int64_t ready_ms(const struct flow_view *view, uint32_t step)
{
    const bool any = view->steps[step].any;
    int64_t ready = 0;

    if (view->targets.first[step] == view->targets.first[step + 1])
        return view->began_ms;
    for (uint32_t t = view->targets.first[step]; t < view->targets.first[step + 1]; t++) {
        int64_t ended_ms = view->steps[view->targets.next[t]].ended_ms;

        if (!ended_ms && !any)
            return 0;
        if (ended_ms && (!ready || (any ? ended_ms < ready : ended_ms > ready)))
            ready = ended_ms;
    }
    return ready;
}

/* An attempt, and what is known of it besides its own entry. */
struct attempt {
    const json_t *item, *entry;
    uint32_t step;
    bool newest;
    int64_t ready_ms;
};

static size_t attempt_args(struct trace *trace, const struct attempt *about)
{
    const json_t *item = about->item, *attempt = about->entry;
    const json_t *newest_ran = about->newest ? json_object_get(item, "runMilliseconds") : NULL;
    scoped(buf) struct buf text = {0};
    struct jsonw json = jsonw_to(&text);

    jsonw_open(&json);
    jsonw_member_int(&json, "attempt", json_integer_value(json_object_get(attempt, "attempt")));
    jsonw_member_str_opt(&json, "phase", doc_text(attempt, "phase"));
    jsonw_member_str_opt(&json, "reason", doc_text(attempt, "reason"));
    jsonw_member_str_opt(&json, "message", doc_text(attempt, "message"));
    jsonw_member_str_opt(&json, "step", doc_text(item, "step"));
    jsonw_member_str_opt(&json, "item", doc_text(item, "item"));
    if (newest_ran)
        jsonw_member_int(&json, "runMilliseconds", json_integer_value(newest_ran));
    member_json(&json, "exitCodes", json_object_get(attempt, "exitCodes"));
    jsonw_close(&json);
    return add_word(trace, text.data);
}

/* Returns when the attempt ended, or the time of the trace for an attempt that is not over; 0 = not
 * known. */
static int64_t end_ms(const struct trace *trace, const struct attempt *attempt)
{
    const char *phase = doc_text(attempt->entry, "phase");
    const struct flow_view_step state = {
        .state = (uint8_t)(phase ? view_state_parse(phase) : VIEW_UNKNOWN)};
    int64_t ended_ms = doc_time_ms(attempt->entry, "endTime");

    if (ended_ms || !attempt->newest || !flow_view_step_active(&state))
        return ended_ms;
    return trace->now_ms;
}

static int64_t run_ms(const struct attempt *attempt, const struct trace_slice *slice)
{
    const json_t *ran = json_object_get(attempt->item, "runMilliseconds");
    int64_t began_ms = slice->end_ms - json_integer_value(ran);

    if (!attempt->newest || !ran)
        return 0;
    return began_ms > slice->made_ms ? began_ms : slice->made_ms;
}

static void add_attempt(struct fetch *fetch, const struct attempt *attempt)
{
    struct trace *trace = fetch->trace;
    int64_t made_ms = doc_time_ms(attempt->entry, "startTime");
    int64_t ended_ms = end_ms(trace, attempt);
    struct trace_slice *slice;

    if (!made_ms || !ended_ms) {
        trace->untimed++;
        return;
    }
    slice = trace_add(trace, TRACE_STEPS);
    slice->step = attempt->step;
    slice->made_ms = made_ms;
    slice->end_ms = ended_ms > made_ms ? ended_ms : made_ms;
    slice->ready_ms = attempt->ready_ms <= made_ms ? attempt->ready_ms : made_ms;
    slice->run_ms = run_ms(attempt, slice);
    slice->name = add_word(trace, doc_text(attempt->item, "name"));
    slice->args = attempt_args(trace, attempt);
    trace->unknown_held += !slice->ready_ms;
    trace->unknown_run += !slice->run_ms;
}

static void note_job(struct fetch *fetch, const char *job, uint32_t step)
{
    if (job)
        json_object_set_new(fetch->steps_by_job, job, json_integer(step));
}

/* Adds the attempts of a step or an iteration. In a large flow the item of an ordinary step has the
 * times itself: it is the only attempt, and the uid of its job is not known. */
static void take_item(struct fetch *fetch, const json_t *item)
{
    const struct flow_view *view = fetch->trace->view;
    const json_t *entries = json_object_get(item, "attempts");
    const char *loop = doc_text(item, "step");
    uint32_t step = flow_view_find(view, loop ? loop : doc_text(item, "name"));
    struct attempt attempt = {.item = item, .step = step, .newest = true};
    size_t n = json_array_size(entries);

    if (step == UINT32_MAX || !view->steps[step].template || (!loop && view->steps[step].loops))
        return;
    attempt.ready_ms = ready_ms(view, step);
    for (size_t i = 0; i < n; i++) {
        attempt.entry = json_array_get(entries, i);
        attempt.newest = i + 1 == n;
        note_job(fetch, doc_text(attempt.entry, "uid"), step);
        add_attempt(fetch, &attempt);
        attempt.ready_ms = doc_time_ms(attempt.entry, "endTime");
    }
    attempt.entry = item;
    if (!n && json_object_get(item, "attempt")) {
        fetch->trace->unknown_pods++;
        add_attempt(fetch, &attempt);
    }
}

static bool take_items(void *ctx, json_t *page)
{
    size_t i;
    json_t *item;

    json_array_foreach(json_object_get(page, "items"), i, item) take_item(ctx, item);
    return true;
}

/* Returns the sum of the requests of a pod's containers for a resource, in thousandths. */
static int64_t requested_milli(const json_t *pod, const char *resource)
{
    int64_t sum = 0;
    size_t i;
    json_t *container;

    json_array_foreach(doc_at(pod, "spec.containers"), i, container)
    {
        const json_t *requests = doc_at(container, "resources.requests");
        const char *text = json_string_value(json_object_get(requests, resource));
        quantity_nano amount;

        if (text && quantity_parse(text, &amount, NULL))
            sum += quantity_milli(amount);
    }
    return sum;
}

/* Finds when the first container of a pod began, and when the last one ended. */
static void take_containers(const json_t *pod, struct trace_slice *slice)
{
    size_t i;
    json_t *container;

    json_array_foreach(doc_at(pod, "status.containerStatuses"), i, container)
    {
        int64_t ran_ms = doc_time_ms(container, "state.running.startedAt");
        int64_t began_ms = ran_ms ? ran_ms : doc_time_ms(container, "state.terminated.startedAt");
        int64_t ended_ms = doc_time_ms(container, "state.terminated.finishedAt");

        if (began_ms && (!slice->run_ms || began_ms < slice->run_ms))
            slice->run_ms = began_ms;
        slice->end_ms = ended_ms > slice->end_ms ? ended_ms : slice->end_ms;
    }
}

static bool is_over(const char *phase)
{
    return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

static size_t pod_args(struct trace *trace, const json_t *pod)
{
    scoped(buf) struct buf text = {0};
    struct jsonw json = jsonw_to(&text);

    jsonw_open(&json);
    jsonw_member_str_opt(&json, "phase", doc_text(pod, "status.phase"));
    jsonw_member_str_opt(&json, "reason", doc_text(pod, "status.reason"));
    jsonw_member_str_opt(&json, "node", doc_text(pod, "spec.nodeName"));
    jsonw_close(&json);
    return add_word(trace, text.data);
}

/* Returns whether the text of a pod may name a job of the flow as its owner. */
static bool wants_pod(const void *ctx, const char *pod)
{
    const struct fetch *fetch = ctx;
    const char *owners = jsonscan_member(jsonscan_member(pod, "metadata"), "ownerReferences");
    const char *owner = owners ? jsonscan_next_element(&owners) : NULL;
    const char *value = owner ? jsonscan_member(owner, "uid") : NULL;
    size_t len = 0;
    const char *text = value ? jsonscan_string(value, &len) : NULL;
    char uid[64];

    if (!value)
        return false;
    if (!text || len >= sizeof uid)
        return true;
    memcpy(uid, text, len);
    uid[len] = '\0';
    return json_object_get(fetch->steps_by_job, uid);
}

static bool take_pod(void *ctx, json_t *pod)
{
    struct fetch *fetch = ctx;
    const json_t *owner = json_array_get(doc_at(pod, "metadata.ownerReferences"), 0);
    const char *uid = doc_text(owner, "uid");
    const json_t *step = uid ? json_object_get(fetch->steps_by_job, uid) : NULL;
    const char *phase = doc_text(pod, "status.phase");
    int64_t made_ms = doc_time_ms(pod, "metadata.creationTimestamp");
    struct trace_slice *slice;

    if (!step || !made_ms)
        return true;
    slice = trace_add(fetch->trace, TRACE_PODS);
    slice->step = (uint32_t)json_integer_value(step);
    slice->ready_ms = slice->made_ms = made_ms;
    take_containers(pod, slice);
    if (!is_over(phase))
        slice->end_ms = fetch->trace->now_ms;
    slice->end_ms = slice->end_ms > made_ms ? slice->end_ms : made_ms;
    slice->cpu_milli = requested_milli(pod, "cpu");
    slice->memory = requested_milli(pod, "memory") / 1000;
    slice->name = add_word(fetch->trace, doc_text(pod, "metadata.name"));
    slice->args = pod_args(fetch->trace, pod);
    return true;
}

bool trace_fetch(struct trace *trace, struct client *client, struct error *err)
{
    const struct flow_view *view = trace->view;
    struct fetch fetch = {.trace = trace};
    scoped(json) json_t *steps_by_job = json_object();
    const struct list_query pods = {
        .kind = &kind_pod, .ns = view->ns, .wanted = wants_pod, .wanted_ctx = &fetch};

    fetch.steps_by_job = steps_by_job;
    if (!step_fetch(client, view->ns, view->name, false, take_items, &fetch, err))
        return false;
    return !json_object_size(steps_by_job) || list_each(client, &pods, take_pod, &fetch, NULL, err);
}
