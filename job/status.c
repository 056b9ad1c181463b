/*
 * The status of a job: what is written, when, and what follows when the write is refused.
 *
 * A change of phase is written at once, and nothing else is decided until the write was accepted.
 * Counters are written within a short window, so that ten thousand starting pods do not cause ten
 * thousand writes. A status equal to the stored one is not written. O-03, O-29, O-31.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/model/slot_annotations.h"
#include "job/run.h"

/* Changes of counters within this window are one write. */
enum { COUNTER_WINDOW_MS = 20 };
/* After a conflict the job is worked on again when its newer version arrives, or after this
 * time. */
enum { STALE_PAUSE_MS = 10 };

/* A status composed of borrowed parts, with room for the counts of a few tasks. */
struct draft {
    struct job_status status;
    struct job_task_count few[8];
    struct job_task_count *counts;
};

/* Writes slot and delayed annotations into the state and composes the status of it. */
static void compose(struct job_run *run, struct draft *room)
{
    struct job_model *model = &run->model;
    struct job_state *state = &model->state;
    size_t n_tasks = model->compiled->spec->tasks.count, used = 0;

    job_slot_annotations_write(model);
    job_delayed_annotations_write(run);
    room->counts =
        n_tasks <= countof(room->few) ? room->few : mem_array(n_tasks, sizeof *room->counts);
    for (size_t t = 0; t < n_tasks; t++) {
        const int32_t *by_class = model->tasks[t].by_class;
        struct job_task_count *out = &room->counts[used];
        int32_t any = 0;

        for (int p = 0; p < POD_PHASE_N; p++)
            any |= out->by_phase[p] = by_class[SLOT_PENDING + p];
        out->key = model->compiled->spec->tasks.items[t].name;
        used += any != 0;
    }
    room->status = (struct job_status){
        .phase = state->phase,
        .reason = state->reason[0] ? state->reason : NULL,
        .message = state->message,
        .transition_ms = state->transition_ms,
        .min_available = state->min_available,
        .pending = model->totals[SLOT_PENDING],
        .running = model->totals[SLOT_RUNNING],
        .succeeded = model->totals[SLOT_SUCCEEDED],
        .failed = model->totals[SLOT_FAILED],
        .terminating = model->totals[SLOT_TERMINATING],
        .unknown = model->totals[SLOT_UNKNOWN],
        .version = state->version,
        .retry_count = state->retry_count,
        .running_duration_ns = state->running_ns,
        .task_counts = {room->counts, used},
        .conditions = {state->conditions, state->n_conditions},
        .controlled = {state->controlled, state->n_controlled},
    };
}

static void release(struct draft *room)
{
    if (room->counts != room->few)
        mem_free(room->counts);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_counts(const struct job_status *a, const struct job_status *b)
{
    if (a->task_counts.count != b->task_counts.count)
        return false;
    for (size_t i = 0; i < a->task_counts.count; i++)
        if (strcmp(a->task_counts.items[i].key, b->task_counts.items[i].key) != 0 ||
            memcmp(a->task_counts.items[i].by_phase, b->task_counts.items[i].by_phase,
                   sizeof a->task_counts.items[i].by_phase) != 0)
            return false;
    return true;
}

static bool same_resources(const struct str_map *a, const struct str_map *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].key, b->items[i].key) != 0 ||
            strcmp(a->items[i].value, b->items[i].value) != 0)
            return false;
    return true;
}

static bool same_status(const struct job_status *a, const struct job_status *b)
{
    return a->phase == b->phase && a->min_available == b->min_available &&
           a->pending == b->pending && a->running == b->running && a->succeeded == b->succeeded &&
           a->failed == b->failed && a->terminating == b->terminating && a->unknown == b->unknown &&
           a->version == b->version && a->retry_count == b->retry_count &&
           same_text(a->reason, b->reason) && same_text(a->message, b->message) &&
           same_counts(a, b) && same_resources(&a->controlled, &b->controlled);
}

