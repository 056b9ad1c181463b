#pragma once
/*
 * JobFlow (flow.volcano.sh/v1alpha1) as the program reads it: the decoded spec, the summary of the
 * status, phases, policies, and the labels and annotations of generated jobs.
 *
 * A *step* is an entry of spec.flows. The structs hold the fields the program acts on; the field
 * tables in schema.c and control_schema.c fill them. An absent text is NULL.
 * Ref: spec/jobflow.md sections 2, 3 and 13.
 */
#include "api/types/kinds/job/job.h"

struct probe_header {
    const char *name, *value;
};
struct probe_http {
    const char *task; /* task whose pods are probed; NULL = every task of every target */
    const char *path;
    int32_t port;
    const char *header_name, *header_value; /* header of the request; NULL = none */
    const char *scheme;                     /* scheme of the URL; NULL = HTTP */
    int32_t timeout_s, period_s;            /* times of the probe; 0 = default */
    const struct probe_header *headers;     /* further headers, for container probes, [n_headers] */
    size_t n_headers;
};
struct probe_tcp {
    const char *task;
    int32_t port;
    int32_t timeout_s, period_s;
};
struct probe_task_status {
    const char *task;
    const char *phase;
};

/* The kinds of probe that a step can have, in the order in which its entries are counted. Columns:
 * constant, member of struct flow_probe, struct of one entry, field of the manifest. The first
 * member of each entry's struct is `task`. */
/* clang-format off */
#define FLOW_PROBES(X)                                             \
    X(HTTP,        http,        probe_http,        "httpGetList")   \
    X(TCP,         tcp,         probe_tcp,         "tcpSocketList") \
    X(TASK_STATUS, task_status, probe_task_status, "taskStatusList")
/* clang-format on */
#define PROBE_KIND_ENUM(name, member, type, field) PROBE_##name,
enum probe_kind { FLOW_PROBES(PROBE_KIND_ENUM) PROBE_KIND_N };
#undef PROBE_KIND_ENUM

#define PROBE_LIST(name, member, type, field)                                                      \
    struct {                                                                                       \
        struct type *items;                                                                        \
        size_t count;                                                                              \
    } member;
struct flow_probe {
    FLOW_PROBES(PROBE_LIST)
};
#undef PROBE_LIST

/* One entry of a probe. */
struct flow_probe_entry {
    enum probe_kind kind;
    size_t index;      /* position in the list of its kind */
    const char *field; /* the field of the manifest that holds the list */
    const void *spec;  /* struct probe_http, probe_tcp or probe_task_status */
    const char *task;  /* task whose pods are probed; NULL = every task of every target */
};
/** Returns the number of entries of all kinds. */
size_t flow_probe_count(const struct flow_probe *probe);
/** Returns the entry at a position counted over all kinds. */
struct flow_probe_entry flow_probe_at(const struct flow_probe *probe, size_t position);

/* How the final failure of a step affects the other steps. Ref: spec/jobflow.md 13.4. */
/* clang-format off */
#define FAILURE_POLICIES(X)                                                    \
    X(STOP,     "stop")     /* no further step starts; running jobs go on */   \
    X(ABORT,    "abort")    /* no further step starts; running jobs are terminated */ \
    X(CONTINUE, "continue") /* steps that do not depend on the failed one go on */
/* clang-format on */
#define FAILURE_POLICY_ENUM(name, text) FAILURE_##name,
enum failure_policy { FAILURE_POLICIES(FAILURE_POLICY_ENUM) FAILURE_POLICY_N };
#undef FAILURE_POLICY_ENUM

/*
 * Fields with a fixed set of texts. A member that stands for an absent field comes first; the texts
 * are in the field tables.
 */
enum flow_strategy { STRATEGY_ALL, STRATEGY_ANY };
enum step_failure_policy { STEP_FAILURE_FAIL, STEP_FAILURE_IGNORE };

