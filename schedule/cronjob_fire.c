/*
 * Makes the job of one due time.
 *
 * The job and the status that names its time are written in one turn, so they are one commit. A
 * remote cluster may take one write and lose the other. The name of the job holds the time, so the
 * second attempt then finds the job of the first one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "schedule/cronjob_internal.h"

/* The creation of the job of one due time. */
struct firing {
    struct cluster_call call;
    struct cronjob_record *record;
    int64_t at_s;
    char *job;
};

static void done_with(struct cronjob_record *record, int64_t at_s)
{
    const struct object *cronjob = schedule_record_object(&record->base);

    if (at_s > record->done_s)
        record->done_s = at_s;
    record->retry_ms = 0;
    record->not_before_ms = 0;
    if (cronjob)
        cronjob_write_status(record, cronjob);
}

static const struct object *job_of(const struct firing *firing)
{
    return cluster_get(firing->record->base.all->cluster, &kind_job, firing->record->base.namespace,
                       firing->job);
}

static void creation_failed(struct firing *firing, const struct object *cronjob,
                            const struct error *err)
{
    struct cluster *cluster = firing->record->base.all->cluster;
    const struct object *ns =
        cluster_get(cluster, &kind_namespace, "", firing->record->base.namespace);

    cluster_event(cluster, cronjob, EVENT_WARNING,
                  ns && object_deleting(ns) ? "NamespaceTerminating" : "FailedCreate",
                  CRON_COMPONENT, "Error creating job %s: %s%s%s", firing->job, err->field,
                  *err->field ? ": " : "", err->message);
    cronjob_try_later(firing->record);
}

static void name_is_taken(struct firing *firing, const struct object *cronjob)
{
    const struct object *job = job_of(firing);

    if (job && !owned_by(cronjob, job))
        cluster_event(
            firing->record->base.all->cluster, cronjob, EVENT_WARNING, "ForeignJob", CRON_COMPONENT,
            "job %s exists and is not of this CronJob: none is made for this time", firing->job);
    done_with(firing->record, firing->at_s);
}

static void answered(struct firing *firing, const struct error *err)
{
    struct cronjob_record *record = firing->record;
    const struct object *cronjob = schedule_record_object(&record->base);

    record->creating = false;
    if (!cronjob)
        return;
    if (!err) {
        cluster_event(record->base.all->cluster, cronjob, EVENT_NORMAL, "SuccessfulCreate",
                      CRON_COMPONENT, "Created job %s for CronJob %s/%s", firing->job,
                      record->base.namespace, record->base.name);
        done_with(record, firing->at_s);
    } else if (err->code == ERR_EXISTS) {
        name_is_taken(firing, cronjob);
    } else {
        creation_failed(firing, cronjob, err);
    }
    schedule_record_sync_soon(&record->base);
}

static void on_created(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct firing *firing = container_of(call, struct firing, call);

    if (schedule_record_call_ended(&firing->record->base))
        answered(firing, err);
    mem_free(firing->job);
    mem_free(firing);
}

static void make_job(struct cronjob_record *record, const struct object *cronjob,
                     const struct cron *cron, const struct zone *zone, int64_t at_s)
{
    struct firing *firing = mem_alloc(sizeof *firing);
    char time[TIME_TEXT_MAX];

    zone_time_format(cronjob_spec_of(cronjob)->time_zone ? zone : NULL, at_s, time);
    firing->call.done = on_created;
    firing->record = record;
    firing->at_s = at_s;
    firing->job = mem_printf("%s-%" PRId64, record->base.name, timing_number(cron, at_s));
    record->creating = true;
    schedule_record_call_begun(&record->base);
    cluster_create(record->base.all->cluster, &firing->call,
                   cronjob_job(cronjob, firing->job, ANNOTATION_CRONJOB_TIME, time));
    /* A cluster in this process has the job at once, so the status becomes part of the same commit.
     */
    if (job_of(firing) && owned_by(cronjob, job_of(firing)))
        done_with(record, at_s);
}

bool cronjob_tell_once(struct cronjob_record *record, int64_t at_s)
{
    bool first = record->told_s != at_s;

    record->told_s = at_s;
    return first;
}

static void hold_back(struct cronjob_record *record, const struct object *cronjob,
                      const struct object *active, int64_t at_s)
{
    struct cluster *cluster = record->base.all->cluster;

    if (!cronjob_tell_once(record, at_s))
        return;
    if (job_status_of(active)->phase == JOB_ABORTED)
        cluster_event(cluster, cronjob, EVENT_WARNING, "ForbidConcurrent", CRON_COMPONENT,
                      "job %s is aborted: resume or delete it; until then no job is made",
                      object_name(active));
    else
        cluster_event(cluster, cronjob, EVENT_NORMAL, "ForbidConcurrent", CRON_COMPONENT,
                      "job %s is active: the job of this time is made when it has ended",
                      object_name(active));
}

static void replace_active(struct cronjob_record *record, const struct object *cronjob,
                           const struct owned_list *jobs)
{
    struct cluster *cluster = record->base.all->cluster;

    for (size_t i = 0; i < jobs->count; i++) {
        const struct object *job = jobs->items[i];

        if (!cron_job_active(job) || object_deleting(job))
            continue;
        cron_job_remove(cluster, cronjob, job);
        cluster_event(cluster, cronjob, EVENT_NORMAL, "ReplaceConcurrent", CRON_COMPONENT,
                      "Deleted job %s, which the next one replaces", object_name(job));
    }
}

void cronjob_fire(struct cronjob_record *record, const struct object *cronjob,
                  const struct owned_list *jobs, const struct cron *cron, const struct zone *zone,
                  int64_t at_s)
{
    enum concurrency_policy policy = cronjob_spec_of(cronjob)->policy;
    const struct object *active = cron_jobs_active(jobs);

    if (policy == CONCURRENCY_FORBID && active) {
        hold_back(record, cronjob, active, at_s);
        return;
    }
    if (policy == CONCURRENCY_REPLACE)
        replace_active(record, cronjob, jobs);
    make_job(record, cronjob, cron, zone, at_s);
}
