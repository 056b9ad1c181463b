/*
 * Admits CronJobs: checks the schedule, and checks the job as a Job is checked, so that no time
 * comes at which the job cannot be created.
 */
#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"
#include "api/types/kinds/schedule/cronjob.h"
#include "api/types/kinds/schedule/internal.h"
#include "api/types/kinds/schedule/timing.h"
#include "base/mem.h"

/* The longest name of a CronJob, because its jobs have this name with a dash and ten digits. */
enum { NAME_BYTES = 52 };

static void move(struct error_list *to, const struct error *found)
{
    error_list_add(to, found->code, found->field, "%s", found->message);
}

/* Returns the job with the defaults of a Job, as a document {"spec": …} (owned). */
static json_t *job_body(const struct admission *adm, const struct object *cronjob)
{
    scoped(object) struct object *job = cronjob_job(cronjob, "job", ANNOTATION_CRONJOB_TIME, "");
    json_t *body = object_body_json(job);

    job_mutate(adm, body, job);
    return body;
}

static void check_job(const struct admission *adm, const struct object *cronjob,
                      struct error_list *errors)
{
    static const char path[] = "spec.jobTemplate.spec";
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(json) json_t *body = job_body(adm, cronjob);
    const json_t *spec = json_object_get(body, "spec");
    struct job_spec decoded;
    struct error err = {0};

    if (!schema_decode(&job_spec_schema, spec, arena, &decoded, &err)) {
        FINDING(errors, ("%s.%s", path, err.field), "%s", err.message);
        return;
    }
    job_check_spec(adm, &decoded, spec, path, errors);
    job_check_volume_sources(&decoded, path, errors);
    job_check_volume_conflicts(&decoded, path, errors);
}

void cronjob_validate(const struct admission *adm, const struct object *old,
                      const struct object *cronjob, struct error_list *errors)
{
    const struct cronjob_spec *spec = cronjob_spec_of(cronjob);

    timing_check(adm, spec->schedule, spec->time_zone, "spec.schedule", "spec.timeZone", errors);
    check_job(adm, cronjob, errors);
}

static void check_names(const struct admission *adm, const struct object *cronjob,
                        struct error_list *errors)
{
    const struct job_spec *spec;
    struct error_list findings = {0};
    scoped(object) struct object *job = NULL;
    scoped(buf) struct buf name = {0};

    name_or_placeholder(cronjob->meta, &name);
    if (name.len > NAME_BYTES) {
        FINDING(errors, ("metadata.name"),
                "Invalid value: \"%s\": cronJob name must be no more than 52 characters to "
                "accommodate job name suffix (max 63 total)",
                name.data);
        return;
    }
    buf_str(&name, "-29880030");
    job = cronjob_job(cronjob, name.data, ANNOTATION_CRONJOB_TIME, "");
    spec = job_spec_of(job);
    job_check_names(spec, name.data, &findings);
    for (size_t i = 0; i < findings.count; i++)
        move(errors, &findings.items[i]);
    error_list_release(&findings);
    if (!adm->warnings)
        return;
    job_check_queue(adm, spec->queue && *spec->queue ? spec->queue : "default", &findings);
    for (size_t i = 0; i < findings.count; i++)
        FINDING(adm->warnings, ("spec.jobTemplate.%s", findings.items[i].field), "%s",
                findings.items[i].message);
    error_list_release(&findings);
}

void cronjob_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *cronjob, struct error_list *errors)
{
    check_names(adm, cronjob, errors);
}
