/*
 * Builds histories and attempts, and renders them for the full status.
 *
 * Times are those that the job states, not those at which the controller saw it. Ref: Volcano
 * pkg/controllers/jobflow/jobflow_controller_action.go, getAllJobStatus and getRunningHistories.
 */
#include "flow/model/step_history.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/model/spec_hash.h"

struct step_history *step_history_new(void)
{
    return mem_alloc(sizeof(struct step_history));
}

static void drop_kept(struct step_history *history)
{
    mem_free(take(history->reason));
    mem_free(take(history->message));
    mem_free(take(history->kept_status));
    mem_free(take(history->kept_condition));
    mem_free(take(history->kept_attempt));
}

void step_history_free(struct step_history *history)
{
    if (!history)
        return;
    object_unref(history->job);
    object_unref(history->counted);
    mem_free(history->spans);
    for (size_t i = 0; i < history->n_attempts; i++)
        mem_free(history->attempts[i]);
    mem_free(history->attempts);
    drop_kept(history);
    job_results_free(history->results);
    mem_free(history);
}

void step_history_set_failure(struct step_history *history, const char *reason, const char *message)
{
    mem_free(history->reason);
    mem_free(history->message);
    history->reason = mem_strdup(reason);
    history->message = mem_strdup(message);
}

void step_history_set_results(struct step_history *history, struct job_results *results)
{
    job_results_free(history->results);
    history->results = results;
}

static struct step_span *last_span(const struct step_history *history)
{
    return history->spans && history->n_spans ? &history->spans[history->n_spans - 1] : NULL;
}

void step_history_add_span(struct step_history *history, const struct step_span *span)
{
    struct step_span *last = last_span(history);
    struct step_span next = *span;

    if (last) { /* at most the last span is open, and none starts before its predecessor */
        if (next.start_ms < last->start_ms)
            next.start_ms = last->start_ms;
        if (!last->end_ms)
            last->end_ms = next.start_ms;
    }
    if (next.end_ms && next.end_ms < next.start_ms)
        next.end_ms = next.start_ms;
    if (last && history->n_spans == STEP_HISTORY_MAX) {
        memmove(history->spans, history->spans + 1,
                (STEP_HISTORY_MAX - 1) * sizeof *history->spans);
        history->n_spans--;
    }
    mem_grow(history->spans, history->n_spans, history->cap_spans);
    history->spans[history->n_spans++] = next;
}

/* Compares whole seconds, because times that are restored from a status have no fraction. */
static bool same_second(int64_t a_ms, int64_t b_ms)
{
    return a_ms / 1000 == b_ms / 1000;
}

/*
 * Returns the first condition of the job that is not in the history yet: the one behind the last
 * span. If that span is not among the conditions (it is of another job, or its phase was entered
 * again), the first condition that is not earlier than the span.
 */
static size_t first_new(const struct step_span *last, const struct job_status *status)
{
    size_t count = status->conditions.count, at;

    for (at = count; at > 0; at--) {
        const struct job_condition *condition = &status->conditions.items[at - 1];

        if (condition->phase == last->phase && same_second(condition->at_ms, last->start_ms))
            return at;
    }
    while (at < count && status->conditions.items[at].at_ms < last->start_ms)
        at++;
    return at;
}

static void enter(struct step_history *history, enum job_phase phase, int64_t at_ms)
{
    const struct step_span *last = last_span(history);
    const struct step_span span = {phase, at_ms, 0};

    if (phase != JOB_NONE && !(last && last->phase == phase && !last->end_ms))
        step_history_add_span(history, &span);
}

/* Appends the job's new transitions. Its conditions are transitions, newest last, at most one per
 * phase. */
static void extend_history(struct step_history *history, const struct job_status *status,
                           int64_t now_ms)
{
    const struct step_span *last = last_span(history);
    size_t from = last ? first_new(last, status) : 0;

    for (size_t i = from; i < status->conditions.count; i++)
        enter(history, status->conditions.items[i].phase, status->conditions.items[i].at_ms);
    enter(history, status->phase, status->transition_ms ? status->transition_ms : now_ms);
}

