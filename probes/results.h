#pragma once
/*
 * The results of a finished job: how its pods ended, their exit codes and their outputs.
 *
 * Outputs are lines `key=value` of termination messages. When several pods give the same key, the
 * pod with the lowest index wins, then the task that comes first. Pods are deleted with their job,
 * so results that are needed later are stored in the status of the flow. Of pods that were deleted
 * before the job ended only the logs are known (api/types/kinds/pod/pod_log.h).
 * Ref: spec/jobflow.md 13.3; DC-06.
 */
#include "api/cluster.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"
#include "base/encoding/jsonw.h"

enum {
    RESULT_OUTPUT_BYTES = 16 * 1024, /* total size of the keys and values of one job */
    RESULT_PODS_SHOWN = 32,          /* number of pods in exit codes and log names */
};

struct result_output {
    char *key, *value;
    size_t index; /* index of the pod that gave the value */
};

struct result_pod {
    char *name, *uid;
    char *task;
    size_t index;
    enum pod_phase phase;
    bool has_code;
    int32_t code; /* exit code of the pod's first container that failed, else of its first
                   * container */
};

/* A pod that is gone, and the uid that names its log. */
struct result_log {
    char *name, *uid;
};

struct job_results {
    struct result_pod *pods; /* pods of the job, sorted by index, then in the order of the job's
                              * tasks */
    size_t n_pods;
    struct result_log *kept; /* the newest of each name that no existing pod has */
    size_t n_kept;
    struct result_output *outputs;
    size_t n_outputs, output_bytes;
    bool restored; /* read from a status, so the pods have no names */
};

/** Gathers the results from the existing pods; owned. O(pods). */
struct job_results *job_results_gather(struct cluster *cluster, const struct object *job);
struct job_results *job_results_new(void);          /* Returns empty results; owned. */
void job_results_free(struct job_results *results); /* NULL is ignored */

/** Returns the value of an output, or NULL. `results` NULL has no outputs. */
const char *job_results_output(const struct job_results *results, const char *key);
/** Adds an output, unless the key has a value already or RESULT_OUTPUT_BYTES would be exceeded. */
void job_results_add_output(struct job_results *results, const char *key, size_t key_len,
                            const char *value, size_t value_len, size_t index);
/* Adds a copy of `pod` to the results. */
void job_results_add_pod(struct job_results *results, const struct result_pod *pod);

/** The exit code of pod 0 of a task; with `task` NULL of the first task. False when it is
 * unknown. */
bool job_results_exit_code(const struct job_results *results, const char *task, int32_t *out);
/** The exit code of the first pod that failed. */
bool job_results_failure_code(const struct job_results *results, int32_t *out);
/** Returns how many pods of a task ended in the phase. */
int32_t job_results_count(const struct job_results *results, const char *task,
                          enum pod_phase phase);

/* The next two functions write members of an entry in a status. Empty members are left out. */

/** Writes the outputs as a JSON object: {"key": "value"}. */
void job_results_write_outputs(const struct job_results *results, struct jsonw *w);
/** Writes exitCodes: {"task": [code, …]} and logs: {"pod": "uid"}, where the uid names the log. */
void job_results_write_pods(const struct job_results *results, struct jsonw *w);
