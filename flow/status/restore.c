/*
 * Reads a stored status back into a model, the inverse of status.c. Members of an unexpected form
 * are ignored, because people may have edited the status.
 */
#include "flow/status/restore.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/graph/step_bitmap.h"
#include "flow/model/control.h"
#include "flow/model/spec_hash.h"
#include "flow/model/step_probe.h"

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static int64_t time_of(const json_t *object, const char *member)
{
    const char *text = text_of(object, member);
    int64_t at_ms = 0;

    return text && time_parse(text, &at_ms, NULL) ? at_ms : 0;
}

static char *json_kept(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    char *kept = mem_strdup(text);

    free(text);
    return kept;
}

void removed_entries_add(struct removed_entries *entries, char *json)
{
    if (entries->count == REMOVED_ENTRIES_MAX) {
        mem_free(entries->items[0]);
        memmove(entries->items, entries->items + 1, --entries->count * sizeof(char *));
    }
    entries->items = mem_resize(entries->items, (entries->count + 1) * sizeof(char *));
    entries->items[entries->count++] = json;
}

void removed_entries_release(struct removed_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        mem_free(entries->items[i]);
    mem_free(entries->items);
    memset(entries, 0, sizeof *entries);
}

void flow_state_release(struct flow_state *state)
{
    mem_free(state->reason);
    mem_free(state->message);
    mem_free(state->retry);
    memset(state, 0, sizeof *state);
}

static int64_t duration_of(const json_t *status)
{
    const char *text = text_of(status, "duration");
    int64_t ns;

    return text && duration_parse(text, &ns, NULL) ? ns / 1000000 : -1;
}

static void restore_state(struct flow_state *state, const json_t *status)
{
    const json_t *stored = json_object_get(status, "state");
    const char *phase = text_of(stored, "phase");
    const char *ending = text_of(status, "ending");
    enum flow_phase end;

    if (phase)
        flow_phase_parse(phase, &state->phase);
    if (ending && flow_phase_parse(ending, &end) && flow_phase_finished(end))
        state->ending = end;
    state->reason = mem_strdup(text_of(stored, "reason"));
    state->message = mem_strdup(text_of(stored, "message"));
    state->retry = mem_strdup(text_of(status, "observedRetry"));
    state->since_ms = time_of(stored, "lastTransitionTime");
    state->start_ms = time_of(status, "startTime");
    state->completion_ms = time_of(status, "completionTime");
    state->duration_ms = duration_of(status);
}

static struct step_history *history_of(struct step *step)
{
    if (!step->history)
        step->history = step_history_new();
    return step->history;
}

static void restore_history(struct step_history *history, const json_t *entry)
{
    const json_t *span;
    size_t i;

    json_array_foreach(json_object_get(entry, "runningHistories"), i, span)
    {
        struct step_span known = {.start_ms = time_of(span, "startTimestamp"),
                                  .end_ms = time_of(span, "endTimestamp")};

        if (job_phase_parse(text_of(span, "state"), &known.phase) && known.phase != JOB_NONE)
            step_history_add_span(history, &known);
    }
}

static void restore_job_statuses(struct flow_model *m, struct removed_entries *removed,
                                 const json_t *status)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(status, "jobStatusList"), i, entry)
    {
        const char *name = text_of(entry, "name");
        uint32_t at = name ? flow_model_step_of_job_name(m, name) : STEP_NONE;
        struct step_history *history;

        if (!name)
            continue;
        if (at == STEP_NONE) {
            removed_entries_add(removed, json_kept(entry));
            continue;
        }
        history = history_of(&m->steps[at]);
        if (history->kept_status)
            continue; /* a second entry for the same name is ignored */
        history->kept_status = json_kept(entry);
        restore_history(history, entry);
    }
}

/* A status of Volcano's own controller has neither nodes nor bitmaps. */
static bool is_upstream_form(const json_t *status)
{
    return !json_object_get(status, "nodes") && !json_object_get(status, "results");
}

static void restore_result(struct step *step, enum job_phase phase);