/* How a flow ends in which other steps have handled all failures. */
enum handled_failures { HANDLED_FAILURES_FAIL, HANDLED_FAILURES_SUCCEED };
enum approval_timeout { APPROVAL_TIMEOUT_FAIL, APPROVAL_TIMEOUT_SKIP };
enum step_until { UNTIL_END, UNTIL_DEPENDENTS };
enum step_when { WHEN_TARGETS_MET, WHEN_ALWAYS, WHEN_ALWAYS_CAPITALISED };
enum flow_order { ORDER_LIST, ORDER_CRITICAL_PATH };
enum retain_policy { RETAIN_POLICY_RETAIN, RETAIN_POLICY_DELETE };
enum template_policy { TEMPLATE_POLICY_LATEST, TEMPLATE_POLICY_PINNED };
enum code_operator { CODE_IN, CODE_NOT_IN, CODE_GT, CODE_LT };
enum value_operator {
    VALUE_IN,
    VALUE_NOT_IN,
    VALUE_EXISTS,
    VALUE_DOES_NOT_EXIST,
    VALUE_GT,
    VALUE_LT
};

struct flow_depends {
    struct str_list targets;
    enum flow_strategy strategy;
    struct flow_probe *probe; /* probe of the targets; NULL = none */
};

/* The exit code of a task, as conditions (13.3) and retries (13.4) compare it. */
struct exit_code_rule {
    const char *task; /* task that the term is about; NULL = the first */
    enum code_operator op;
    json_t *values; /* list of integers, borrowed from the document */
};
struct term_task_status {
    const char *task, *phase;
    struct opt_i32 min_count; /* number of pods that must match; 1 when it is not set */
};
/* A comparison of an output or a parameter. */
struct term_value {
    const char *key;
    enum value_operator op;
    struct str_list values;
};

/* One statement of a condition. Admission makes sure that exactly one of phases, task_status,
 * exit_code, output and parameter is set, and that a term about a parameter has no target. */
struct flow_term {
    const char *target;
    bool negate;
    struct str_list phases;
    struct term_task_status *task_status;
    struct exit_code_rule *exit_code;
    struct term_value *output, *parameter;
};
/* A condition of `if`, switch.cases[].if or for.until (13.3). */
struct flow_condition {
    enum flow_strategy strategy;
    struct {
        struct flow_term *items;
        size_t count;
    } terms;
};

struct flow_case {
    const char *name;
    struct flow_condition *condition;
    struct str_list steps;
};
struct flow_switch {
    struct {
        struct flow_case *items;
        size_t count;
    } cases;
    struct str_list default_steps;
};

struct flow_range {
    int64_t start, end;  /* first value, and the end, which is excluded */
    struct opt_i64 step; /* difference between two values; 1 when it is not set */
};
/* The items are the output `key` of the earlier step `target`. */
struct flow_items_from {
    const char *target, *key;
};
/* The member `for` of a step (13.5). Exactly one of items, items_from, range and until is set. */
/* What a loop does after an iteration has failed that it does not tolerate. */
enum loop_failure_policy { LOOP_FAILURE_STOP, LOOP_FAILURE_CONTINUE };

struct flow_loop {
    struct str_list items;
    struct flow_items_from *items_from;
    struct flow_range *range;
    struct flow_condition *until;
    int32_t parallelism;    /* how many iterations run at once; 0 = all */
    int32_t max_iterations; /* largest number of iterations, with until and items_from */
    int32_t max_failures;   /* number of failed iterations with which the loop completes */
    enum loop_failure_policy failure_policy;
};
enum { LOOP_ITERATIONS_MAX = 10000 };
/** Returns whether the number of iterations is known only while the flow runs. */
static inline bool flow_loop_is_open(const struct flow_loop *loop)
{
    return loop->until || loop->items_from;
}
/** Returns the largest number of iterations the loop can have. LOOP_ITERATIONS_MAX + 1 stands for
 * every larger number. */
uint32_t flow_loop_iterations(const struct flow_loop *loop);

/* The member `cache` of a step (spec/everyday.md 4.1). */
struct flow_cache {
    const char *key;    /* more that decides whether the step is reused; or NULL */
    int64_t max_age_ns; /* age up to which a result is reused; -1 = any */
};

