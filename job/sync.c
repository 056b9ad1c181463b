/*
 * The sync of a job: creates and removes what its phase asks for, then applies the verdict. The
 * sync is level-triggered: it runs after every change, begins what is missing and leaves alone what
 * has a write in flight. Ref: spec/job.md 9, 10.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "base/mem.h"
#include "job/model/slot_annotations.h"
#include "job/objects/gang.h"
#include "job/pod_loss.h"
#include "job/reason.h"
#include "job/run.h"

/* Writes of pods begun in one pass; then other jobs have their turn (O-41). */
enum { BATCH = 256 };

/* Marks doomed pods, and deletes those that are marked, from the highest index down (O-44). Returns
 * the number of writes begun. */
static int remove_doomed(struct job_run *run)
{
    struct job_model *model = &run->model;
    int begun = 0, removed = 0;

    for (uint32_t t = 0; model->to_remove > 0 && t < model->compiled->spec->tasks.count; t++) {
        struct slot_id at;

        for (; begun < BATCH && job_model_next_removal(model, t, &at); begun++)
            if (job_model_slot(model, at)->facts.marked) {
                job_pod_remove(run, at);
                removed++;
            } else {
                job_pod_mark(run, at, MARK_UNTRACKED);
            }
    }
    if (removed > 1)
        job_run_event(run, EVENT_NORMAL, "SuccessfulDelete", "deleting %d pods", removed);
    return begun;
}

/* Create pods of vacant slots. Returns the number of writes begun. */
static int create_vacant(struct job_run *run)
{
    struct job_model *model = &run->model;
    int begun = 0;

    for (uint32_t t = 0; model->vacant > 0 && t < model->compiled->spec->tasks.count; t++) {
        struct slot_id at;

        for (; begun < BATCH && job_model_next_vacant(model, t, &at); begun++)
            job_pod_create(run, at);
    }
    if (begun > 1) /* a single pod has its own event */
        job_run_event(run, EVENT_NORMAL, "SuccessfulCreate", "creating %d pods", begun);
    return begun;
}

/* Completed and Failed are stored at once. While pods are still ending the reason is PodsReleasing
 * (O-38). */
static void decide_end(struct job_run *run, const struct job_verdict *verdict,
                       const struct job_counts *counts, const char *message)
{
    scoped_str both = NULL;

    if (counts->phase == JOB_RUNNING) /* a kill epoch of its own (O-30) */
        run->model.state.version++;
    if (counts->companions.alive > 0) { /* the final phase is stored when they have ended, too */
        job_change_phase(run, verdict->phase == JOB_FAILED ? JOB_TERMINATING : JOB_COMPLETING,
                         verdict->reason, message, NULL);
        return;
    }
    if (job_counts_alive(counts) == 0) {
        job_change_phase(run, verdict->phase, verdict->reason, message, NULL);
        return;
    }
    both = mem_printf("%s: %s", verdict->reason, message);
    job_change_phase(run, verdict->phase, "PodsReleasing", both, NULL);
}

/* A job that was ending keeps the reason that began the end. */
static const char *reason_of(const struct job_run *run, const struct job_verdict *verdict,
                             char out[JOB_REASON_MAX])
{
    bool ending = !job_phase_active(run->model.state.phase);

    snprintf(out, JOB_REASON_MAX, "%s", ending ? run->model.state.reason : verdict->reason);
    return out;
}

static bool apply_verdict(struct job_run *run)
{
    struct job_counts counts = job_model_counts(&run->model);
    struct job_verdict verdict = job_verdict_sync(&counts);
    scoped(buf) struct buf message = {0};
    char reason[JOB_REASON_MAX];

    if (verdict.phase == counts.phase) {
        run->times.changed_ms = 0; /* a later verdict has another cause */
        return false;
    }
    job_reason_of_verdict(&run->model, &counts, &verdict, &message);
    if (job_phase_active(counts.phase) &&
        (verdict.phase == JOB_COMPLETED || verdict.phase == JOB_FAILED))
        decide_end(run, &verdict, &counts, message.data);
    else
        job_change_phase(run, verdict.phase, reason_of(run, &verdict, reason), message.data, NULL);
    return true;
}

/* Reports the newest true condition of a PodGroup that is not scheduled, once per change (O-39). */
static void warn_group(struct job_run *run)
{
    const struct podgroup_status *status =
        run->model.group && run->ctl->gang->admits ? podgroup_status_of(run->model.group) : NULL;
    const struct podgroup_condition *newest = NULL;
    uint64_t seen;

    for (size_t i = 0; status && i < status->conditions.count; i++) {
        const struct podgroup_condition *condition = &status->conditions.items[i];

        if (condition->status && strcmp(condition->status, "True") == 0 &&
            (!newest || condition->at_ms >= newest->at_ms))
            newest = condition;
    }
    if (!newest || !newest->type || strcmp(newest->type, "Scheduled") == 0) {
        run->group_warned = 0;
        if (strcmp(run->model.state.reason, "PodGroupPending") == 0)
            job_status_waits_no_longer(run);
        return;
    }
    if (run->model.state.phase == JOB_PENDING)
        job_status_waits(run, "PodGroupPending", newest->message ? newest->message : "");
    seen = hash_bytes(newest->message ? newest->message : "",
                      newest->message ? strlen(newest->message) : 0) ^
           (uint64_t)newest->at_ms;
    if (seen == run->group_warned)
        return;
    run->group_warned = seen;
    job_run_event(run, EVENT_WARNING, "PodGroupPending", "PodGroup %s:%s %s, reason: %s",
                  object_namespace(run->model.job), object_name(run->model.job),
                  strcmp(newest->type, "Unschedulable") == 0 ? "unschedulable" : newest->type,
                  newest->message ? newest->message : "");
}