/* Imports results from the list of jobs that Volcano's own controller keeps, so that a step whose
 * job is gone does not run again. */
static void restore_upstream_results(struct flow_model *m, const json_t *status)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(status, "jobStatusList"), i, entry)
    {
        const char *name = text_of(entry, "name"), *state = text_of(entry, "state");
        uint32_t at = name ? flow_model_step_of_job_name(m, name) : STEP_NONE;
        enum job_phase phase = JOB_NONE;

        if (at != STEP_NONE && state && job_phase_parse(state, &phase) &&
            job_phase_finished(phase) && m->steps[at].state == STEP_WAITING)
            restore_result(&m->steps[at], phase);
    }
}

static void restore_conditions(struct flow_model *m, const json_t *status)
{
    json_t *conditions = json_object_get(status, "conditions");
    const char *name;
    json_t *entry;

    json_object_foreach(conditions, name, entry)
    {
        uint32_t at = flow_model_step_of_job_name(m, name);
        struct step_history *history = at == STEP_NONE ? NULL : m->steps[at].history;

        if (history && !history->kept_condition)
            history->kept_condition = json_kept(entry);
    }
}

static void restore_met_targets(struct step_probe *probe, const json_t *node)
{
    const json_t *name;
    size_t i;

    json_array_foreach(json_object_get(node, "satisfiedTargets"), i, name)
    {
        for (size_t t = 0; json_is_string(name) && t < probe->depends->targets.count; t++)
            if (strcmp(probe->depends->targets.items[t], json_string_value(name)) == 0)
                step_probe_mark_met(probe, t);
    }
}

static void restore_attempts(struct step_history *history, const json_t *node, json_int_t current)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(node, "attempts"), i, entry)
    {
        if (json_integer_value(json_object_get(entry, "attempt")) < current) {
            history->restarts += (int32_t)json_integer_value(json_object_get(entry, "restarts"));
            step_history_add_attempt(history, json_kept(entry));
        } else {
            mem_free(history->kept_attempt);
            history->kept_attempt = json_kept(entry);
        }
    }
}

/* The step has this result, though it may have no job any more. */
static void restore_result(struct step *step, enum job_phase phase)
{
    step->state = STEP_STARTED;
    step->phase = (uint8_t)phase;
    if (!step->attempt && !step->jobless)
        step->attempt = 1;
}

static void restore_phase(struct step *step, const char *text)
{
    enum job_phase phase = JOB_NONE;

    if (!text)
        return;
    step->retry = step->restored = strcmp(text, STEP_RETRYING_TEXT) == 0;
    if (strcmp(text, STEP_BLOCKED_TEXT) == 0) /* blocked before a retry, or before its first job */
        step->retry = step->attempt && step->retries >= step->attempt;
    if (strcmp(text, STEP_BLOCKED_TEXT) == 0 || strcmp(text, STEP_WAITING_TEXT) == 0)
        step->recreate = step->attempt && !step->retry; /* the job was deleted by hand */
    step->ran = step->recreate || step->retries;        /* a manual retry begins without retries */
    if (strcmp(text, STEP_SKIPPED_TEXT) == 0)
        step->state = STEP_SKIPPED;
    if (job_phase_parse(text, &phase) && job_phase_finished(phase))
        restore_result(step, phase);
    if (step->jobless && phase == JOB_RUNNING)
        step->ran = true; /* the step is a loop that has run */
}

/* Returns how the last attempt ended, if it is to be retried. */
static enum job_phase phase_of_attempt(const json_t *node)
{
    const json_t *attempts = json_object_get(node, "attempts");
    size_t count = json_array_size(attempts);
    enum job_phase phase = JOB_NONE;

    if (count && job_phase_parse(text_of(json_array_get(attempts, count - 1), "phase"), &phase) &&
        (phase_failed(phase) || phase == JOB_ABORTED))
        return phase;
    return JOB_FAILED;
}

static void restore_retries(struct step *step, const json_t *node)
{
    json_int_t retries = json_integer_value(json_object_get(node, "retries"));
    int64_t next_ms = time_of(node, "nextRetryTime");

    if (retries > 0 && retries <= UINT16_MAX)
        step->retries = (uint16_t)retries;
    if (next_ms)
        history_of(step)->next_retry_ms = next_ms;
}