void job_status_unmark_stale(struct job_run *run)
{
    if (run->stale.le_prev)
        LIST_REMOVE(run, stale);
    run->stale.le_prev = NULL;
}

void job_status_mark_stale(struct job_run *run)
{
    struct job_controller *ctl = run->ctl;

    if (run->stale.le_prev)
        return;
    LIST_INSERT_HEAD(&ctl->stale, run, stale);
    if (!timer_armed(&ctl->flush))
        timer_start(ctl->loop, &ctl->flush, COUNTER_WINDOW_MS);
}

/* The decision was not stored: return to the stored state and decide anew. */
static void restore(struct job_run *run, const struct error *err)
{
    const struct object *fresh =
        cluster_get(run->ctl->cluster, &kind_job, object_namespace(run->model.job),
                    object_name(run->model.job));
    struct job_request *request = run->deciding;
    bool newer = fresh && strcmp(object_uid(fresh), run->uid) == 0 &&
                 fresh->revision > run->model.job->revision;

    run->deciding = NULL;
    if (newer)
        job_run_job(run, fresh);
    job_state_load(&run->model.state, job_status_of(run->model.job));
    job_slot_annotations_configure(&run->model);
    job_slot_annotations_reload_restarts(&run->model);
    job_model_new_epoch(&run->model);
    run->prepared = false; /* records of plugins made since are not stored */
    if (request)
        job_request_repeat(run, request);
    run->sync_wanted = run->counts_changed = true;
    run->delays = DELAYS_URGENT;
    if (err->code == ERR_CONFLICT && newer) {
        work_add(&run->work);
        return;
    }
    run->paused = true;
    if (err->code == ERR_CONFLICT ||
        err->code == ERR_NOT_FOUND) { /* the cause will be visible in the cache */
        work_add_after(&run->work, STALE_PAUSE_MS);
        return;
    }
    job_run_event(run, EVENT_WARNING, "JobStatusError", "status not written: %s", err->message);
    work_add_backoff(&run->work);
}

static void stored(struct cluster_call *call, const struct object *job, const struct error *err)
{
    struct job_run *run = container_of(call, struct job_run, store_call);
    bool moved = run->write == WRITE_PHASE;

    job_write_set(&run->write, WRITE_NONE);
    if (run->gone) {
        job_run_free_if_done(run);
        return;
    }
    if (err) {
        restore(run, err);
        return;
    }
    if (moved)
        job_metrics_phase_changed(&run->ctl->metrics, job, run->model.state.phase);
    job_slot_annotations_stored(&run->model);
    if (job->revision > run->model.job->revision)
        job_model_set_job(&run->model, job);
    job_request_finish(run, take(run->deciding));
    job_run_sync(run);
}

static void store(struct job_run *run, enum job_write write, struct job_request *request)
{
    struct draft room;

    job_status_unmark_stale(run);
    job_write_set(&run->write, write);
    run->deciding = request;
    if (request && request->command) /* stored so that the Command is not executed twice (O-66) */
        job_state_control(&run->model.state, RESOURCE_COMMAND_UID, object_uid(request->command));
    compose(run, &room);
    run->counts_changed = false; /* the draft has them all */
    run->store_call.done = stored;
    cluster_update_status(run->ctl->cluster, &run->store_call, run->model.job,
                          job_status_blob(&room.status));
    release(&room);
}

void job_store_status(struct job_run *run, struct job_request *request)
{
    store(run, WRITE_STATUS, request);
}

/* Returns true when the change of phase dooms no further pod, so that the model need not be counted
 * anew: a restart of one pod then costs nothing for the others. */
static bool dooms_no_pod(const struct job_model *model, enum job_phase from)
{
    struct job_counts counts = job_model_counts(model);

    /* Whether companions are still needed depends on the phase. */
    return !model->lifecycle.has_companions && job_phase_active(from) &&
           job_phase_active(counts.phase) && model->counted_version == model->state.version &&
           !job_counts_retries_used_up(&counts);
}

