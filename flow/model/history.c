/*
 * Histories, attempts and frozen entries of the full status. Ref: Volcano
 * pkg/controllers/jobflow/jobflow_controller_action.go, getAllJobStatus and getRunningHistories;
 * times are the job's own here, not those of our looking.
 */
#include "flow/model/history.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/model/spec_hash.h"

unsigned step_attempt_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT);
    unsigned long attempt = text ? strtoul(text, NULL, 10) : 1;

    return attempt >= 1 && attempt <= UINT16_MAX ? (unsigned)attempt : 1;
}

struct step_detail *step_detail_new(void)
{
    return mem_alloc(sizeof(struct step_detail));
}

static void drop_kept(struct step_detail *detail)
{
    mem_free(take(detail->reason));
    mem_free(take(detail->message));
    mem_free(take(detail->kept_status));
    mem_free(take(detail->kept_condition));
    mem_free(take(detail->kept_attempt));
}

void step_detail_free(struct step_detail *detail)
{
    if (!detail)
        return;
    object_unref(detail->job);
    object_unref(detail->counted);
    mem_free(detail->spans);
    for (size_t i = 0; i < detail->n_earlier; i++)
        mem_free(detail->earlier[i]);
    mem_free(detail->earlier);
    drop_kept(detail);
    job_results_free(detail->results);
    mem_free(detail);
}

void step_detail_explain(struct step_detail *detail, const char *reason, const char *message)
{
    mem_free(detail->reason);
    mem_free(detail->message);
    detail->reason = mem_strdup(reason);
    detail->message = mem_strdup(message);
}

void step_detail_set_results(struct step_detail *detail, struct job_results *results)
{
    job_results_free(detail->results);
    detail->results = results;
}

static struct step_span *last_span(const struct step_detail *detail)
{
    return detail->spans && detail->n_spans ? &detail->spans[detail->n_spans - 1] : NULL;
}

void step_detail_add_span(struct step_detail *detail, const struct step_span *span)
{
    struct step_span *last = last_span(detail);
    struct step_span next = *span;

    if (last) { /* one open span at most, none before the one it follows */
        if (next.start_ms < last->start_ms)
            next.start_ms = last->start_ms;
        if (!last->end_ms)
            last->end_ms = next.start_ms;
    }
    if (next.end_ms && next.end_ms < next.start_ms)
        next.end_ms = next.start_ms;
    if (last && detail->n_spans == STEP_HISTORY_MAX) {
        memmove(detail->spans, detail->spans + 1, (STEP_HISTORY_MAX - 1) * sizeof *detail->spans);
        detail->n_spans--;
    }
    mem_grow(detail->spans, detail->n_spans, detail->cap_spans);
    detail->spans[detail->n_spans++] = next;
}

/* Stored times are whole seconds: those restored from a status equal those of the job only so. */
static bool same_second(int64_t a_ms, int64_t b_ms)
{
    return a_ms / 1000 == b_ms / 1000;
}

/*
 * Where the conditions go on behind the history: behind its last span, or, when that is not among
 * them (another job's, or its phase was entered again), with the first one that is not earlier.
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

static void enter(struct step_detail *detail, enum job_phase phase, int64_t at_ms)
{
    const struct step_span *last = last_span(detail);
    const struct step_span span = {phase, at_ms, 0};

    if (phase != JOB_NONE && !(last && last->phase == phase && !last->end_ms))
        step_detail_add_span(detail, &span);
}

/* The job's conditions are its transitions, newest last, at most one per phase. */
static void extend_history(struct step_detail *detail, const struct job_status *status,
                           int64_t now_ms)
{
    const struct step_span *last = last_span(detail);
    size_t from = last ? first_new(last, status) : 0;

    for (size_t i = from; i < status->conditions.count; i++)
        enter(detail, status->conditions.items[i].phase, status->conditions.items[i].at_ms);
    enter(detail, status->phase, status->transition_ms ? status->transition_ms : now_ms);
}

void step_detail_see(struct step_detail *detail, const struct object *job, int64_t now_ms)
{
    const struct job_status *status = job_status_of(job);
    const char *hash = meta_annotation(job->meta, ANNOTATION_FLOW_SPEC_HASH);
    struct object *kept = object_ref(job);

    object_unref(detail->job);
    detail->job = kept;
    drop_kept(detail);
    if (hash)
        detail->spec_hash = spec_hash_parse(hash);
    if (status->task_counts.count) {
        object_unref(detail->counted);
        detail->counted = object_ref(job);
    }
    extend_history(detail, status, now_ms);
}

/* End of a finished job: when it came to its phase. Upstream adds runningDuration to the creation,
 * which is the same there; ours leaves out what the job spent waiting (O-63 of spec/job.md). */
static int64_t end_of(const struct object *job, const struct job_status *status)
{
    if (!job_phase_finished(status->phase))
        return 0;
    if (!status->transition_ms && status->running_duration_ns > 0)
        return job->meta->created_at_ms + status->running_duration_ns / 1000000;
    return status->transition_ms;
}

static void write_attempt(const struct step_detail *detail, unsigned attempt, int64_t ended_ms,
                          struct jsonw *w)
{
    const struct object *job = detail->job;
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
    job_results_write_pods(detail->results, w);
    jsonw_close(w);
}

static char *attempt_text(const struct step_detail *detail, unsigned attempt, int64_t ended_ms)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    write_attempt(detail, attempt, ended_ms, &w);
    return buf_take(&text);
}

