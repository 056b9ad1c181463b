/*
 * Derives the history and the status of a CronJob from its jobs.
 */
#include "schedule/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "schedule/internal.h"

bool cron_job_active(const struct object *job)
{
    return !job_phase_finished(job_status_of(job)->phase);
}

const struct object *cron_jobs_active(const struct owned_list *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (cron_job_active(jobs->items[i]) && !object_deleting(jobs->items[i]))
            return jobs->items[i];
    return NULL;
}

/* A deletion in flight. It outlives the controller. */
struct removal {
    struct cluster_call call;
    struct cluster *cluster;
    struct object *cronjob;
    char *job;
};

static void removed(struct cluster_call *call, const struct object *none, const struct error *err)
{
    struct removal *removal = container_of(call, struct removal, call);

    if (err && err->code != ERR_NOT_FOUND)
        cluster_event(removal->cluster, removal->cronjob, EVENT_WARNING, "FailedDelete",
                      CRON_COMPONENT, "Error deleting job \"%s\": %s", removal->job, err->message);
    object_unref(removal->cronjob);
    mem_free(removal->job);
    mem_free(removal);
}

void cron_job_remove(struct cluster *cluster, const struct object *cronjob,
                     const struct object *job)
{
    const struct cluster_removal how = {
        .uid = object_uid(job), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct removal *removal = mem_alloc(sizeof *removal);

    removal->call.done = removed;
    removal->cluster = cluster;
    removal->cronjob = object_ref(cronjob);
    removal->job = mem_strdup(object_name(job));
    cluster_remove(cluster, &removal->call, &kind_job, object_namespace(job), object_name(job),
                   &how);
}

/* Returns the scheduled time of a job in seconds; 0 for a job that was made by hand. */
static int64_t time_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_CRONJOB_TIME);
    int64_t at_ms;

    return text && time_parse(text, &at_ms, NULL) ? at_ms / 1000 : 0;
}

/* Returns whether a job has ended with this result, was made for a time up to `until_s`, and is not
 * being deleted. */
static bool is_history(const struct object *job, bool successful, int64_t until_s)
{
    enum job_phase phase = job_status_of(job)->phase;

    return job_phase_finished(phase) && (phase == JOB_COMPLETED) == successful &&
           !object_deleting(job) && time_of(job) <= until_s;
}

static void prune(struct cluster *cluster, const struct object *cronjob,
                  const struct owned_list *jobs, int64_t until_s, bool successful, int32_t limit)
{
    int64_t ended = 0;

    for (size_t i = 0; i < jobs->count; i++)
        ended += is_history(jobs->items[i], successful, until_s);
    for (size_t i = 0; i < jobs->count && ended > limit; i++) {
        if (!is_history(jobs->items[i], successful, until_s))
            continue;
        cron_job_remove(cluster, cronjob, jobs->items[i]);
        cluster_event(cluster, cronjob, EVENT_NORMAL, "SuccessfulDelete", CRON_COMPONENT,
                      "Deleted job \"%s\"", object_name(jobs->items[i]));
        ended--;
    }
}

void cron_jobs_prune(struct cluster *cluster, const struct object *cronjob,
                     const struct owned_list *jobs, int64_t until_s)
{
    const struct cronjob_spec *spec = cronjob_spec_of(cronjob);

    prune(cluster, cronjob, jobs, until_s, true, spec->successful_limit);
    prune(cluster, cronjob, jobs, until_s, false, spec->failed_limit);
}

static void write_active(struct jsonw *w, const struct object *job)
{
    jsonw_open(w);
    jsonw_member_str(w, "apiVersion", kind_api_version(&kind_job));
    jsonw_member_str(w, "kind", kind_job.name);
    jsonw_member_str(w, "name", object_name(job));
    jsonw_member_str(w, "namespace", object_namespace(job));
    jsonw_member_str(w, "uid", object_uid(job));
    jsonw_close(w);
}

struct blob *cron_jobs_status(const struct object *cronjob, const struct owned_list *jobs,
                              int64_t last_s)
{
    const struct cronjob_status *before = cronjob_status_of(cronjob);
    int64_t successful_ms = before->last_successful_ms;
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    bool any = false;

    jsonw_open(&w);
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job_status *status = job_status_of(jobs->items[i]);

        if (status->phase == JOB_COMPLETED && status->transition_ms > successful_ms)
            successful_ms = status->transition_ms;
        if (!cron_job_active(jobs->items[i]))
            continue;
        if (!any)
            jsonw_member_open_list(&w, "active");
        any = true;
        write_active(&w, jobs->items[i]);
    }
    if (any)
        jsonw_close_list(&w);
    if (last_s * 1000 < before->last_schedule_ms)
        last_s = before->last_schedule_ms / 1000;
    jsonw_member_time_opt(&w, "lastScheduleTime", last_s * 1000);
    jsonw_member_time_opt(&w, "lastSuccessfulTime", successful_ms);
    jsonw_close(&w);
    return blob_from_buf(&text);
}
