#pragma once
/*
 * Random jobs: small specs that use much of what a Job can say, as a struct for an oracle and as a
 * manifest for the program. The same dice give the same job.
 */
#include "api/types/kinds/job/job.h"
#include "base/buf.h"
#include "tests/support/dice.h"

/* A stream of chance of its own, so that a seed means the same whatever the program draws. */

enum { GEN_TASKS = 3, GEN_POLICIES = 3, GEN_REPLICAS = 4 };

struct gen_policy {
    uint32_t events; /* 1 << enum job_event; 0: an exit code */
    int exit_code;
    enum job_action action;
    int timeout_s; /* -1 = none */
};
struct gen_policies {
    struct gen_policy items[GEN_POLICIES];
    int count;
};

struct gen_task {
    int replicas, min_available;
    int max_retry; /* of containers */
    int partition; /* size; 0 = none */
    int needs;     /* task it depends on, or -1 */
    struct gen_policies policies;
};

struct gen_job {
    struct gen_task tasks[GEN_TASKS];
    int n_tasks;
    struct gen_policies policies;
    int min_available, max_retry;
    int min_success;                  /* 0 = none */
    int ttl_s;                        /* -1 = none */
    bool services;                    /* plugin svc */
    bool keep_succeeded, slot_budget; /* annotations: O-61, O-77 */
};

void gen_job_roll(struct gen_job *job, struct dice *dice);
/** Tasks of several pods, each of which asks for the restart of all of them a while after it
 * failed: many delayed actions that one of them answers. */
void gen_job_crowd(struct gen_job *job, struct dice *dice);
/** Tasks that are restarted a while after a pod was lost, if nothing takes its place. */
void gen_job_mourn(struct gen_job *job, struct dice *dice);
/** Other replicas and minimums, of tasks without partitions. */
void gen_job_rescale(struct gen_job *job, struct dice *dice);
int gen_job_replicas(const struct gen_job *job);

/** "a", "b", "c". */
const char *gen_task_name(int task);
/** A whole Job in JSON, which is YAML; and a merge patch that carries minAvailable and tasks. */
void gen_job_manifest(const struct gen_job *job, struct buf *out);
void gen_job_scale_patch(const struct gen_job *job, struct buf *out);