/* The member `retry` of a step (13.4). */
struct flow_retry {
    struct opt_i32 max_retry; /* number of retries; the flow's maxRetry when it is not set */
    struct str_list phases;   /* empty = Failed and Terminated */
    struct exit_code_rule *exit_codes;
    struct opt_i32 backoff_s, factor, max_backoff_s; /* first delay, its factor and the longest
                                                      * delay; absent = 10, 2, 300 */
};

/* The member `approve` of a step, which waits until somebody approves (spec/everyday.md 7.2). */
struct flow_approval {
    const char *message;      /* what is to be approved; may have references; or NULL */
    struct opt_i32 timeout_s; /* time to answer; without end when it is not set */
    enum approval_timeout on_timeout;
};

struct flow_step {
    const char *name;
    const char *template_name;        /* jobTemplateName; NULL = name */
    const char *run;                  /* the script of a step that is one shell script, or NULL */
    const char *image;                /* image of the script's container, or NULL */
    json_t *env;                      /* list of the script's variables, or NULL */
    json_t *job_template;             /* jobTemplate: metadata and spec, or NULL */
    struct flow_depends *depends;     /* NULL = root */
    json_t *patch_job_spec;           /* patch.jobSpec, or NULL; merged first */
    json_t *patch_spec;               /* member patch.spec, or NULL */
    struct flow_condition *condition; /* if; NULL = none */
    struct flow_switch *choice;       /* switch; NULL = none: the step has no job of its own */
    struct flow_approval *approval;   /* approve; NULL = none: the step has no job of its own */
    struct flow_loop *loop;           /* the field `for`: a job for each iteration; NULL = no
                                       * loop */
    struct str_list reads, writes;    /* paths and patterns of the files that the step reads and
                                    * writes */
    struct flow_cache *cache;         /* the step may be reused; NULL = it runs */
    struct flow_retry *retry; /* retry policy; NULL = the flow's maxRetry, with the defaults */
    enum step_failure_policy failure_policy;
    enum step_until until;
    enum step_when when;
};

/** Returns whether the step contains its template: a script, or a whole JobTemplate. */
static inline bool flow_step_is_inline(const struct flow_step *step)
{
    return step->run || step->job_template;
}
/** Returns whether the step is a switch, which makes no job. */
static inline bool flow_step_is_switch(const struct flow_step *step)
{
    return step->choice != NULL;
}
/** Returns whether the step makes jobs: it is neither a switch nor an approval. */
static inline bool flow_step_makes_jobs(const struct flow_step *step)
{
    return !step->choice && !step->approval;
}
/** Returns whether the step's jobs are made from a JobTemplate object. */
static inline bool flow_step_has_named_template(const struct flow_step *step)
{
    return flow_step_makes_jobs(step) && !flow_step_is_inline(step);
}
/** Returns whether the step serves those that depend on it: they start when its pods are ready, and
 * its job ends when they have ended (spec/everyday.md 14). */
static inline bool flow_step_serves(const struct flow_step *step)
{
    return step->until == UNTIL_DEPENDENTS;
}
/** Returns whether the step runs at the end of the flow, in success and failure (`when:
 * always`). */
static inline bool flow_step_is_final(const struct flow_step *step)
{
    return step->when != WHEN_TARGETS_MET;
}

struct flow_gang {
    const char *name;
    struct str_list steps;
    struct opt_i32 min_available; /* number of jobs; all of them when it is not set */
};

/* Scheduling settings that all jobs of the flow share (13.7). */
struct flow_scheduling {
    const char *queue, *priority_class, *scheduler_name;
    json_t *network_topology, *plugins; /* members of the spec, borrowed from the document, or
                                         * NULL */
    int32_t max_running;                /* unfinished jobs; 0 = no limit */
    enum flow_order order;
};

struct flow_parameter {
    const char *name;
    const char *value, *fallback; /* fallback is the member `default` */
};

