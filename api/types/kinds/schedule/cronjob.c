/*
 * The kind CronJob: field tables, decoded forms, and the job that it makes. Its shape is that of
 * Volcano; its admission is in cronjob_check.c.
 */
#include "api/types/kinds/schedule/cronjob.h"

#include <inttypes.h>
#include <string.h>

#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/schedule/internal.h"
#include "base/collections/hash.h"
#include "base/mem.h"

/* The name of a job has at most 63 bytes, of which "-manual-" and five digits take 13. */
enum { PREFIX_BYTES = 50 };

#define SPEC(member)   offsetof(struct cronjob_spec, member)
#define STATUS(member) offsetof(struct cronjob_status, member)

/* clang-format off */
static const struct field job_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &metadata_schema, .doc = "Labels and annotations of the jobs. Other members are ignored."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &job_spec_schema, .required = true, .doc = "Specification of the jobs."},
    {0},
};
static const struct schema job_template_schema = {"CronJobTemplate", job_template_fields};

static const char *const policy_values[] = {
    [CONCURRENCY_ALLOW] = "Allow", [CONCURRENCY_FORBID] = "Forbid", [CONCURRENCY_REPLACE] = "Replace", NULL};

static const struct field spec_fields[] = {
    {"schedule",                   FIELD_STR,     SPEC(schedule), .required = true, .max_length = SCHEDULE_BYTES_MAX,
     .doc = "When jobs are made: a cron expression of five fields, @daily and its like, or @every DURATION."},
    {"timeZone",                   FIELD_STR,     SPEC(time_zone), .max_length = SCHEDULE_BYTES_MAX,
     .doc = "Time zone of the schedule, such as Europe/Berlin; that of the machine when absent."},
    {"startingDeadlineSeconds",    FIELD_OPT_I64, SPEC(deadline_s), BOUNDS(0, INT64_MAX / 1000),
     .doc = "How many seconds after its time a job may still be made. A time that is missed by more is left out."},
    {"concurrencyPolicy",          FIELD_ENUM,    SPEC(policy), .one_of = policy_values, .default_json = "\"Allow\"",
     .doc = "What happens at a time while a job is active: another one is made (Allow), the time waits (Forbid), or the active one is deleted (Replace)."},
    {"suspend",                    FIELD_BOOL,    SPEC(suspend), .default_json = "false",
     .doc = "Says that no job is made at a time until it is false again."},
    {"jobTemplate",                FIELD_OBJECT,  SPEC(job_template), &job_template_schema, .as_json = true, .required = true,
     .doc = "The job that is made at each time."},
    {"successfulJobsHistoryLimit", FIELD_I32,     SPEC(successful_limit), NOT_NEGATIVE, .default_json = "3",
     .doc = "How many completed jobs are kept."},
    {"failedJobsHistoryLimit",     FIELD_I32,     SPEC(failed_limit), NOT_NEGATIVE, .default_json = "1",
     .doc = "How many failed and terminated jobs are kept."},
    {0},
};
static const struct schema spec_schema = {"CronJobSpec", spec_fields, sizeof(struct cronjob_spec)};

static const struct field active_fields[] = {
    {"apiVersion",      FIELD_STR, FIELD_PASS, .doc = "Group and version of the job."},
    {"kind",            FIELD_STR, FIELD_PASS, .doc = "Job."},
    {"namespace",       FIELD_STR, FIELD_PASS, .doc = "Namespace of the job."},
    {"name",            FIELD_STR, offsetof(struct cronjob_active, name), .doc = "Name of the job."},
    {"uid",             FIELD_STR, offsetof(struct cronjob_active, uid), .doc = "UID of the job."},
    {"resourceVersion", FIELD_STR, FIELD_PASS, .doc = "Version of the job."},
    {"fieldPath",       FIELD_STR, FIELD_PASS, .doc = "Not used."},
    {0},
};
static const struct schema active_schema = {"CronJobActive", active_fields, sizeof(struct cronjob_active)};

static const struct field status_fields[] = {
    {"active",             FIELD_LIST, STATUS(active), &active_schema, .doc = "The jobs that have not ended."},
    {"lastScheduleTime",   FIELD_TIME, STATUS(last_schedule_ms), .doc = "The scheduled time of the newest job."},
    {"lastSuccessfulTime", FIELD_TIME, STATUS(last_successful_ms), .doc = "Time when a job completed last."},
    {0},
};
static const struct schema status_schema = {"CronJobStatus", status_fields, sizeof(struct cronjob_status)};

