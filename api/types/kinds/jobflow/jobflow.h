#pragma once
/*
 * JobFlow and JobTemplate (flow.volcano.sh/v1alpha1), as our code reads them. Ref: spec/jobflow.md
 * sections 2, 3 and 13. A *step* is an entry of spec.flows.
 */
#include "api/types/kinds/job/job.h"

struct probe_header {
    const char *name, *value;
};
struct probe_http {
    const char *task; /* NULL = every task of every target */
    const char *path;
    int32_t port;
    const char *header_name, *header_value; /* NULL = no header */
    const char *scheme;                     /* NULL = HTTP */
    int32_t timeout_s, period_s;            /* 0 = default */
    const struct probe_header *headers;     /* [n_headers] more of them: probes of containers */
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
struct flow_probe {
    struct {
        struct probe_http *items;
        size_t count;
    } http;
    struct {
        struct probe_tcp *items;
        size_t count;
    } tcp;
    struct {
        struct probe_task_status *items;
        size_t count;
    } task_status;
};

struct flow_depends {
    struct str_list targets;
    const char *strategy;     /* NULL = all */
    struct flow_probe *probe; /* NULL = none */
};

/* ---- conditions: if, switch.cases[].if, for.until (13.3) ---- */

struct exit_code_rule {
    const char *task;     /* NULL = the first */
    const char *operator; /* In, NotIn, Gt, Lt; NULL = In */
    json_t *values;       /* list of integers, borrowed from the document */
};
struct term_task_status {
    const char *task, *phase;
    struct opt_i32 min_count; /* absent = 1 */
};
struct term_value { /* of an output or a parameter */
    const char *key;
    const char *operator; /* In, NotIn, Exists, DoesNotExist, Gt, Lt; NULL = In */
    struct str_list values;
};

/* Exactly one of phases, task_status, exit_code, output, parameter; a parameter has no target. */
struct flow_term {
    const char *target;
    bool negate;
    struct str_list phases;
    struct term_task_status *task_status;
    struct exit_code_rule *exit_code;
    struct term_value *output, *parameter;
};
struct flow_condition {
    const char *strategy; /* NULL = all */
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

/* ---- for (13.5) ---- */

struct flow_range {
    int64_t start, end;  /* end exclusive */
    struct opt_i64 step; /* absent = 1 */
};
/* The items are what a step before put out. */
struct flow_items_from {
    const char *target, *key;
};
struct flow_loop {
    struct str_list items;
    struct flow_items_from *items_from;
    struct flow_range *range;
    struct flow_condition *until;
    int32_t parallelism;    /* 0 = all at once */
    int32_t max_iterations; /* with until and items_from */
};
enum { LOOP_ITERATIONS_MAX = 10000 };
/** How many of its iterations there will be is known only while it runs. */
static inline bool flow_loop_is_open(const struct flow_loop *loop)
{
    return loop->until || loop->items_from;
}
/** How many iterations the loop can have; at most LOOP_ITERATIONS_MAX + 1. */
uint32_t flow_loop_iterations(const struct flow_loop *loop);

/* ---- retry (13.4) ---- */

struct flow_retry {
    struct opt_i32 max_retry; /* absent = the flow's */
    struct str_list phases;   /* empty = Failed and Terminated */
    struct exit_code_rule *exit_codes;
    struct opt_i32 backoff_s, factor, max_backoff_s; /* absent = 10, 2, 300 */
};

struct flow_step {
    const char *name;
    const char *template_name;        /* jobTemplateName; NULL = name */
    struct flow_depends *depends;     /* NULL = root */
    json_t *patch_job_spec;           /* patch.jobSpec, or NULL; merged first */
    json_t *patch_spec;               /* patch.spec, or NULL */
    struct flow_condition *condition; /* if; NULL = none */
    struct flow_switch *choice;       /* switch; NULL = none: the step has no job of its own */
    struct flow_loop *loop;           /* for; NULL = none: a job per iteration */
    struct flow_retry *retry;         /* NULL = the flow's maxRetry, with the defaults */
    const char *failure_policy;       /* NULL acts as fail */
    const char *when;                 /* NULL: when its targets are met; always: at the end */
};

/** The step makes no job of its own: a switch. */
static inline bool flow_step_is_switch(const struct flow_step *step)
{
    return step->choice != NULL;
}
/** It runs when the flow ends, whatever the end. */
static inline bool flow_step_is_final(const struct flow_step *step)
{
    return step->when != NULL;
}

struct flow_gang {
    const char *name;
    struct str_list steps;
    struct opt_i32 min_available; /* jobs; absent = all */
};

struct flow_scheduling { /* what holds for all jobs of the flow (13.7) */
    const char *queue, *priority_class, *scheduler_name;
    json_t *network_topology, *plugins; /* borrowed from the document, or NULL */
    int32_t max_running;                /* unfinished jobs; 0 = no limit */
    const char *order;                  /* NULL = list */
};

struct flow_parameter {
    const char *name;
    const char *value, *fallback; /* fallback: `default` */
};

struct jobflow_spec {
    struct {
        struct flow_step *items;
        size_t count;
    } steps;
    const char *retain_policy;   /* NULL acts as retain */
    const char *failure_policy;  /* NULL acts as stop */
    const char *template_policy; /* NULL acts as latest */
    int32_t max_retry;           /* default of every step */
    bool suspend;
    struct opt_i64 deadline_s; /* activeDeadlineSeconds */
    struct opt_i32 ttl_s;      /* ttlSecondsAfterFinished */
    struct flow_scheduling *scheduling;
    struct {
        struct flow_gang *items;
        size_t count;
    } gangs;
    struct {
        struct flow_parameter *items;
        size_t count;
    } parameters;
    const struct flow_parameter **parameters_by_name; /* [parameters.count] */
};

/** The parameter of that name, or NULL. O(log parameters): patches may refer to them often. */
const struct flow_parameter *jobflow_find_parameter(const struct jobflow_spec *spec,
                                                    const char *name);
/** The value of a parameter, or NULL when the flow has none of that name, or it has no value. */
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

/* What a step that failed finally means for the others. Ref: spec/jobflow.md 13.4. */
/* clang-format off */
#define FAILURE_POLICIES(X)                                                    \
    X(STOP,     "stop")     /* nothing new starts, what runs goes on */        \
    X(ABORT,    "abort")    /* the same, and what runs is terminated */        \
    X(CONTINUE, "continue") /* whatever does not depend on the step goes on */
/* clang-format on */
#define FAILURE_POLICY_ENUM(name, text) FAILURE_##name,
enum failure_policy { FAILURE_POLICIES(FAILURE_POLICY_ENUM) FAILURE_POLICY_N };
#undef FAILURE_POLICY_ENUM

extern const struct schema jobflow_spec_schema;
extern const struct schema jobflow_status_schema;

const struct jobflow_spec *jobflow_spec_of(const struct object *flow);

/** status.state.phase of a flow object; NONE without status. Cheap: decoded once per status blob.
 */
enum flow_phase jobflow_phase_of(const struct object *flow);

/* What is decoded of a status; the rest is read by the flow controller alone, when it restores a
 * flow. Texts are NULL where there is none. */
struct jobflow_summary {
    enum flow_phase phase;
    const char *retry; /* observedRetry */
    const char *reason, *message;
    int64_t completed, steps; /* of stepCounts */
};

/** NULL without status. Cheap: decoded once per status blob. */
const struct jobflow_summary *jobflow_summary_of(const struct object *flow);

/** A status from its text, with its summary attached (its texts are copied) so that nobody parses
 * the text for it. Empties `text`. */
struct blob *jobflow_status_blob(struct buf *text, const struct jobflow_summary *summary);

bool failure_policy_parse(const char *text, enum failure_policy *out);
/** What spec.failurePolicy says, or the annotation, which wins; stop when neither does. */
enum failure_policy jobflow_failure_policy(const struct object *flow);

/** Somebody asked for a manual retry of this failed flow and nothing came of it yet: its
 * ANNOTATION_FLOW_RETRY is not status.observedRetry. */
bool jobflow_wants_retry(const struct object *flow);

/** Its ANNOTATION_FLOW_ABORT asks for the end of an unfinished flow. */
bool jobflow_aborted(const struct object *flow);

struct admission;

/**
 * Whether the spec of `flow` may differ from that of `old` (DC-02, spec/jobflow.md 13.10):
 * findings, and warnings for changes without effect. Part of admission; nothing to report when the
 * specs mean the same.
 */
void jobflow_check_update(const struct admission *adm, const struct object *old,
                          const struct object *flow, struct error_list *errors);

#define ANNOTATION_ALLOW_UPDATES                                                                   \
    "flow.volcano.sh/allow-updates" /* "true" or "false": wins over the server's option */

#define ANNOTATION_FAILURE_POLICY                                                                  \
    "flow.volcano.sh/failure-policy" /* stop, abort or continue: wins over the spec */
#define ANNOTATION_FLOW_RETRY "volcano.sh/jobFlowRetry" /* a new value retries a failed flow */
#define ANNOTATION_FLOW_ABORT "volcano.sh/jobFlowAbort" /* any value ends an unfinished flow */

/* Labels and annotations of generated jobs. Ref: spec/jobflow.md section 4. */
#define LABEL_CREATED_BY_TEMPLATE "volcano.sh/createdByJobTemplate"
#define LABEL_CREATED_BY_FLOW     "volcano.sh/createdByJobFlow"
#define ANNOTATION_FLOW_STEP      "volcano.sh/jobFlowNode"
#define ANNOTATION_FLOW_ATTEMPT   "volcano.sh/jobFlowAttempt"
#define ANNOTATION_FLOW_ITERATION "volcano.sh/jobFlowIteration"
#define ANNOTATION_FLOW_GANG      "volcano.sh/jobFlowGang" /* <namespace>.<flow>.<gang> */
#define ANNOTATION_FLOW_GANG_LEAST                                                                 \
    "volcano.sh/jobFlowGangMinAvailable" /* jobs of it that start together, when not all do */
/* Of jobs of large flows, whose status has no entry for each step: specHash of its step. */
#define ANNOTATION_FLOW_SPEC_HASH "volcano.sh/jobFlowSpecHash"
