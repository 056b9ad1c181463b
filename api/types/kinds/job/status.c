/*
 * The status of a Job: its field table, its decoded form and its writer.
 *
 * A status is written on every job event. The writer therefore produces text directly and attaches
 * the struct to it, so that only a status written by a client is ever parsed.
 * Ref: spec/job.md 2.1 JobStatus.
 */
#include "api/types/arenacopy.h"
#include "api/types/decoded.h"
#include "api/types/kinds/job/job.h"
#include "base/timefmt.h"

#define STATUS(member) offsetof(struct job_status, member)

/* clang-format off */
static const char *const phase_values[] = {
    "Pending", "Aborting", "Aborted", "Running", "Restarting", "Completing", "Completed", "Terminating", "Terminated",
    "Failed", "", NULL};

struct task_state {
    int32_t by_phase[POD_PHASE_N];
};
#define COUNT(phase) offsetof(struct task_state, by_phase[phase])
static const struct field task_state_fields[] = {
    {"phase.Pending",   FIELD_I32, COUNT(POD_PENDING), .doc = "Number of pods in phase Pending."},
    {"phase.Running",   FIELD_I32, COUNT(POD_RUNNING), .doc = "Number of pods in phase Running."},
    {"phase.Succeeded", FIELD_I32, COUNT(POD_SUCCEEDED), .doc = "Number of pods in phase Succeeded."},
    {"phase.Failed",    FIELD_I32, COUNT(POD_FAILED), .doc = "Number of pods in phase Failed."},
    {"phase.Unknown",   FIELD_I32, COUNT(POD_UNKNOWN), .doc = "Number of pods in phase Unknown."},
    {0},
};
const struct schema task_state_schema = {"TaskState", task_state_fields, sizeof(struct task_state)};

static const struct field condition_fields[] = {
    {"status",             FIELD_STR,  FIELD_PASS, .required = true, .one_of = phase_values, .doc = "Phase that the job was in."},
    {"lastTransitionTime", FIELD_TIME, offsetof(struct job_condition, at_ms), .doc = "Time when the job entered the phase."},
    {0},
};
static const struct schema job_condition_schema = {"JobCondition", condition_fields, sizeof(struct job_condition)};

static const struct field status_fields[] = {
    {"state.phase",              FIELD_STR,      FIELD_PASS, .one_of = phase_values, .doc = "Phase of the job."},
    {"state.reason",             FIELD_STR,      STATUS(reason), .doc = "Event or rule that caused the phase."},
    {"state.message",            FIELD_STR,      STATUS(message), .doc = "Text that explains the phase."},
    {"state.lastTransitionTime", FIELD_TIME,     STATUS(transition_ms), .doc = "Time when the job entered the phase."},
    {"minAvailable",             FIELD_I32,      STATUS(min_available), .doc = "Value of spec.minAvailable that the controller last acted on."},
    {"taskStatusCount",          FIELD_MAP,      STATUS(task_counts), &task_state_schema, .doc = "Number of pods by task and phase."},
    {"pending",                  FIELD_I32,      STATUS(pending), .doc = "Number of pods in phase Pending."},
    {"running",                  FIELD_I32,      STATUS(running), .doc = "Number of pods in phase Running."},
    {"succeeded",                FIELD_I32,      STATUS(succeeded), .doc = "Number of pods in phase Succeeded."},
    {"failed",                   FIELD_I32,      STATUS(failed), .doc = "Number of pods in phase Failed."},
    {"terminating",              FIELD_I32,      STATUS(terminating), .doc = "Number of pods that are being deleted."},
    {"unknown",                  FIELD_I32,      STATUS(unknown), .doc = "Number of pods in phase Unknown."},
    {"version",                  FIELD_I32,      STATUS(version), .doc = "Generation of the job's pods. It grows each time the job's pods are killed."},
    {"retryCount",               FIELD_I32,      STATUS(retry_count), .doc = "Number of restarts so far."},
    {"runningDuration",          FIELD_DURATION, STATUS(running_duration_ns), .doc = "Time that the job has run."},
    {"controlledResources",      FIELD_STR_MAP,  STATUS(controlled), .doc = "Objects that were created for the job."},
    {"conditions",               FIELD_LIST,     STATUS(conditions), &job_condition_schema, .merge_key = "status",
     .doc = "Phases the job has been in, newest last."},
    {0},
};
/* clang-format on */

const struct schema job_status_schema = {"JobStatus", status_fields, sizeof(struct job_status)};

static enum job_phase phase_in(const json_t *doc, const char *member)
{
    enum job_phase phase = JOB_NONE;

    job_phase_parse(json_string_value(json_object_get(doc, member)), &phase);
    return phase;
}