/* Adds the exit codes of the last attempt. A pod failed if its code is not zero. */
static void restore_codes(struct job_results *results, const json_t *node)
{
    const json_t *attempts = json_object_get(node, "attempts");
    json_t *codes = json_object_get(
        json_array_get(attempts, json_array_size(attempts) - (json_array_size(attempts) > 0)),
        "exitCodes");
    const char *task;
    json_t *list;

    json_object_foreach(codes, task, list)
    {
        const json_t *code;
        size_t i;

        json_array_foreach(list, i, code)
        {
            const struct result_pod pod = {
                .name = (char *)"",
                .uid = (char *)"",
                .task = (char *)task,
                .index = i,
                .phase = json_integer_value(code) ? POD_FAILED : POD_SUCCEEDED,
                .has_code = true,
                .code = (int32_t)json_integer_value(code),
            };

            job_results_add_pod(results, &pod);
        }
    }
}

static void restore_results_of(struct step *step, const json_t *node)
{
    json_t *outputs = json_object_get(node, "outputs");
    struct job_results *results;
    const char *key;
    json_t *value;

    if ((step->jobless && !step->approval) || (step->history && step->history->results))
        return;
    results = job_results_new();
    results->restored = true;
    json_object_foreach(outputs, key, value)
    {
        if (json_is_string(value))
            job_results_add_output(results, key, strlen(key), json_string_value(value),
                                   json_string_length(value), 0);
    }
    restore_codes(results, node);
    if (results->n_outputs || results->n_pods)
        step_history_set_results(history_of(step), results);
    else
        job_results_free(results);
}

/* Restores the failure of a step that had no job: its reason and message are in the status only. */
static void restore_failure(struct step *step, const json_t *node)
{
    if (step->jobless || !phase_failed(step->phase) || json_object_get(node, "jobs"))
        return; /* restore_approval knows those that fail without a job */
    step->attempt = 0;
    step_history_set_failure(history_of(step), text_of(node, "reason"), text_of(node, "message"));
}

/* Restores the question of an approval, or how it has ended. */
static void restore_approval(struct step *step, const json_t *node)
{
    if (!text_of(node, "reason") && !text_of(node, "askedTime"))
        return;
    step_history_set_failure(history_of(step), text_of(node, "reason"), text_of(node, "message"));
    step->history->asked_ms = time_of(node, "askedTime");
}

static void restore_cached(struct flow_model *m, uint32_t at, const json_t *node)
{
    const json_t *from = json_object_get(node, "cachedFrom");
    struct reused_work work = {.entry = mem_strdup(text_of(from, "entry")),
                               .key = mem_strdup(text_of(from, "key")),
                               .flow = mem_strdup(text_of(from, "flow")),
                               .job = mem_strdup(text_of(from, "job")),
                               .uid = mem_strdup(text_of(from, "uid")),
                               .made_ms = time_of(from, "time")};

    if (m->steps[at].state == STEP_STARTED && m->steps[at].phase == JOB_COMPLETED &&
        !m->steps[at].jobless)
        flow_model_restore_cached(m, at, &work);
    reused_work_release(&work);
}