void step_detail_freeze(struct step_detail *detail, unsigned attempt)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w;

    if (!detail->job)
        return;
    drop_kept(detail);
    w = jsonw_to(&text);
    step_detail_write_status(detail, object_name(detail->job), &w);
    detail->kept_status = buf_take(&text);
    w = jsonw_to(&text);
    step_detail_write_condition(detail, &w);
    detail->kept_condition = buf_take(&text);
    detail->kept_attempt =
        attempt_text(detail, attempt, end_of(detail->job, job_status_of(detail->job)));
    object_unref(take(detail->job));
    object_unref(take(detail->counted));
}

void step_detail_add_earlier(struct step_detail *detail, char *json)
{
    if (detail->n_earlier == STEP_ATTEMPTS_MAX) { /* keep the first and the newest */
        mem_free(detail->earlier[1]);
        memmove(detail->earlier + 1, detail->earlier + 2,
                (STEP_ATTEMPTS_MAX - 2) * sizeof *detail->earlier);
        detail->n_earlier--;
    }
    detail->earlier =
        mem_resize(detail->earlier, (detail->n_earlier + 1) * sizeof *detail->earlier);
    detail->earlier[detail->n_earlier++] = json;
}

/* A job that is deleted unfinished ends then. */
static int64_t attempt_end(const struct step_detail *detail, int64_t now_ms)
{
    int64_t end_ms = end_of(detail->job, job_status_of(detail->job));

    return end_ms ? end_ms : now_ms;
}

void step_detail_end_attempt(struct step_detail *detail, unsigned attempt, int64_t now_ms)
{
    struct step_span *last = last_span(detail);

    if (last && !last->end_ms)
        last->end_ms = now_ms;
    if (detail->job)
        step_detail_add_earlier(detail, attempt_text(detail, attempt, attempt_end(detail, now_ms)));
    else if (detail->kept_attempt)
        step_detail_add_earlier(detail, take(detail->kept_attempt));
    if (detail->job)
        detail->restarts += job_status_of(detail->job)->retry_count;
    job_results_free(take(detail->results));
    drop_kept(detail);
    object_unref(take(detail->job));
    object_unref(take(detail->counted));
}

static void write_kept(const char *text, struct jsonw *w)
{
    jsonw_raw(w, text, strlen(text));
}

static void write_history(const struct step_detail *detail, struct jsonw *w)
{
    if (!detail->n_spans)
        return;
    jsonw_member_open_list(w, "runningHistories");
    for (size_t i = 0; i < detail->n_spans; i++) {
        const struct step_span *span = &detail->spans[i];

        jsonw_open(w);
        jsonw_member_time_opt(w, "startTimestamp", span->start_ms);
        jsonw_member_time_opt(w, "endTimestamp", span->end_ms);
        jsonw_member_str(w, "state", job_phase_text(span->phase));
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

void step_detail_write_status(const struct step_detail *detail, const char *job_name,
                              struct jsonw *w)
{
    const struct job_status *status;

    if (!detail->job && detail->kept_status) {
        write_kept(detail->kept_status, w);
        return;
    }
    jsonw_open(w);
    jsonw_member_str(w, "name", job_name);
    if (detail->job) {
        status = job_status_of(detail->job);
        jsonw_member_str_opt(w, "state", job_phase_text(status->phase));
        jsonw_member_time_opt(w, "startTimestamp", detail->job->meta->created_at_ms);
        jsonw_member_time_opt(w, "endTimestamp", end_of(detail->job, status));
        jsonw_member_int(w, "restartCount",
                         status->retry_count + detail->restarts +
                             (int32_t)step_attempt_of(detail->job) - 1);
    }
    write_history(detail, w);
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

void step_detail_write_condition(const struct step_detail *detail, struct jsonw *w)
{
    const struct job_status *status;

    if (!detail->job) {
        write_kept(detail->kept_condition ? detail->kept_condition : "{}", w);
        return;
    }
    status = job_status_of(detail->job);
    jsonw_open(w);
    jsonw_member_str_opt(w, "phase", job_phase_text(status->phase));
    jsonw_member_time_opt(w, "createTime", detail->job->meta->created_at_ms);
    if (status->running_duration_ns >= 0 && detail->job->status) {
        char text[TIME_TEXT_MAX];

        duration_format(status->running_duration_ns, text);
        jsonw_member_str(w, "runningDuration", text);
    }
    if (detail->counted) /* the job controller clears them when the job is done */
        write_task_counts(job_status_of(detail->counted), w);
    jsonw_close(w);
}

void step_detail_write_attempts(const struct step_detail *detail, unsigned attempt, struct jsonw *w)
{
    jsonw_open_list(w);
    for (size_t i = 0; i < detail->n_earlier; i++)
        write_kept(detail->earlier[i], w);
    if (detail->job)
        write_attempt(detail, attempt, end_of(detail->job, job_status_of(detail->job)), w);
    else if (detail->kept_attempt)
        write_kept(detail->kept_attempt, w);
    jsonw_close_list(w);
}

const char *step_detail_reason(const struct step_detail *detail)
{
    return detail->job ? job_status_of(detail->job)->reason : detail->reason;
}

const char *step_detail_message(const struct step_detail *detail)
{
    return detail->job ? job_status_of(detail->job)->message : detail->message;
}
