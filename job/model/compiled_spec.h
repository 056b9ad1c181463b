#pragma once
/*
 * Compiled specs: everything that follows from the body of a job alone, computed once and shared by
 * all jobs with an equal body.
 *
 * Ten thousand jobs of one template have one interned body and hence one compiled spec: policies as
 * rows, the index of dependencies, sums over the tasks, and the finished bodies of pods and
 * PodGroups. Creating the pods of such a job parses and writes no JSON.
 *
 * The compiled spec has its own copy of the decoded spec with the defaults of admission applied
 * again (O-06), because admission of another API server may not know them. It also says whether the
 * job can be run at all.
 */
#include "api/types/kinds/job/job.h"
#include "job/model/policy.h"

struct job_spec_cache;

struct job_compiled_task {
    struct job_policy_rows policies;
    const uint32_t *needs; /* dependsOn, as task positions */
    const uint32_t *dependents;
    uint32_t n_needs, n_dependents;
    bool needs_any;                        /* iteration any, with two names or more */
    const struct kv *labels, *annotations; /* labels and annotations of the pod template */
    uint32_t n_labels, n_annotations;
    /* Body of the pods, made by pod.c on first use; NULL when the pods of the task differ. */
    struct blob *pod_body;
};

struct job_compiled_spec {
    const struct job_spec *spec;     /* the spec with defaults applied; tasks have names */
    struct job_compiled_task *tasks; /* the tasks, [spec->tasks.count] */
    struct job_policy_rows policies;
    uint32_t evicted_delayed; /* number of policies that name PodEvicted with a timeout (O-28) */
    int64_t replicas;         /* number of replicas of all tasks */
    int64_t task_minimums;
    bool has_policies;
    bool has_dependencies;
    bool pods_differ;        /* a plugin adds to pods: each has a body of its own */
    bool uses_pod_addresses; /* objects of a plugin depend on the addresses of pods */
    /* The absent scheduler, which the job or a template names; NULL: none does. */
    const char *lacking;
    const char *invalid; /* why the job cannot be run, or NULL (9.2 step 0) */
    const char *invalid_reason;
    /* Body of the PodGroup, made by podgroup.c; NULL when it depends on more than the job's body. */
    struct blob *group_body;

    struct blob *body; /* the members from here on are private */
    struct arena *arena;
    const uint32_t *by_name; /* task positions in name order */
    unsigned users;
    struct job_spec_cache *owner;
    struct job_compiled_spec *newer, *older; /* neighbours in the list of unused specs */
    bool first_generation;
};

/* Which scheduler pods get. Borrowed names. */
struct job_schedulers {
    const char *usual;  /* of pods whose job and template name none; NULL: they name none */
    const char *absent; /* the cluster lacks it: pods that name it get the usual one; NULL: none */
};

/** `schedulers` is copied; NULL: pods keep what job and template name. */
struct job_spec_cache *job_spec_cache_new(const struct job_schedulers *schedulers);
void job_spec_cache_free(struct job_spec_cache *cache); /* every spec must have been put back */

/** Returns the compiled spec of a job's body; the caller puts it back when done. */
struct job_compiled_spec *job_compiled_spec_get(struct job_spec_cache *cache,
                                                const struct object *job);
void job_compiled_spec_put(struct job_compiled_spec *compiled); /* NULL is ignored */

/** Returns the scheduler of pods for which the job or a template names `given` (may be NULL); NULL
 * when they name none. */
const char *job_compiled_scheduler(const struct job_compiled_spec *compiled, const char *given);
/** Position of a task, or -1. O(log tasks). */
int32_t job_compiled_task_at(const struct job_compiled_spec *compiled, const char *name);
/** Gang minimum of a task: minAvailable, else minPartitions × partitionSize, else replicas (15.1).
 */
int32_t job_task_minimum(const struct job_task *task);
/** Ready pods that tasks depending on this one wait for: minAvailable, 0 when absent (13). */
static inline int32_t job_task_wanted_ready(const struct job_task *task)
{
    return task->min_available.set ? task->min_available.value : 0;
}