struct jobflow_spec {
    struct {
        struct flow_step *items;
        size_t count;
    } steps;
    enum retain_policy retain_policy;
    enum failure_policy failure_policy;
    enum handled_failures handled_failures;
    enum template_policy template_policy;
    int32_t max_retry; /* default of every step */
    bool suspend;
    struct opt_i64 deadline_s; /* member activeDeadlineSeconds */
    struct opt_i32 ttl_s;      /* member ttlSecondsAfterFinished */
    struct flow_scheduling *scheduling;
    struct {
        struct flow_gang *items;
        size_t count;
    } gangs;
    struct {
        struct flow_parameter *items;
        size_t count;
    } parameters;
    const struct flow_parameter **parameters_by_name; /* the parameters ordered by name,
                                                       * [parameters.count] */
};

/** Returns the parameter `name`, or NULL. O(log parameters), because patches may refer to
 * parameters often. */
const struct flow_parameter *jobflow_find_parameter(const struct jobflow_spec *spec,
                                                    const char *name);
/** Returns the value of the parameter `name`, or its default; NULL when it has neither, or when the
 * flow has no such parameter. */
const char *jobflow_parameter(const struct jobflow_spec *spec, const char *name);

/* clang-format off */
#define FLOW_PHASES(X)         \
    X(NONE,        "")         \
    X(PENDING,     "Pending")     \
    X(RUNNING,     "Running")     \
    X(SUCCEED,     "Succeed")     \
    X(FAILED,      "Failed")      \
    X(TERMINATING, "Terminating")
/* clang-format on */
#define FLOW_ENUM(name, text) FLOW_##name,
enum flow_phase { FLOW_PHASES(FLOW_ENUM) FLOW_PHASE_N };
#undef FLOW_ENUM

const char *flow_phase_text(enum flow_phase phase);
bool flow_phase_parse(const char *text, enum flow_phase *out);
static inline bool flow_phase_finished(enum flow_phase p)
{
    return p == FLOW_SUCCEED || p == FLOW_FAILED;
}

/** Returns the state of a step for people: its phase as stored, but "Not run" for one that waits in
 * a flow that starts nothing any more. */
const char *jobflow_step_state(const char *phase, enum flow_phase flow);
/** Returns the number of a step's attempt that a job is, by its annotation; 1 without one. */
unsigned jobflow_attempt_of(const struct object *job);

extern const struct schema jobflow_spec_schema;
extern const struct schema jobflow_status_schema;

const struct jobflow_spec *jobflow_spec_of(const struct object *flow);

#define STEP_CACHED_TEXT "Cached" /* reason, and for people the state, of a reused step */
/** Returns status.state.phase of a flow; FLOW_NONE without a status. It is decoded once per status
 * blob. */
enum flow_phase jobflow_phase_of(const struct object *flow);

/* The decoded part of a status. Only the flow controller reads the rest, when it restores a flow.
 * Absent texts are NULL. */
struct jobflow_summary {
    enum flow_phase phase;
    const char *retry; /* member observedRetry */
    const char *reason, *message;
    int64_t completed, steps; /* numbers from stepCounts; a loop counts as one step */
    bool jobs_unfinished;     /* some jobs of the flow have not ended */
};

/** Returns the summary of a flow's status, borrowed from it; NULL without status. Decoded once per
 * status blob. */
const struct jobflow_summary *jobflow_summary_of(const struct object *flow);

/** Makes a status blob from its JSON text and attaches `summary`, so that the text is not parsed
 * again. Copies the summary's texts and empties `text`. The blob is owned by the caller. */
struct blob *jobflow_status_blob(struct buf *text, const struct jobflow_summary *summary);

bool failure_policy_parse(const char *text, enum failure_policy *out);
/** Returns the failure policy of a flow: ANNOTATION_FAILURE_POLICY if it is set, else
 * spec.failurePolicy, else stop. */
enum failure_policy jobflow_failure_policy(const struct object *flow);