/* Keeps why the phase was entered while reason and message show what the job waits for. */
static void keep_decision(struct job_run *run)
{
    const struct job_state *state = &run->model.state;

    snprintf(run->decided.reason, sizeof run->decided.reason, "%s", state->reason);
    mem_free(run->decided.message);
    run->decided.message = mem_strdup(state->message);
}

/* Returns the time at which a decision counts. Verdicts and actions without a delay follow from
 * pods, so they have the time of the pods' change. Commands and delayed actions have the present time.
 */
static int64_t time_of_change(const struct job_run *run, const struct job_request *request)
{
    int64_t now_ms = job_run_now_ms(run);

    if (request && (request->expired || !request->pod))
        return now_ms;
    return job_pod_times_of_change(&run->times, now_ms);
}

void job_change_phase(struct job_run *run, enum job_phase to, const char *reason,
                      const char *message, struct job_request *request)
{
    struct job_state *state = &run->model.state;
    enum job_phase from = state->phase;

    if (log_enabled(LOG_INFO)) {
        scoped_str key =
            mem_printf("%s/%s", object_namespace(run->model.job), object_name(run->model.job));

        log_info("job phase changed", kv_str("job", key), kv_str("from", job_phase_text(from)),
                 kv_str("to", job_phase_text(to)), kv_str("reason", reason),
                 kv_int("retry", state->retry_count));
    }
    job_phase_set(
        state, to,
        &(struct job_transition){reason, message, time_of_change(run, request),
                                 job_pod_times_of_start(&run->times, state->transition_ms)});
    keep_decision(run);
    if (to == JOB_RUNNING)
        job_lifetime_begin(run);
    if (!dooms_no_pod(&run->model, from)) {
        job_model_new_epoch(&run->model);
        run->prepared = false;
    }
    if (!job_phase_active(to))
        job_delayed_cancel_all(run);
    else if (to != JOB_RESTARTING)
        job_request_resume_postponed(run);
    store(run, WRITE_PHASE, request);
}

void job_status_flush(struct timer *timer)
{
    struct job_controller *ctl = container_of(timer, struct job_controller, flush);

    while (!LIST_EMPTY(&ctl->stale)) {
        struct job_run *run = LIST_FIRST(&ctl->stale);
        struct draft room;
        bool same;

        job_status_unmark_stale(run);
        if (run->write != WRITE_NONE) { /* the sync after the answer compares again */
            run->counts_changed = true;
            continue;
        }
        compose(run, &room);
        same = same_status(&room.status, job_status_of(run->model.job));
        release(&room);
        if (!same)
            job_store_status(run, NULL);
    }
}

/* Reasons that show what a job waits for. They are replaced when it waits no longer. */
static const char *const waiting_reasons[] = {
    "QueueNotFound", "QueueNotOpen",   "PVCNotFound",  "PodNameConflict", "QuotaExceeded",
    "PluginError",   "PodGroupError",  "FailedCreate", "PVCError",        "PodGroupPending",
    "Forbidden",     "PodNotStarting", "Unschedulable"};

static bool is_waiting_reason(const char *reason)
{
    for (size_t i = 0; i < countof(waiting_reasons); i++)
        if (strcmp(waiting_reasons[i], reason) == 0)
            return true;
    return false;
}

void job_status_waits(struct job_run *run, const char *reason, const char *message)
{
    /* When the job ends, the reason stays the one of its end. */
    if (!job_phase_active(run->model.state.phase))
        return;
    if (!is_waiting_reason(run->model.state.reason))
        keep_decision(run);
    if (job_state_explain(&run->model.state, reason, message))
        job_status_mark_stale(run);
}

void job_status_waits_no_longer(struct job_run *run)
{
    if (is_waiting_reason(run->model.state.reason) &&
        job_state_explain(&run->model.state, run->decided.reason, run->decided.message))
        job_status_mark_stale(run);
}

void job_run_event(struct job_run *run, enum event_type type, const char *reason,
                   const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cluster_event(run->ctl->cluster, run->model.job, type, reason, JOB_COMPONENT, "%s", text);
}
