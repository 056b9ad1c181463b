#pragma once
/*
 * JobFlow and JobTemplate (flow.volcano.sh/v1alpha1), as our code reads them. Ref: spec/jobflow.md
 * sections 2, 3 and 13. A *step* is an entry of spec.flows.
 */
#include "api/types/job.h"

struct probe_http {
    const char *task; /* NULL = every task of every target */
    const char *path;
    int32_t port;
    const char *header_name, *header_value; /* NULL = no header */
    const char *scheme;                     /* NULL = HTTP */
    int32_t timeout_s, period_s;            /* 0 = default */
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

struct flow_step {
    const char *name;
    const char *template_name;    /* jobTemplateName; NULL = name */
    struct flow_depends *depends; /* NULL = root */
    json_t *patch_job_spec;       /* patch.jobSpec, or NULL; merged first */
    json_t *patch_spec;           /* patch.spec, or NULL */
};

struct jobflow_spec {
    struct {
        struct flow_step *items;
        size_t count;
    } steps;
    const char *retain_policy; /* NULL acts as retain */
};

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

extern const struct schema jobflow_spec_schema;
extern const struct schema jobflow_status_schema;

const struct jobflow_spec *jobflow_spec_of(const struct object *flow);

/** status.state.phase of a flow object; NONE without status. Cheap: decoded once per status blob.
 */
enum flow_phase jobflow_phase_of(const struct object *flow);

/** A status from its text, with the phase attached so that nobody parses the text for it. Empties
 * `text`. */
struct blob *jobflow_status_blob(struct buf *text, enum flow_phase phase);

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

/* Labels and annotations of generated jobs. Ref: spec/jobflow.md section 4. */
#define LABEL_CREATED_BY_TEMPLATE "volcano.sh/createdByJobTemplate"
#define LABEL_CREATED_BY_FLOW     "volcano.sh/createdByJobFlow"
#define ANNOTATION_FLOW_STEP      "volcano.sh/jobFlowNode"
#define ANNOTATION_FLOW_ATTEMPT   "volcano.sh/jobFlowAttempt"