static void finish_status(void *decoded, const json_t *doc, struct arena *arena)
{
    struct job_status *status = decoded;
    const json_t *conditions = json_object_get(doc, "conditions");

    status->phase = phase_in(json_object_get(doc, "state"), "phase");
    for (size_t i = 0; i < status->conditions.count; i++)
        status->conditions.items[i].phase = phase_in(json_array_get(conditions, i), "status");
}

static bool has_ended(const void *decoded)
{
    return job_phase_finished(((const struct job_status *)decoded)->phase);
}

static const struct decoded_type status_type = {
    .schema = &job_status_schema, .ended = has_ended, .finish = finish_status};

static const struct job_status no_status = {.running_duration_ns = -1};

const struct job_status *job_status_of(const struct object *job)
{
    return job->status ? decoded_of(job->status, &status_type) : &no_status;
}

static void write_task_counts(struct jsonw *w, const struct job_status *status)
{
    if (!status->task_counts.count)
        return;
    jsonw_member_open(w, "taskStatusCount");
    for (size_t i = 0; i < status->task_counts.count; i++) {
        const struct job_task_count *task = &status->task_counts.items[i];

        jsonw_member_open(w, task->key);
        jsonw_member_open(w, "phase");
        for (int phase = 0; phase < POD_PHASE_N; phase++)
            jsonw_member_int_opt(w, pod_phase_text((enum pod_phase)phase), task->by_phase[phase]);
        jsonw_close(w);
        jsonw_close(w);
    }
    jsonw_close(w);
}

static void write_conditions(struct jsonw *w, const struct job_status *status)
{
    if (!status->conditions.count)
        return;
    jsonw_member_open_list(w, "conditions");
    for (size_t i = 0; i < status->conditions.count; i++) {
        const struct job_condition *condition = &status->conditions.items[i];

        jsonw_open(w);
        jsonw_member_str(w, "status", job_phase_text(condition->phase));
        jsonw_member_time_opt(w, "lastTransitionTime", condition->at_ms);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_controlled(struct jsonw *w, const struct str_map *controlled)
{
    if (!controlled->count)
        return;
    jsonw_member_open(w, "controlledResources");
    for (size_t i = 0; i < controlled->count; i++)
        jsonw_member_str(w, controlled->items[i].key, controlled->items[i].value);
    jsonw_close(w);
}

static void write_status(struct jsonw *w, const void *value)
{
    const struct job_status *status = value;
    char duration[TIME_TEXT_MAX];

    jsonw_open(w);
    jsonw_member_open(w, "state");
    jsonw_member_str_opt(w, "phase", job_phase_text(status->phase));
    jsonw_member_str_opt(w, "reason", status->reason);
    jsonw_member_str_opt(w, "message", status->message);
    jsonw_member_time_opt(w, "lastTransitionTime", status->transition_ms);
    jsonw_close(w);
    jsonw_member_int_opt(w, "minAvailable", status->min_available);
    write_task_counts(w, status);
    jsonw_member_int_opt(w, "pending", status->pending);
    jsonw_member_int_opt(w, "running", status->running);
    jsonw_member_int_opt(w, "succeeded", status->succeeded);
    jsonw_member_int_opt(w, "failed", status->failed);
    jsonw_member_int_opt(w, "terminating", status->terminating);
    jsonw_member_int_opt(w, "unknown", status->unknown);
    jsonw_member_int_opt(w, "version", status->version);
    jsonw_member_int_opt(w, "retryCount", status->retry_count);
    if (status->running_duration_ns >= 0) {
        duration_format(status->running_duration_ns, duration);
        jsonw_member_str(w, "runningDuration", duration);
    }
    write_controlled(w, &status->controlled);
    write_conditions(w, status);
    jsonw_close(w);
}

static void *copy_status(struct arena *arena, const void *value)
{
    const struct job_status *from = value;
    struct job_status *to = arena_alloc(arena, sizeof *to);

    *to = *from;
    to->reason = arena_copy_str(arena, from->reason);
    to->message = arena_copy_str(arena, from->message);
    to->controlled = arena_copy_map(arena, &from->controlled);
    to->task_counts.items = arena_copy(arena, from->task_counts.items,
                                       from->task_counts.count * sizeof *from->task_counts.items);
    for (size_t i = 0; i < to->task_counts.count; i++)
        to->task_counts.items[i].key = arena_copy_str(arena, from->task_counts.items[i].key);
    to->conditions.items = arena_copy(arena, from->conditions.items,
                                      from->conditions.count * sizeof *from->conditions.items);
    return to;
}

struct blob *job_status_blob(const struct job_status *status)
{
    return decoded_write(&status_type, status, write_status, copy_status);
}
