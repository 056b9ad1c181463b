#pragma once
/*
 * What follows from the body of a job alone, worked out once and shared by all jobs with an equal
 * body.
 *
 * Ten thousand jobs of one template have one body blob, hence one shape: compiled policies, the
 * dependency index, the sums, and the finished bodies of their pods and PodGroups. A job that uses
 * nothing of its own costs no JSON at all.
 *
 * The shape holds a copy of the spec with the defaults of admission re-applied (O-06), for in
 * cluster mode admission may not have run, and the verdict whether the job can be run at all.
 */
#include "api/types/kinds/job/job.h"
#include "base/arena.h"
#include "job/policy.h"

struct job_spec_cache;

struct job_compiled_task {
    struct job_policy_rows policies;
    const uint32_t *needs; /* dependsOn, as task positions */
    const uint32_t *dependents;
    uint32_t n_needs, n_dependents;
    bool needs_any;                        /* iteration any, with two names or more */
    const struct kv *labels, *annotations; /* of the pod template */
    uint32_t n_labels, n_annotations;
    struct blob *pod_body; /* made by job/pod.c on first use, when all pods of the task share one */
};

struct job_compiled_spec {
    const struct job_spec *spec;     /* with defaults; tasks have names */
    struct job_compiled_task *tasks; /* [spec->tasks.count] */
    struct job_policy_rows policies;
    uint32_t evicted_delayed; /* how many policies name PodEvicted with a timeout (O-28) */
    int64_t replicas;         /* of all tasks */
    int64_t task_minimums;
    bool has_policies;
    bool has_dependencies;
    bool pods_differ;        /* a plugin gives each pod of a task a body of its own */
    bool uses_pod_addresses; /* what a plugin makes depends on the addresses of pods */
    const char *broken;      /* why the job cannot be run, or NULL (9.2 step 0) */
    const char *broken_reason;
    struct blob *group_body; /* made by job/podgroup.c, when it depends on the body alone */

    struct blob *body; /* private from here */
    struct arena *arena;
    const uint32_t *by_name; /* task positions in name order */
    unsigned users;
    struct job_spec_cache *owner;
    struct job_compiled_spec *newer, *older; /* while unused */
    bool first_generation;
};

struct job_spec_cache *job_spec_cache_new(void);
void job_spec_cache_free(struct job_spec_cache *cache); /* all given back */

/** The shape of a job's body, owned by the caller until given back. */
struct job_compiled_spec *job_compiled_spec_get(struct job_spec_cache *cache,
                                                const struct object *job);
void job_compiled_spec_put(struct job_compiled_spec *compiled); /* NULL is fine */

/** Position of a task, or -1. O(log tasks). */
int32_t job_compiled_task_at(const struct job_compiled_spec *compiled, const char *name);
/** Gang minimum of a task: minAvailable, else minPartitions × partitionSize, else replicas (15.1).
 */
int32_t job_task_minimum(const struct job_task *task);
/** Ready pods that dependents wait for: minAvailable, 0 when absent (13). */
static inline int32_t job_task_wanted_ready(const struct job_task *task)
{
    return task->min_available.set ? task->min_available.value : 0;
}
