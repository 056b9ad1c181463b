#pragma once
/*
 * Job (batch.volcano.sh/v1alpha1) as the program reads it: phases, events and actions, the decoded
 * spec and the decoded status. Absent texts and documents are NULL. Ref: spec/job.md section 2.
 */
#include "api/types/kinds/pod/pod.h"

/* clang-format off */
#define JOB_PHASES(X)          \
    X(NONE,        "")         \
    X(PENDING,     "Pending")     \
    X(ABORTING,    "Aborting")    \
    X(ABORTED,     "Aborted")     \
    X(RUNNING,     "Running")     \
    X(RESTARTING,  "Restarting")  \
    X(COMPLETING,  "Completing")  \
    X(COMPLETED,   "Completed")   \
    X(TERMINATING, "Terminating") \
    X(TERMINATED,  "Terminated")  \
    X(FAILED,      "Failed")

#define JOB_EVENTS(X)                      \
    X(NONE,           "")                  \
    X(ANY,            "*")                 \
    X(POD_FAILED,     "PodFailed")         \
    X(POD_EVICTED,    "PodEvicted")        \
    X(POD_PENDING,    "PodPending")        \
    X(POD_RUNNING,    "PodRunning")        \
    X(UNKNOWN,        "Unknown")           \
    X(TASK_COMPLETED, "TaskCompleted")     \
    X(TASK_FAILED,    "TaskFailed")        \
    X(JOB_UPDATED,    "JobUpdated")        \
    X(OUT_OF_SYNC,    "OutOfSync")         \
    X(COMMAND_ISSUED, "CommandIssued")

#define JOB_ACTIONS(X)                          \
    X(SYNC_JOB,          "SyncJob")             \
    X(ENQUEUE_JOB,       "EnqueueJob")          \
    X(UPDATE_JOB,        "UpdateJob")           \
    X(ABORT_JOB,         "AbortJob")            \
    X(RESTART_JOB,       "RestartJob")          \
    X(RESTART_TASK,      "RestartTask")         \
    X(RESTART_POD,       "RestartPod")          \
    X(RESTART_PARTITION, "RestartPartition")    \
    X(TERMINATE_JOB,     "TerminateJob")        \
    X(COMPLETE_JOB,      "CompleteJob")         \
    X(RESUME_JOB,        "ResumeJob")
/* clang-format on */

#define JOB_ENUM(name, text) JOB_##name,
enum job_phase { JOB_PHASES(JOB_ENUM) JOB_PHASE_N };
#undef JOB_ENUM
#define JOB_ENUM(name, text) EVENT_##name,
enum job_event { JOB_EVENTS(JOB_ENUM) JOB_EVENT_N };
#undef JOB_ENUM
#define JOB_ENUM(name, text) ACT_##name,
enum job_action { JOB_ACTIONS(JOB_ENUM) JOB_ACTION_N };
#undef JOB_ENUM

const char *job_phase_text(enum job_phase phase);
const char *job_event_text(enum job_event event);
const char *job_action_text(enum job_action action);

/** Parses the name of a phase. It and the functions below return false for unknown texts and then
 * leave `out` unset. "" and NULL are JOB_NONE; JobUnknown is a synonym of the event Unknown. */
bool job_phase_parse(const char *text, enum job_phase *out);
bool job_event_parse(const char *text, enum job_event *out);
bool job_action_parse(const char *text, enum job_action *out);

/** Returns whether the phase is Completed, Failed or Terminated. */
bool job_phase_finished(enum job_phase phase);
/** Returns whether the action restarts a part of a job, and so needs a task, pod or partition. */
bool job_action_targeted(enum job_action action);

struct job_policy {
    const char *action;
    const char *event;
    struct str_list events;
    struct opt_i32 exit_code;
    int64_t timeout_ns; /* timeout of the policy; -1 = absent */
};
struct job_policy_list {
    struct job_policy *items;
    size_t count;
};

struct job_volume {
    const char *mount_path;
    const char *claim_name; /* name of the claim; NULL = absent */
    json_t *claim;          /* a PersistentVolumeClaimSpec, or NULL */
};

struct job_partition {
    int32_t total, size, min;
};

struct job_task {
    const char *name;
    int32_t replicas;
    struct opt_i32 min_available;
    int32_t max_retry;
    const char *topology_policy;
    struct job_policy_list policies;
    struct str_list depends_on;      /* names of the tasks that this one depends on */
    const char *depends_iteration;   /* how many of them are needed: "any", "all" or NULL */
    struct job_partition *partition; /* partitions of the task; NULL: none */
    json_t *template;                /* PodTemplateSpec, borrowed from the spec's document */
};

struct job_spec {
    const char *scheduler_name;
    const char *queue;
    const char *priority_class;
    int32_t min_available;
    int32_t max_retry;
    struct opt_i32 min_success;
    struct opt_i32 ttl_s;
    int64_t running_estimate_ns; /* estimated running time; -1 = absent */
    struct {
        struct job_volume *items;
        size_t count;
    } volumes;
    struct {
        struct job_task *items;
        size_t count;
    } tasks;
    struct job_policy_list policies;
    struct {
        struct str_list_pair *items;
        size_t count;
    } plugins;
    json_t *network_topology; /* network topology; NULL: none */
};

struct job_task_count {
    const char *key; /* name of the task */
    int32_t by_phase[POD_PHASE_N];
};
struct job_condition {
    enum job_phase phase;
    int64_t at_ms;
};

struct job_status {
    enum job_phase phase;
    const char *reason, *message; /* reason and message of the condition; NULL = absent */
    int64_t transition_ms;        /* member state.lastTransitionTime */
    int32_t min_available;
    int32_t pending, running, succeeded, failed, terminating, unknown;
    int32_t version, retry_count;
    int64_t running_duration_ns; /* how long the job ran; -1 = absent */
    struct {
        struct job_task_count *items;
        size_t count;
    } task_counts;
    struct {
        struct job_condition *items;
        size_t count;
    } conditions;              /* phases with their times, oldest first */
    struct str_map controlled; /* member controlledResources */
};

/** Field table of a Job's spec, which JobTemplates share. */
extern const struct schema job_spec_schema;
/** The rows of a Job's spec for a patch: no defaults, no required members, no minimum lengths; the
 * members $patch and $retainKeys are kept. */
extern const struct schema job_patch_schema;
extern const struct schema job_status_schema;
/** Field table of {"phase": {"Running": 1}}, decoded into int32_t[POD_PHASE_N]. */
extern const struct schema task_state_schema;

/** Returns the decoded spec of a Job or JobTemplate, borrowed from the object's blob. Never NULL
 * for an admitted object. Decoded once per blob. */
const struct job_spec *job_spec_of(const struct object *job_or_template);
/** Returns the decoded status, borrowed until the turn ends; a zeroed struct without status. */
const struct job_status *job_status_of(const struct object *job);

/** Writes a status as JSON and attaches a decoded copy, so that the text is not parsed again. The
 * blob is owned by the caller. */
struct blob *job_status_blob(const struct job_status *status);
