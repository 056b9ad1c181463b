/*
 * The kind Job: texts of its enums, its decoded spec, its columns and its constant.
 */
#include "api/types/kinds/job/job.h"

#include <string.h>

#include "api/types/decoded.h"
#include "api/types/kinds/job/admission.h"
#include "api/types/schema/enum_text.h"

static const char *const phase_texts[] = {JOB_PHASES(ENUM_TEXT)};
static const char *const event_texts[] = {JOB_EVENTS(ENUM_TEXT)};
static const char *const action_texts[] = {JOB_ACTIONS(ENUM_TEXT)};

const char *job_phase_text(enum job_phase phase)
{
    return phase_texts[phase];
}

const char *job_event_text(enum job_event event)
{
    return event_texts[event];
}

const char *job_action_text(enum job_action action)
{
    return action_texts[action];
}

bool job_phase_parse(const char *text, enum job_phase *out)
{
    int found;

    if (!enum_find(phase_texts, JOB_PHASE_N, text, &found))
        return false;
    *out = (enum job_phase)found;
    return true;
}

bool job_event_parse(const char *text, enum job_event *out)
{
    int found;

    if (text && strcmp(text, "JobUnknown") == 0) /* the design document's name of Unknown */
        text = event_texts[EVENT_UNKNOWN];
    if (!enum_find(event_texts, JOB_EVENT_N, text, &found))
        return false;
    *out = (enum job_event)found;
    return true;
}

bool job_action_targeted(enum job_action action)
{
    return action == ACT_RESTART_TASK || action == ACT_RESTART_POD ||
           action == ACT_RESTART_PARTITION;
}

bool job_action_parse(const char *text, enum job_action *out)
{
    int found;

    if (!enum_find(action_texts, JOB_ACTION_N, text, &found))
        return false;
    *out = (enum job_action)found;
    return true;
}

bool job_phase_finished(enum job_phase phase)
{
    return phase == JOB_COMPLETED || phase == JOB_FAILED || phase == JOB_TERMINATED;
}

static const struct decoded_type spec_type = {
    .member = "spec",
    .schema = &job_spec_schema,
    .keep_document = true,
};

const struct job_spec *job_spec_of(const struct object *job_or_template)
{
    return decoded_of(job_or_template->body, &spec_type);
}

const json_t *job_spec_document(const struct object *job_or_template)
{
    return decoded_document(job_or_template->body, &spec_type);
}

/* clang-format off */
static const struct field job_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &job_spec_schema, .doc = "Tasks of the job and policies for failures."},
    {"status", FIELD_OBJECT, FIELD_PASS, &job_status_schema, .doc = "Phase and counters of the job."},
    {0},
};
static const struct schema job_schema = {"Job", job_fields, .doc = "A batch job: tasks whose pods start together, with policies for events."};

static const struct column columns[] = {
    {"STATUS",       "string",  "status.state.phase",          0, "Phase of the job."},
    {"minAvailable", "integer", "status.minAvailable",         0, "Number of pods that must run together."},
    {"RUNNINGS",     "integer", "status.running",              0, "Number of running pods."},
    {"AGE",          "date",    "metadata.creationTimestamp",  0, "Time since the job was created."},
    {"QUEUE",        "string",  "spec.queue",                  1, "Queue of the job."},
    {0},
};
/* clang-format on */

static const char *const short_names[] = {"vcjob", "vj", NULL};

const struct kind kind_job = {
    .id = KIND_JOB,
    .group = "batch.volcano.sh",
    .version = "v1alpha1",
    .name = "Job",
    .plural = "jobs",
    .singular = "job",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .schema = &job_schema,
    .normalize = job_normalize,
    .mutate = job_mutate,
    .validate = job_validate,
    .validate_in_context = job_validate_in_context,
    .columns = columns,
};