/* Store slot annotations, armed actions and a new reason in this turn, and counters a little
 * later. */
static void status_follows(struct job_run *run, bool new_reason)
{
    bool armed = run->delays == DELAYS_URGENT && job_delayed_annotations_write(run);

    if (job_slot_annotations_write(&run->model) || armed || new_reason) {
        job_store_status(run, NULL);
    } else {
        job_slot_annotations_stored(&run->model); /* the annotations equal what is stored */
        if (run->counts_changed || run->delays != DELAYS_STORED)
            job_status_mark_stale(run);
    }
    run->counts_changed = false;
}

/* Verdicts use the minimum in the status. It follows the spec once the PodGroup is admitted, also
 * while the PodGroup is being updated. */
static void follow_minimum(struct job_run *run)
{
    struct job_model *model = &run->model;

    if (!job_prepare_admitted(run) ||
        model->state.min_available == model->compiled->spec->min_available)
        return;
    model->state.min_available = model->compiled->spec->min_available;
    run->counts_changed = true;
}

static bool sync_active(struct job_run *run)
{
    struct job_model *model = &run->model;
    scoped_str refusal = job_gang_refusal(model);
    const char *below;
    int begun = 0;

    if (model->compiled->invalid) { /* the job can never run (9.2 step 0) */
        job_run_event(run, EVENT_WARNING, model->compiled->invalid_reason, "%s",
                      model->compiled->invalid);
        job_change_phase(run, JOB_FAILED, model->compiled->invalid_reason, model->compiled->invalid,
                         NULL);
        return false;
    }
    if (refusal) {
        job_request_terminate(run, "KueueNeedsAllPods", "%s", refusal);
        return false;
    }
    follow_minimum(run);
    if (!job_run_holding(run)) {
        begun = remove_doomed(run);
        bool prepared = job_prepare(run), admitted = prepared && job_prepare_admitted(run);

        if (prepared && !admitted && strcmp(model->state.reason, "PodGroupPending") != 0)
            job_status_waits_no_longer(run); /* what preparation waited for exists */
        if (admitted) {
            if (model->vacant == 0 && run->ops == 0 && !run->waiter.list && !job_trouble_show(run))
                job_status_waits_no_longer(run);
            begun = begun == BATCH ? begun : create_vacant(run);
        }
        if (!job_podgroup_writing(run->podgroup))
            warn_group(run);
    }
    below = job_task_below_minimum(run);
    if (below)
        job_request_terminate(run, "BelowMinMember",
                              "too many pods of task %s have failed: fewer than its minAvailable "
                              "can succeed",
                              below);
    else if (!apply_verdict(run))
        status_follows(run, false);
    return begun == BATCH;
}

/* Replaces PodsReleasing, when every pod has ended, by the reason that decided. Returns true when
 * it did. */
static bool released(struct job_run *run)
{
    struct job_state *state = &run->model.state;
    const char *colon = state->message ? strstr(state->message, ": ") : NULL;
    char reason[JOB_REASON_MAX];
    scoped_str message = NULL;

    if (strcmp(state->reason, "PodsReleasing") != 0 || !colon)
        return false;
    snprintf(reason, sizeof reason, "%.*s", (int)(colon - state->message), state->message);
    message = mem_strdup(colon + 2);
    return job_state_explain(state, reason, message);
}

static bool sync_ending(struct job_run *run)
{
    struct job_counts counts = job_model_counts(&run->model);
    bool drained = job_counts_alive(&counts) == 0;
    int begun = 0;

    if (!job_run_holding(run)) {
        begun = remove_doomed(run);
        job_prepare_undo(run, drained && job_phase_at_rest(counts.phase)
                                  ? UNDO_PODGROUP_AND_PLUGIN_OBJECTS
                                  : UNDO_PODGROUP);
    }
    if (!apply_verdict(run))
        status_follows(run, drained && released(run));
    return begun == BATCH;
}

bool job_sync(struct job_run *run)
{
    if (object_deleting(run->model.job)) /* the objects of a deleted job are garbage-collected */
        return false;
    run->held = job_run_holding(run);
    job_lifetime_arm(run);
    return job_phase_active(run->model.state.phase) ? sync_active(run) : sync_ending(run);
}