void step_history_job_changed(struct step_history *history, const struct object *job,
                              int64_t now_ms)
{
    const struct job_status *status = job_status_of(job);
    const char *hash = meta_annotation(job->meta, ANNOTATION_FLOW_SPEC_HASH);
    struct object *kept = object_ref(job);

    object_unref(history->job);
    history->job = kept;
    drop_kept(history);
    if (hash)
        history->spec_hash = spec_hash_parse(hash);
    if (status->task_counts.count) {
        object_unref(history->counted);
        history->counted = object_ref(job);
    }
    extend_history(history, status, now_ms);
}

/* Returns the time at which the job ended, in milliseconds; 0 when it has not. It is the time of
 * the last change of phase. A status without that time was written by Volcano, whose
 * runningDuration counts from the creation of the job; ours leaves out the time that the job waited
 * (O-63 of spec/job.md). */
static int64_t end_of(const struct object *job, const struct job_status *status)
{
    if (!job_phase_finished(status->phase))
        return 0;
    if (!status->transition_ms && status->running_duration_ns > 0)
        return job->meta->created_at_ms + status->running_duration_ns / 1000000;
    return status->transition_ms;
}

static void write_attempt(const struct step_history *history, unsigned attempt, int64_t ended_ms,
                          struct jsonw *w)
{
    const struct object *job = history->job;
    const struct job_status *status = job_status_of(job);

    jsonw_open(w);
    jsonw_member_int(w, "attempt", attempt ? attempt : 1);
    jsonw_member_str(w, "uid", object_uid(job));
    jsonw_member_str_opt(w, "phase", job_phase_text(status->phase));
    jsonw_member_time_opt(w, "startTime", job->meta->created_at_ms);
    jsonw_member_time_opt(w, "endTime", ended_ms);
    jsonw_member_str_opt(w, "reason", status->reason);
    jsonw_member_str_opt(w, "message", status->message);
    jsonw_member_int_opt(w, "restarts", status->retry_count);
    job_results_write_pods(history->results, w);
    jsonw_close(w);
}

static char *attempt_text(const struct step_history *history, unsigned attempt, int64_t ended_ms)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    write_attempt(history, attempt, ended_ms, &w);
    return buf_take(&text);
}

void step_history_freeze(struct step_history *history, unsigned attempt)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w;

    if (!history->job)
        return;
    drop_kept(history);
    w = jsonw_to(&text);
    step_history_write_status(history, object_name(history->job), &w);
    history->kept_status = buf_take(&text);
    w = jsonw_to(&text);
    step_history_write_condition(history, &w);
    history->kept_condition = buf_take(&text);
    history->kept_attempt =
        attempt_text(history, attempt, end_of(history->job, job_status_of(history->job)));
    object_unref(take(history->job));
    object_unref(take(history->counted));
}

void step_history_add_attempt(struct step_history *history, char *json)
{
    if (history->n_attempts == STEP_ATTEMPTS_MAX) { /* keep the first attempt and the newest */
        mem_free(history->attempts[1]);
        memmove(history->attempts + 1, history->attempts + 2,
                (STEP_ATTEMPTS_MAX - 2) * sizeof *history->attempts);
        history->n_attempts--;
    }
    history->attempts =
        mem_resize(history->attempts, (history->n_attempts + 1) * sizeof *history->attempts);
    history->attempts[history->n_attempts++] = json;
}

/* Returns when the attempt ended. A job that is deleted unfinished ends at its deletion. */
static int64_t attempt_end(const struct step_history *history, int64_t now_ms)
{
    int64_t end_ms = end_of(history->job, job_status_of(history->job));

    return end_ms ? end_ms : now_ms;
}