static const struct field cronjob_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &spec_schema, .required = true, .doc = "Schedule and job."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .doc = "Active jobs and times."},
    {0},
};
static const struct schema cronjob_schema = {"CronJob", cronjob_fields, .doc = "Makes a job at each time of a schedule."};

static const struct column columns[] = {
    {"SCHEDULE",      "string",  "spec.schedule",              0, "Cron expression."},
    {"SUSPEND",       "boolean", "spec.suspend",               0, "Says that no job is made at a time."},
    {"LAST SCHEDULE", "date",    "status.lastScheduleTime",    0, "Time since the newest scheduled time."},
    {"AGE",           "date",    "metadata.creationTimestamp", 0, "Time since the CronJob was created."},
    {"TIMEZONE",      "string",  "spec.timeZone",              1, "Time zone of the schedule."},
    {0},
};
/* clang-format on */

static const struct decoded_type spec_type = {
    .member = "spec", .schema = &spec_schema, .keep_document = true};
static const struct decoded_type status_type = {.schema = &status_schema};

const struct cronjob_spec *cronjob_spec_of(const struct object *cronjob)
{
    return decoded_of(cronjob->body, &spec_type);
}

const struct cronjob_status *cronjob_status_of(const struct object *cronjob)
{
    static const struct cronjob_status none;

    return cronjob->status ? decoded_of(cronjob->status, &status_type) : &none;
}

/* Reads a map of texts and has room for one more. The texts are borrowed; the list is owned. */
static struct kv *texts_of(const json_t *map, uint32_t *out_count)
{
    struct kv *list = mem_array(json_object_size(map) + 1, sizeof *list);
    const char *key;
    json_t *value;

    *out_count = 0;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (json_is_string(value))
            list[(*out_count)++] = (struct kv){key, json_string_value(value)};
    }
    return list;
}

static struct meta *job_meta(const struct object *cronjob, const char *name, const char *annotation,
                             const char *value)
{
    const json_t *metadata = json_object_get(cronjob_spec_of(cronjob)->job_template, "metadata");
    const struct owner_ref owner = {.api_version = kind_api_version(&kind_cron_job),
                                    .kind = kind_cron_job.name,
                                    .name = object_name(cronjob),
                                    .uid = object_uid(cronjob),
                                    .controller = true,
                                    .block_owner_deletion = true};
    struct meta draft = {.namespace = object_namespace(cronjob),
                         .name = name,
                         .uid = "",
                         .deletion_grace_s = -1,
                         .owners = &owner,
                         .n_owners = 1};
    struct kv *labels = texts_of(json_object_get(metadata, "labels"), &draft.n_labels);
    struct kv *annotations =
        texts_of(json_object_get(metadata, "annotations"), &draft.n_annotations);
    struct meta *meta;

    annotations[draft.n_annotations++] = (struct kv){annotation, value};
    draft.labels = labels;
    draft.annotations = annotations;
    meta = meta_new(&draft);
    mem_free(labels);
    mem_free(annotations);
    return meta;
}

char *cronjob_name_by_hand(const char *cronjob, const char *command_uid)
{
    uint64_t hash = hash_stable(command_uid, strlen(command_uid));

    return mem_printf("%.*s-manual-%05" PRIx64, PREFIX_BYTES, cronjob, hash & 0xfffff);
}

struct object *cronjob_job(const struct object *cronjob, const char *name, const char *annotation,
                           const char *value)
{
    scoped(json) json_t *members = json_object();

    json_object_set(members, "spec",
                    json_object_get(cronjob_spec_of(cronjob)->job_template, "spec"));
    return object_new(&kind_job, job_meta(cronjob, name, annotation, value),
                      object_body_from_json(members), NULL);
}

static const char *const short_names[] = {"cronvcjob", "cronvj", NULL};

const struct kind kind_cron_job = {
    .id = KIND_CRON_JOB,
    .group = "batch.volcano.sh",
    .version = "v1alpha1",
    .name = "CronJob",
    .plural = "cronjobs",
    .singular = "cronjob",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .few = true,
    .schema = &cronjob_schema,
    .validate = cronjob_validate,
    .validate_in_context = cronjob_validate_in_context,
    .columns = columns,
};
