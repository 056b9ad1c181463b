#pragma once
/*
 * What the pods of a finished job leave behind: how they ended, exit codes, outputs.
 *
 * Outputs are lines `key=value` of termination messages; of several pods the one with the lowest
 * index wins, then the task that comes first. Pods go with their job, so whoever needs the results
 * later keeps them. Ref: spec/jobflow.md 13.3; DC-06.
 */
#include "api/cluster.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"
#include "base/jsonw.h"

enum {
    RESULT_OUTPUT_BYTES = 16 * 1024, /* keys and values of one job */
    RESULT_PODS_SHOWN = 32,          /* pods in exit codes and log names */
};

struct result_output {
    char *key, *value;
    size_t index; /* of the pod it is from */
};
struct result_pod {
    char *name, *uid;
    char *task;
    size_t index;
    enum pod_phase phase;
    bool has_code;
    int32_t code; /* of its first container that failed, else of its first */
};

struct job_results {
    struct result_pod *pods; /* by index, then by task in the job's order */
    size_t n_pods;
    struct result_output *outputs;
    size_t n_outputs, output_bytes;
    bool restored; /* from a status: pods have no names */
};

/** Gather from the pods there are now; owned. O(pods). */
struct job_results *job_results_gather(struct cluster *cluster, const struct object *job);
struct job_results *job_results_new(void);          /* empty */
void job_results_free(struct job_results *results); /* NULL is fine */

/** The value of an output, or NULL. NULL results have none. */
const char *job_results_output(const struct job_results *results, const char *key);
/** Keep an output; the first of a key stays. */
void job_results_add_output(struct job_results *results, const char *key, size_t key_len,
                            const char *value, size_t value_len, size_t index);
void job_results_add_pod(struct job_results *results, const struct result_pod *pod); /* copied */

/** The exit code of pod 0 of a task, of the first task when `task` is NULL. False when unknown. */
bool job_results_exit_code(const struct job_results *results, const char *task, int32_t *out);
/** The exit code of the first pod that failed. */
bool job_results_failure_code(const struct job_results *results, int32_t *out);
/** How many pods of a task ended in the phase. */
int32_t job_results_count(const struct job_results *results, const char *task,
                          enum pod_phase phase);

/* Members of a status entry; nothing when there is nothing. */
void job_results_write_outputs(const struct job_results *results, struct jsonw *w);
/** exitCodes: {"task": [code, …]}, logs: {"pod": "uid"}, the name its log is kept by. */
void job_results_write_pods(const struct job_results *results, struct jsonw *w);