void step_history_end_attempt(struct step_history *history, unsigned attempt, int64_t now_ms)
{
    struct step_span *last = last_span(history);

    if (last && !last->end_ms)
        last->end_ms = now_ms;
    if (history->job)
        step_history_add_attempt(history,
                                 attempt_text(history, attempt, attempt_end(history, now_ms)));
    else if (history->kept_attempt)
        step_history_add_attempt(history, take(history->kept_attempt));
    if (history->job)
        history->restarts += job_status_of(history->job)->retry_count;
    job_results_free(take(history->results));
    drop_kept(history);
    history->asked_ms = 0;
    object_unref(take(history->job));
    object_unref(take(history->counted));
}

static void write_kept(const char *text, struct jsonw *w)
{
    jsonw_raw(w, text, strlen(text));
}

static void write_history(const struct step_history *history, struct jsonw *w)
{
    if (!history->n_spans)
        return;
    jsonw_member_open_list(w, "runningHistories");
    for (size_t i = 0; i < history->n_spans; i++) {
        const struct step_span *span = &history->spans[i];

        jsonw_open(w);
        jsonw_member_time_opt(w, "startTimestamp", span->start_ms);
        jsonw_member_time_opt(w, "endTimestamp", span->end_ms);
        jsonw_member_str(w, "state", job_phase_text(span->phase));
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

void step_history_write_status(const struct step_history *history, const char *job_name,
                               struct jsonw *w)
{
    const struct job_status *status;

    if (!history->job && history->kept_status) {
        write_kept(history->kept_status, w);
        return;
    }
    jsonw_open(w);
    jsonw_member_str(w, "name", job_name);
    if (history->job) {
        status = job_status_of(history->job);
        jsonw_member_str_opt(w, "state", job_phase_text(status->phase));
        jsonw_member_time_opt(w, "startTimestamp", history->job->meta->created_at_ms);
        jsonw_member_time_opt(w, "endTimestamp", end_of(history->job, status));
        jsonw_member_int(w, "restartCount",
                         status->retry_count + history->restarts +
                             (int32_t)jobflow_attempt_of(history->job) - 1);
    }
    write_history(history, w);
    jsonw_close(w);
}

static void write_task_counts(const struct job_status *status, struct jsonw *w)
{
    jsonw_member_open(w, "taskStatusCount");
    for (size_t i = 0; i < status->task_counts.count; i++) {
        const struct job_task_count *count = &status->task_counts.items[i];

        jsonw_member_open(w, count->key);
        jsonw_member_open(w, "phase");
        for (int phase = 0; phase < POD_PHASE_N; phase++)
            jsonw_member_int_opt(w, pod_phase_text((enum pod_phase)phase), count->by_phase[phase]);
        jsonw_close(w);
        jsonw_close(w);
    }
    jsonw_close(w);
}

void step_history_write_condition(const struct step_history *history, struct jsonw *w)
{
    const struct job_status *status;

    if (!history->job) {
        write_kept(history->kept_condition ? history->kept_condition : "{}", w);
        return;
    }
    status = job_status_of(history->job);
    jsonw_open(w);
    jsonw_member_str_opt(w, "phase", job_phase_text(status->phase));
    jsonw_member_time_opt(w, "createTime", history->job->meta->created_at_ms);
    if (status->running_duration_ns >= 0 && history->job->status) {
        char text[TIME_TEXT_MAX];

        duration_format(status->running_duration_ns, text);
        jsonw_member_str(w, "runningDuration", text);
    }
    if (history->counted) /* the job controller clears the counts when the job has ended */
        write_task_counts(job_status_of(history->counted), w);
    jsonw_close(w);
}

void step_history_write_attempts(const struct step_history *history, unsigned attempt,
                                 struct jsonw *w)
{
    jsonw_open_list(w);
    for (size_t i = 0; i < history->n_attempts; i++)
        write_kept(history->attempts[i], w);
    if (history->job)
        write_attempt(history, attempt, end_of(history->job, job_status_of(history->job)), w);
    else if (history->kept_attempt)
        write_kept(history->kept_attempt, w);
    jsonw_close_list(w);
}

const char *step_history_reason(const struct step_history *history)
{
    return history->job ? job_status_of(history->job)->reason : history->reason;
}

const char *step_history_message(const struct step_history *history)
{
    return history->job ? job_status_of(history->job)->message : history->message;
}
