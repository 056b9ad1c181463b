/*
 * Follows CronJobs and their jobs. Each CronJob has one record.
 */
#include "schedule/cronjob.h"

#include <string.h>

#include "base/mem.h"
#include "schedule/cronjob_internal.h"

static void status_failed(struct schedule_record *base)
{
    cronjob_try_later(container_of(base, struct cronjob_record, base));
}

static void free_record(struct schedule_record *base)
{
    mem_free(container_of(base, struct cronjob_record, base));
}

static void free_controller(struct schedule_records *records)
{
    mem_free(container_of(records, struct cronjob_controller, records));
}

static const struct schedule_ops ops = {.kind = &kind_cron_job,
                                        .sync = cronjob_sync,
                                        .due = cronjob_sync,
                                        .failed = status_failed,
                                        .free = free_record,
                                        .closed = free_controller};

static void cronjob_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *cronjob)
{
    struct cronjob_controller *controller =
        container_of(watcher, struct cronjob_controller, cronjobs);
    struct schedule_record *base = schedule_record_find(&controller->records, object_uid(cronjob));
    struct cronjob_record *record = base ? container_of(base, struct cronjob_record, base) : NULL;

    if (change == CHANGE_DELETED) {
        if (record)
            schedule_record_drop(&record->base);
        return;
    }
    if (!record) {
        record = mem_alloc(sizeof *record);
        schedule_record_add(&controller->records, &record->base, cronjob);
    }
    if (old && old->body != cronjob->body) { /* the new spec may work where the old one failed */
        record->broken = false;
        record->not_before_ms = 0;
    }
    schedule_record_sync_soon(&record->base);
}

/* Returns whether a change of a job concerns its CronJob: the job begins to exist, is being
 * deleted, ends, is aborted or is resumed. */
static bool matters(const struct object *old, const struct object *job)
{
    enum job_phase before = old ? job_status_of(old)->phase : JOB_NONE;
    enum job_phase after = job_status_of(job)->phase;

    return !old || object_deleting(old) != object_deleting(job) ||
           (before != after && (job_phase_finished(before) || job_phase_finished(after) ||
                                before == JOB_ABORTED || after == JOB_ABORTED));
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct cronjob_controller *controller = container_of(watcher, struct cronjob_controller, jobs);
    const struct owner_ref *owner = meta_controller(job->meta);
    struct schedule_record *record;

    if (!owner || strcmp(owner->kind, kind_cron_job.name) != 0 ||
        (change == CHANGE_MODIFIED && !matters(old, job)))
        return;
    record = schedule_record_find(&controller->records, owner->uid);
    if (record)
        schedule_record_sync_soon(record);
}

struct cronjob_controller *cronjob_controller_start(struct cluster *cluster,
                                                    const struct cronjob_options *options)
{
    struct cronjob_controller *controller = mem_alloc(sizeof *controller);

    controller->options = *options;
    schedule_records_open(&controller->records, &ops, cluster);
    controller->cronjobs = (struct cluster_watcher){cronjob_changed, &kind_cron_job};
    controller->jobs = (struct cluster_watcher){job_changed, &kind_job};
    cluster_watch(cluster, &controller->cronjobs);
    cluster_watch(cluster, &controller->jobs);
    controller->manual = manual_jobs_start(cluster);
    return controller;
}

void cronjob_controller_stop(struct cronjob_controller *controller)
{
    if (!controller)
        return;
    cluster_unwatch(controller->records.cluster, &controller->cronjobs);
    cluster_unwatch(controller->records.cluster, &controller->jobs);
    manual_jobs_stop(controller->manual);
    schedule_records_close(&controller->records);
}
