/*
 * The field table of Submissions.
 */
#include "api/types/kinds/submission.h"

#include <stdio.h>
#include <string.h>

#include "api/types/arenacopy.h"
#include "api/types/decoded.h"
#include "base/digest/sha256.h"

#define SPEC(member) offsetof(struct submission, member)
#define END(member)  offsetof(struct submission_end, member)

/* clang-format off */
static const struct field spec_fields[] = {
    {"queue",           FIELD_STR, SPEC(queue), .pb = 1, .doc = "Queue that the job was submitted to."},
    {"deduplicationId", FIELD_STR, SPEC(deduplication_id), .pb = 2, .doc = "Id that the client gave to the job."},
    {"jobId",           FIELD_STR, SPEC(job_id), .pb = 3, .doc = "Id of the job. Its vcjob is called aj-<jobId>."},
    {"namespace",       FIELD_STR, SPEC(ns), .pb = 4, .doc = "Namespace of the job."},
    {0},
};
static const struct schema spec_schema = {"SubmissionSpec", spec_fields, sizeof(struct submission)};

static const struct field status_fields[] = {
    {"state",   FIELD_STR,  END(state), .pb = 1, .doc = "State in which the job ended."},
    {"endTime", FIELD_TIME, END(end_ms), .pb = 2, .doc = "Time when the job ended or was deleted."},
    {0},
};
static const struct schema status_schema = {"SubmissionStatus", status_fields, sizeof(struct submission_end)};

static const struct field submission_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &spec_schema, .pb = 2, .doc = "What was submitted."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .pb = 3, .doc = "How the job ended."},
    {0},
};
static const struct schema submission_schema = {"Submission", submission_fields, .doc = "The memory of a job that was submitted with a deduplication id. It is made and deleted by the server."};

static const struct column columns[] = {
    {"QUEUE", "string", "spec.queue",                 0, "Queue that the job was submitted to."},
    {"ID",    "string", "spec.deduplicationId",       0, "Deduplication id."},
    {"JOB",   "string", "spec.jobId",                 0, "Id of the job."},
    {"STATE", "string", "status.state",               0, "State in which the job ended."},
    {"AGE",   "date",   "metadata.creationTimestamp", 0, "Time since the submission."},
    {0},
};
/* clang-format on */

static const struct decoded_type spec_type = {.schema = &spec_schema, .member = "spec"};
static const struct decoded_type status_type = {.schema = &status_schema};

const struct submission *submission_of(const struct object *object)
{
    return decoded_of(object->body, &spec_type);
}

const struct submission_end *submission_end_of(const struct object *object)
{
    static const struct submission_end nothing;

    return object->status ? decoded_of(object->status, &status_type) : &nothing;
}

static void write_end(struct jsonw *w, const void *value)
{
    const struct submission_end *end = value;

    jsonw_open(w);
    jsonw_member_str_opt(w, "state", end->state);
    jsonw_member_time_opt(w, "endTime", end->end_ms);
    jsonw_close(w);
}

static void *copy_end(struct arena *arena, const void *value)
{
    const struct submission_end *from = value;
    struct submission_end *to = arena_alloc(arena, sizeof *to);

    *to = *from;
    to->state = arena_copy_str(arena, from->state);
    return to;
}

struct blob *submission_end_blob(const struct submission_end *end)
{
    return decoded_write(&status_type, end, write_end, copy_end);
}

void submission_name(const char *queue, const char *id, char out[SUBMISSION_NAME_MAX])
{
    struct sha256_state *state = sha256_begin();
    char text[SHA256_TEXT_MAX];
    struct sha256 digest;

    sha256_feed_sized(state, queue, strlen(queue));
    sha256_feed_sized(state, id, strlen(id));
    sha256_end(state, &digest);
    sha256_format(&digest, text);
    snprintf(out, SUBMISSION_NAME_MAX, "s-%.32s", text);
}

const struct kind kind_submission = {
    .id = KIND_SUBMISSION,
    .group = "jobflow.dev",
    .version = "v1",
    .name = "Submission",
    .plural = "submissions",
    .singular = "submission",
    .has_status = true,
    .schema = &submission_schema,
    .columns = columns,
};
