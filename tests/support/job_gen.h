#pragma once
/*
 * Random jobs: small specs that use many features of a Job, as a structure for the independent
 * rules (tests/support/job_rules) and as a manifest for the controller. The same dice give the same
 * job.
 */
#include "api/types/kinds/job/job.h"
#include "base/buf.h"
#include "tests/support/dice.h"

/* Maximum numbers of tasks in a job, policies in a list and replicas in a task. */

enum { GEN_TASKS = 3, GEN_POLICIES = 3, GEN_REPLICAS = 4 };

struct gen_policy {
    uint32_t events; /* bits 1 << enum job_event; 0: the policy matches an exit code */
    int exit_code;
    enum job_action action;
    int timeout_s; /* timeout of the policy; -1 = none */
};
struct gen_policies {
    struct gen_policy items[GEN_POLICIES];
    int count;
};

struct gen_task {
    int replicas, min_available;
    int max_retry; /* maxRetry of the task, for its containers */
    int partition; /* partition size; 0 = no partitions */
    int needs;     /* index of the task that this one depends on, or -1 */
    struct gen_policies policies;
};

struct gen_job {
    struct gen_task tasks[GEN_TASKS];
    int n_tasks;
    struct gen_policies policies;
    int min_available, max_retry;
    int min_success;                  /* minSuccess of the job; 0 = none */
    int ttl_s;                        /* time to live of the finished job; -1 = none */
    bool services;                    /* the job has the plugin svc */
    bool keep_succeeded, slot_budget; /* the job has the annotations of O-61 and O-77 */
};

void gen_job_roll(struct gen_job *job, struct dice *dice);
/** Generates a job whose tasks have several pods, and each pod that fails asks for a restart of all
 * of them after a delay. Many delayed actions are then pending, and one of them answers all. */
void gen_job_group_restarts(struct gen_job *job, struct dice *dice);
/** Generates a job whose tasks restart with a delay after a pod was lost, unless the pod was
 * replaced before. */
void gen_job_lost_pods(struct gen_job *job, struct dice *dice);
/** Changes replicas and minimums of tasks without partitions at random. */
void gen_job_rescale(struct gen_job *job, struct dice *dice);
int gen_job_replicas(const struct gen_job *job);

/** Returns the name of the task: "a", "b" or "c". */
const char *gen_task_name(int task);
/** Writes a whole Job in JSON, which is also YAML. gen_job_scale_patch writes a merge patch with
 * minAvailable and tasks. */
void gen_job_manifest(const struct gen_job *job, struct buf *out);
void gen_job_scale_patch(const struct gen_job *job, struct buf *out);