/** Returns whether a manual retry of this failed flow, or a rerun of a flow that has ended, has
 * been requested and not been started: its ANNOTATION_FLOW_RETRY differs from status.observedRetry. */
bool jobflow_wants_retry(const struct object *flow);

/* The steps that begin again with a new value of ANNOTATION_FLOW_RETRY. Each member is a list of
 * names, separated by commas, borrowed from the flow; NULL: the annotation is absent or empty. */
struct flow_rerun {
    const char *from;   /* these steps and all that depend on them */
    const char *only;   /* these steps alone */
    const char *edited; /* these, too, and all that depend on them: their definition has changed;
                         * "": none; NULL: the flow has to find out */
};

struct flow_rerun jobflow_rerun_of(const struct object *flow);
/** Returns whether the request names the steps that begin again. Otherwise it is a retry: all that
 * failed or never ran begins again. */
static inline bool flow_rerun_is_selective(const struct flow_rerun *rerun)
{
    return rerun->from || rerun->only;
}
/** Reads the next name of a comma-separated list at `*at`, without blanks around it, and moves
 * `*at` behind it. Returns false at the end of the list. The name is not terminated: [*out_len] bytes.
 */
bool flow_rerun_next_name(const char **at, const char **out_name, size_t *out_len);

/** Returns whether ANNOTATION_FLOW_ABORT requests that the flow ends. */
bool jobflow_aborted(const struct object *flow);

#define ANNOTATION_ALLOW_UPDATES                                                                   \
    "flow.volcano.sh/allow-updates" /* "true" or "false"; it goes before the server's option */

#define ANNOTATION_FAILURE_POLICY                                                                  \
    "flow.volcano.sh/failure-policy" /* stop, abort or continue: wins over the spec */
#define ANNOTATION_FLOW_RETRY "volcano.sh/jobFlowRetry" /* a new value retries a failed flow */
/* With such a value: the steps that begin again, as in struct flow_rerun. The last one is written
 * by `run` as "<value>=<names>" and counts with this value only. */
#define ANNOTATION_FLOW_RETRY_FROM   "volcano.sh/jobFlowRetryFrom"
#define ANNOTATION_FLOW_RETRY_ONLY   "volcano.sh/jobFlowRetryOnly"
#define ANNOTATION_FLOW_RETRY_EDITED "volcano.sh/jobFlowRetryEdited"
#define ANNOTATION_FLOW_REUSE        "flow.volcano.sh/reuse" /* REUSE_CHANGED or REUSE_NONE */
#define REUSE_CHANGED                "only-changed" /* every step is as one with `cache: {}` */
#define REUSE_NONE                   "none"         /* nothing is reused; results are recorded */
#define ANNOTATION_FLOW_ABORT        "volcano.sh/jobFlowAbort" /* any value ends an unfinished flow */

/* Labels and annotations of generated jobs. Ref: spec/jobflow.md section 4. */
#define LABEL_CREATED_BY_TEMPLATE "volcano.sh/createdByJobTemplate"
#define LABEL_CREATED_BY_FLOW     "volcano.sh/createdByJobFlow"
#define ANNOTATION_FLOW_STEP      "volcano.sh/jobFlowNode"
#define ANNOTATION_FLOW_ATTEMPT   "volcano.sh/jobFlowAttempt"
#define ANNOTATION_FLOW_ITERATION "volcano.sh/jobFlowIteration"
#define ANNOTATION_CACHE_ENTRY    "volcano.sh/jobFlowCacheEntry" /* entry that becomes its record */
#define ANNOTATION_FLOW_GANG      "volcano.sh/jobFlowGang" /* value: <namespace>.<flow>.<gang> */
#define ANNOTATION_FLOW_GANG_LEAST                                                                 \
    "volcano.sh/jobFlowGangMinAvailable" /* minAvailable of the gang, when it is not all jobs */
/* The specHash of the job's step. Set on jobs of large flows, whose status does not list every
 * step. */
#define ANNOTATION_FLOW_SPEC_HASH "volcano.sh/jobFlowSpecHash"