static void restore_nodes(struct flow_model *m, const json_t *status)
{
    const json_t *node;
    size_t i;

    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *name = text_of(node, "name");
        uint32_t at = name ? flow_graph_find(m->graph, name) : STEP_NONE;
        json_int_t attempt = json_integer_value(json_object_get(node, "attempt"));
        struct step *step;

        if (at == STEP_NONE)
            continue;
        step = &m->steps[at];
        if (attempt > 0 && attempt <= UINT16_MAX)
            step->attempt = (uint16_t)attempt;
        restore_retries(step, node);
        if (json_object_get(node, "attempts"))
            restore_attempts(history_of(step), node, attempt);
        step->kept = json_is_true(json_object_get(node, "kept"));
        m->partial |= step->kept;
        if (step->probe)
            restore_met_targets(step->probe, node);
        restore_results_of(step, node);
        if (text_of(node, "specHash"))
            history_of(step)->spec_hash = spec_hash_parse(text_of(node, "specHash"));
        restore_phase(step, text_of(node, "phase"));
        if (step->retry && step->retries)
            step->failed_as = phase_of_attempt(node);
        if (!attempt && text_of(node, "reason"))
            restore_failure(step, node);
        if (step->approval)
            restore_approval(step, node);
        if (json_is_object(json_object_get(node, "cachedFrom")))
            restore_cached(m, at, node);
        if (m->reuse && text_of(node, "reuse"))
            flow_model_set_reuse_note(m, at, text_of(node, "reuse"));
        if (m->control && text_of(node, "case") && !m->control->steps[at].chosen)
            m->control->steps[at].chosen = mem_strdup(text_of(node, "case"));
    }
}

/* Restores a step from its bit in a bitmap; JOB_NONE stands for skipped. */
static void restore_from_bit(struct step *step, enum job_phase phase)
{
    if (step->state == STEP_STARTED)
        return;
    if (phase == JOB_NONE)
        step->state = STEP_SKIPPED;
    else
        restore_result(step, phase);
}

static void restore_kept(struct flow_model *m, const char *bits)
{
    struct step_set set;

    step_set_init(&set, m->graph->steps);
    if (bits && step_bitmap_read(bits, &set)) {
        step_set_each(&set, step) m->steps[step].kept = m->partial = true;
    }
    step_set_release(&set);
}

static void restore_cached_bits(struct flow_model *m, const char *bits)
{
    struct step_set set;

    step_set_init(&set, m->graph->steps);
    if (bits && step_bitmap_read(bits, &set)) {
        step_set_each(&set, step)
        {
            struct reused_work unknown = {0};

            if (m->steps[step].state == STEP_STARTED && !m->steps[step].cached)
                flow_model_restore_cached(m, step, &unknown);
        }
    }
    step_set_release(&set);
}

/* The bitmaps number steps by position, so they hold only for the spec they were written for. */
static void restore_results(struct flow_model *m, const json_t *status, int64_t generation)
{
    const json_t *results = json_object_get(status, "results");
    static const struct {
        const char *key;
        enum job_phase phase;
    } rows[] = {{"completed", JOB_COMPLETED}, {"failed", JOB_FAILED}, {"skipped", JOB_NONE}};

    if (json_integer_value(json_object_get(status, "observedGeneration")) != generation)
        return;
    for (size_t i = 0; i < countof(rows); i++) {
        const char *bits = text_of(results, rows[i].key);
        struct step_set set;

        step_set_init(&set, m->graph->steps);
        if (bits && step_bitmap_read(bits, &set)) {
            step_set_each(&set, step) restore_from_bit(&m->steps[step], rows[i].phase);
        }
        step_set_release(&set);
    }
    restore_kept(m, text_of(results, "kept"));
    restore_cached_bits(m, text_of(results, "cached"));
}

void flow_restore(struct flow_model *m, struct flow_state *state, struct removed_entries *removed,
                  const json_t *status, int64_t generation)
{
    restore_state(state, status);
    if (!m->graph)
        return;
    restore_nodes(m, status);
    restore_results(m, status, generation);
    if (is_upstream_form(status) && !m->upstream)
        restore_upstream_results(m, status);
    if (!m->compact) {
        restore_job_statuses(m, removed, status);
        restore_conditions(m, status);
    }
}

void flow_restore_missing_jobs(struct flow_model *m)
{
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        struct step *step = &m->steps[i];

        if (step->state != STEP_WAITING || !step->attempt)
            continue;
        if (step->restored && step->history && step->history->next_retry_ms) {
            step->state = STEP_BACKOFF; /* nextRetryTime may still be to come */
            step->phase = step->failed_as;
        }
        step->recreate = !step->retry;
        if (step->history && step->history->kept_attempt)
            step_history_add_attempt(step->history, take(step->history->kept_attempt));
    }
}
