#pragma once
/*
 * CronJob (batch.volcano.sh/v1alpha1): makes a Job at each time of a schedule.
 * Ref: spec/everyday.md 2.2.
 */
#include "api/types/kinds/job/job.h"

/* Jobs of a CronJob have this annotation in Volcano: the scheduled time, in the zone of the
 * schedule. */
#define ANNOTATION_CRONJOB_TIME "volcano.sh/cronjob-scheduled-timestamp"
/* Jobs that were made from a CronJob by hand have this annotation in Kubernetes. */
#define ANNOTATION_CRONJOB_MANUAL "cronjob.kubernetes.io/instantiate"

enum concurrency_policy { CONCURRENCY_ALLOW, CONCURRENCY_FORBID, CONCURRENCY_REPLACE };

struct cronjob_spec {
    const char *schedule;
    const char *time_zone; /* NULL: the zone of the machine */
    struct opt_i64 deadline_s;
    enum concurrency_policy policy;
    bool suspend;
    int32_t successful_limit, failed_limit; /* how many ended jobs are kept */
    json_t *job_template;                   /* an object with metadata and spec */
};

struct cronjob_status {
    int64_t last_schedule_ms;   /* the scheduled time of the newest job; 0 = none */
    int64_t last_successful_ms; /* when a job completed last; 0 = never */
    struct {
        struct cronjob_active {
            const char *name, *uid;
        } * items;
        size_t count;
    } active; /* the jobs that have not ended */
};

/** The decoded spec and status, borrowed from the object's blobs. Never NULL. */
const struct cronjob_spec *cronjob_spec_of(const struct object *cronjob);
const struct cronjob_status *cronjob_status_of(const struct object *cronjob);

/** Returns the name of the job that the CronJob makes for a Command with this uid (owned). */
char *cronjob_name_by_hand(const char *cronjob, const char *command_uid);
/** Returns a Job (a draft, owned) of this name, made from the template. The CronJob is its
 * controller, and it has one more annotation. */
struct object *cronjob_job(const struct object *cronjob, const char *name, const char *annotation,
                           const char *value);
