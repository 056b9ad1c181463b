/*
 * Field tables of JobFlow. Ref: spec/jobflow.md 2; those of section 13 are in
 * control_schema.c.
 */
#include <assert.h>

#include "api/types/kinds/job/schema.h"
#include "api/types/kinds/jobflow/control.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/limits.h"

#define HTTP(member)        offsetof(struct probe_http, member)
#define TCP(member)         offsetof(struct probe_tcp, member)
#define TASK_STATUS(member) offsetof(struct probe_task_status, member)
#define PROBE(member)       offsetof(struct flow_probe, member)
#define DEPENDS(member)     offsetof(struct flow_depends, member)
#define STEP(member)        offsetof(struct flow_step, member)
#define FLOW(member)        offsetof(struct jobflow_spec, member)

enum { TASK_PHASE_BYTES_MAX = 63, PROBE_SECONDS_MAX = 30 };

/* clang-format off */
static const char *const retain_values[] = {"retain", "delete", NULL};
static const char *const strategy_values[] = {"all", "any", NULL};
static const char *const scheme_values[] = {"HTTP", "HTTPS", "", NULL};

/* ---- dependsOn.probe ---- */

/* Overlays two members of struct probe_http. */
struct http_header {
    const char *name, *value;
};
static_assert(HTTP(header_value) - HTTP(header_name) == offsetof(struct http_header, value),
              "httpHeader is read as one struct http_header");
static const struct field http_header_fields[] = {
    {"name",  FIELD_STR, offsetof(struct http_header, name), .required = true, .doc = "Name; empty for no header."},
    {"value", FIELD_STR, offsetof(struct http_header, value), .required = true, .doc = "Value of the header."},
    {0},
};
static const struct schema http_header_schema = {"HttpHeader", http_header_fields, sizeof(struct http_header)};

static const struct field http_fields[] = {
    {"taskName",       FIELD_STR,    HTTP(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are asked; all tasks when absent."},
    {"path",           FIELD_STR,    HTTP(path), .doc = "Path to get; / when absent."},
    {"port",           FIELD_I32,    HTTP(port), BOUNDS(0, 65535), .doc = "Port of the pods; 80 when absent."},
    {"httpHeader",     FIELD_INLINE, HTTP(header_name), &http_header_schema, .doc = "A header to send."},
    {"scheme",         FIELD_STR,    HTTP(scheme), .one_of = scheme_values,
     .doc = "HTTP, or HTTPS without checking the certificate."},
    {"timeoutSeconds", FIELD_I32,    HTTP(timeout_s), BOUNDS(0, PROBE_SECONDS_MAX), .doc = "Time for one try; 1 when absent."},
    {"periodSeconds",  FIELD_I32,    HTTP(period_s), NOT_NEGATIVE, .doc = "Time between tries; 1, later 5, when absent."},
    {0},
};
static const struct schema http_schema = {"HttpGet", http_fields, sizeof(struct probe_http),
                                          .doc = "An HTTP GET of each pod that must give a status from 200 to 399."};

static const struct field tcp_fields[] = {
    {"taskName",       FIELD_STR, TCP(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are asked; all tasks when absent."},
    {"port",           FIELD_I32, TCP(port), .required = true, BOUNDS(0, 65535), .doc = "Port of the pods."},
    {"timeoutSeconds", FIELD_I32, TCP(timeout_s), BOUNDS(0, PROBE_SECONDS_MAX), .doc = "Time for one try; 1 when absent."},
    {"periodSeconds",  FIELD_I32, TCP(period_s), NOT_NEGATIVE, .doc = "Time between tries; 1, later 5, when absent."},
    {0},
};
static const struct schema tcp_schema = {"TcpSocket", tcp_fields, sizeof(struct probe_tcp),
                                         .doc = "A TCP connection to each pod that must open."};

static const struct field task_status_fields[] = {
    {"taskName", FIELD_STR, TASK_STATUS(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are looked at; all tasks when absent."},
    {"phase",    FIELD_STR, TASK_STATUS(phase), .max_length = TASK_PHASE_BYTES_MAX,
     .doc = "Phase to reach: Pending, Running, Succeeded, Failed or Unknown; Running when absent."},
    {0},
};
static const struct schema task_status_schema = {"TaskStatus", task_status_fields, sizeof(struct probe_task_status),
                                                 .doc = "A phase that enough pods of a task must have reached."};

static const struct field probe_fields[] = {
    {"httpGetList",    FIELD_LIST, PROBE(http), &http_schema, .doc = "HTTP requests that must succeed."},
    {"tcpSocketList",  FIELD_LIST, PROBE(tcp), &tcp_schema, .doc = "Connections that must open."},
    {"taskStatusList", FIELD_LIST, PROBE(task_status), &task_status_schema, .doc = "Phases that tasks must have reached."},
    {0},
};
static const struct schema probe_schema = {"Probe", probe_fields, sizeof(struct flow_probe)};

static const struct field depends_fields[] = {
    {"targets",  FIELD_STR_LIST, DEPENDS(targets), .doc = "Steps of the flow this one waits for."},
    {"probe",    FIELD_OBJECT,   DEPENDS(probe), &probe_schema, .doc = "What to wait for instead of completed jobs."},
    {"strategy", FIELD_STR,      DEPENDS(strategy), .one_of = strategy_values,
     .doc = "Whether all targets must be satisfied (the default) or any one."},
    {0},
};
static const struct schema depends_schema = {"DependsOn", depends_fields, sizeof(struct flow_depends)};

/* ---- steps ---- */

/* Overlays two members of struct flow_step. */
struct step_patch {
    json_t *job_spec, *spec;
};
static_assert(STEP(patch_spec) - STEP(patch_job_spec) == offsetof(struct step_patch, spec),
              "patch is read as one struct step_patch");
static const struct field patch_fields[] = {
    {"jobSpec", FIELD_OBJECT, offsetof(struct step_patch, job_spec), &job_patch_schema, .as_json = true,
     .doc = "What differs from the template's spec; merged first."},
    {"spec",    FIELD_OBJECT, offsetof(struct step_patch, spec), &job_patch_schema, .as_json = true,
     .doc = "The same under the name the design documents use."},
    {0},
};
static const struct schema patch_schema = {"Patch", patch_fields, sizeof(struct step_patch)};

/* ---- section 13 ---- */

static const char *const step_failure_values[] = {"fail", "ignore", NULL};
static const char *const flow_failure_values[] = {"stop", "abort", "continue", NULL};
static const char *const template_policy_values[] = {"latest", "pinned", NULL};
static const char *const when_values[] = {"always", "Always", NULL};

static const struct field step_fields[] = {
    {"name",            FIELD_STR,    STEP(name), .required = true, .min_length = 1,
     .doc = "Name of the step; its job is named FLOW-STEP."},
    {"jobTemplateName", FIELD_STR,    STEP(template_name), .max_length = NAME_BYTES_MAX,
     .doc = "JobTemplate of the step; the one of the step's name when absent."},
    {"dependsOn",       FIELD_OBJECT, STEP(depends), &depends_schema, .doc = "What must have happened before."},
    {"patch",           FIELD_INLINE, STEP(patch_job_spec), &patch_schema, .doc = "What differs from the template."},
    {"if",              FIELD_OBJECT, STEP(condition), &flow_condition_schema,
     .doc = "Runs the step only if this holds once its targets have ended in any way; otherwise it is skipped."},
    {"switch",          FIELD_OBJECT, STEP(choice), &flow_switch_schema, .doc = "Chooses among other steps; makes no job."},
    {"for",             FIELD_OBJECT, STEP(loop), &flow_loop_schema, .doc = "Makes a job for each item, named FLOW-STEP-NUMBER."},
    {"retry",           FIELD_OBJECT, STEP(retry), &flow_retry_schema, .doc = "Tries a failed job again."},
    {"failurePolicy",   FIELD_STR,    STEP(failure_policy), .one_of = step_failure_values,
     .doc = "Whether a failure of the step fails the flow (fail, the default), or is let pass: the steps behind it run all the same (ignore)."},
    {"when",            FIELD_STR,    STEP(when), .one_of = when_values,
     .doc = "always: the step runs when the flow ends, whatever its end; absent: when its targets are satisfied."},
    {0},
};
/* What steps have in Argo, Airflow, GitHub Actions, Nextflow, Prefect, Tekton. */
#define WRITE_TARGETS "write dependsOn: {targets: [STEP]}"
#define WRITE_FOR     "write for: {items: [...]}, and $(item) in the patch"
#define WRITE_RETRY   "write retry: {maxRetry: N}"
#define IN_TEMPLATE   "what runs is said in the JobTemplate, and in the patch what differs from it"
static const struct foreign_word step_foreign[] = {
    {"needs",         WRITE_TARGETS},
    {"depends",       WRITE_TARGETS},
    {"dependencies",  WRITE_TARGETS},
    {"after",         WRITE_TARGETS},
    {"runAfter",      WRITE_TARGETS},
    {"upstream",      WRITE_TARGETS},
    {"targets",       WRITE_TARGETS},
    {"template",      "write jobTemplateName"},
    {"templateRef",   "write jobTemplateName"},
    {"templateName",  "write jobTemplateName"},
    {"taskRef",       "write jobTemplateName"},
    {"withItems",     WRITE_FOR},
    {"withParam",     "write for: {itemsFrom: {target: STEP, key: OUTPUT}, maxIterations: N}"},
    {"withSequence",  "write for: {range: {start: N, end: N}}"},
    {"matrix",        WRITE_FOR},
    {"foreach",       WRITE_FOR},
    {"loop",          WRITE_FOR},
    {"items",         WRITE_FOR},
    {"retries",       WRITE_RETRY},
    {"maxRetry",      WRITE_RETRY},
    {"retryStrategy", WRITE_RETRY},
    {"condition",     "write if: {terms: [...]}"},
    {"trigger_rule",  "write if: {terms: [{target: STEP, phases: [...]}]}"},
    {"continueOn",    "write failurePolicy: ignore"},
    {"onFailure",     "a step that runs when another failed has if: {terms: [{target: STEP, phases: [Failed, Terminated]}]}"},
    {"onExit",        "a step that runs at the end has when: always"},
    {"finally",       "a step that runs at the end has when: always"},
    {"arguments",     "write parameters in spec, and $(params.NAME) in the patch"},
    {"params",        "write parameters in spec, and $(params.NAME) in the patch"},
    {"image",         IN_TEMPLATE},
    {"command",       IN_TEMPLATE},
    {"script",        IN_TEMPLATE},
    {"run",           IN_TEMPLATE},
    {"env",           IN_TEMPLATE},
    {"container",     IN_TEMPLATE},
    {"tasks",         IN_TEMPLATE},
    {0},
};
static const struct schema step_schema = {"Flow", step_fields, sizeof(struct flow_step), .foreign = step_foreign};

static const struct field flow_fields[] = {
    {"flows",                   FIELD_LIST,    FLOW(steps), &step_schema, .doc = "The steps."},
    {"jobRetainPolicy",         FIELD_STR,     FLOW(retain_policy), .one_of = retain_values,
     .doc = "Whether jobs are deleted when the flow has succeeded; retain when absent."},
    {"maxRetry",                FIELD_I32,     FLOW(max_retry), NOT_NEGATIVE, .doc = "Attempts of each step after the first; 0 when absent."},
    {"failurePolicy",           FIELD_STR,     FLOW(failure_policy), .one_of = flow_failure_values,
     .doc = "What a failed step means for the others: nothing new starts (stop, the default), what runs is terminated too (abort), or what does not depend on it goes on (continue)."},
    {"templatePolicy",          FIELD_STR,     FLOW(template_policy), .one_of = template_policy_values,
     .doc = "Which version of a template a job is made from: the one of that moment (latest, the default), or the one that was there when the flow was accepted (pinned)."},
    {"gangs",                   FIELD_LIST,    FLOW(gangs), &flow_gang_schema, .doc = "Steps that start together."},
    {"scheduling",              FIELD_OBJECT,  FLOW(scheduling), &flow_scheduling_schema, .doc = "What holds for all jobs."},
    {"parameters",              FIELD_LIST,    FLOW(parameters), &flow_parameter_schema, .merge_key = "name",
     .doc = "Values that patches and conditions use as $(params.NAME)."},
    {"suspend",                 FIELD_BOOL,    FLOW(suspend), .doc = "Starts no further steps while true; may be changed at any time."},
    {"activeDeadlineSeconds",   FIELD_OPT_I64, FLOW(deadline_s), BOUNDS(1, INT32_MAX), .doc = "Ends the flow that long after its first job was made."},
    {"ttlSecondsAfterFinished", FIELD_OPT_I32, FLOW(ttl_s), NOT_NEGATIVE, .doc = "Deletes the finished flow after that time."},
    {0},
};
static const struct foreign_word flow_foreign[] = {
    {"steps",       "write flows"},
    {"tasks",       "write flows"},
    {"jobs",        "write flows"},
    {"dag",         "write flows"},
    {"templates",   "each template is an object of its own: kind: JobTemplate"},
    {"entrypoint",  "the steps are in flows, and begin with those that have no dependsOn"},
    {"arguments",   "write parameters: [{name: NAME, default: VALUE}]"},
    {"params",      "write parameters: [{name: NAME, default: VALUE}]"},
    {"parallelism", "write scheduling: {maxRunningJobs: N}"},
    {"maxParallel", "write scheduling: {maxRunningJobs: N}"},
    {"queue",       "write scheduling: {queue: NAME}"},
    {"timeout",     "write activeDeadlineSeconds"},
    {"onExit",      "a step that runs at the end has when: always"},
    {"finally",     "a step that runs at the end has when: always"},
    {"schedule",    "a flow runs once: whoever creates it says when"},
    {0},
};
const struct schema jobflow_spec_schema = {"JobFlowSpec", flow_fields, sizeof(struct jobflow_spec), .foreign = flow_foreign};

/* ---- status ---- */

static const char *const phase_values[] = {"Pending", "Running", "Succeed", "Failed", "Terminating", "", NULL};

static const struct field history_fields[] = {
    {"startTimestamp", FIELD_TIME, FIELD_PASS, .doc = "When the job entered the state."},
    {"endTimestamp",   FIELD_TIME, FIELD_PASS, .doc = "When it left it."},
    {"state",          FIELD_STR,  FIELD_PASS, .doc = "A phase of the job."},
    {0},
};
static const struct schema history_schema = {"JobRunningHistory", history_fields};

static const struct field job_status_fields[] = {
    {"name",             FIELD_STR,  FIELD_PASS, .doc = "Name of the job."},
    {"state",            FIELD_STR,  FIELD_PASS, .doc = "Phase of the job."},
    {"startTimestamp",   FIELD_TIME, FIELD_PASS, .doc = "When the job was made."},
    {"endTimestamp",     FIELD_TIME, FIELD_PASS, .doc = "When the job finished."},
    {"restartCount",     FIELD_I32,  FIELD_PASS, NOT_NEGATIVE, .doc = "Restarts of the job."},
    {"runningHistories", FIELD_LIST, FIELD_PASS, &history_schema, .doc = "Phases the job has been in."},
    {0},
};
static const struct schema flow_job_status_schema = {"FlowJobStatus", job_status_fields};

static const struct field job_condition_fields[] = {
    {"phase",           FIELD_STR,      FIELD_PASS, .doc = "Phase of the job; Waiting, Blocked, Skipped or Retrying without one."},
    {"createTime",      FIELD_TIME,     FIELD_PASS, .doc = "When the job was made."},
    {"runningDuration", FIELD_DURATION, FIELD_PASS, .doc = "How long the job ran."},
    {"taskStatusCount", FIELD_MAP,      FIELD_PASS, &task_state_schema, .doc = "Pods by task and phase."},
    {0},
};
static const struct schema job_condition_schema = {"FlowCondition", job_condition_fields};

static const struct field attempt_fields[] = {
    {"attempt",   FIELD_I32,  FIELD_PASS, .doc = "Number of the attempt, from 1."},
    {"uid",       FIELD_STR,  FIELD_PASS, .doc = "UID of its job."},
    {"phase",     FIELD_STR,  FIELD_PASS, .doc = "Phase its job ended in."},
    {"startTime", FIELD_TIME, FIELD_PASS, .doc = "When it started."},
    {"endTime",   FIELD_TIME, FIELD_PASS, .doc = "When it ended."},
    {"reason",    FIELD_STR,  FIELD_PASS, .doc = "Why it ended, in one word."},
    {"message",   FIELD_STR,  FIELD_PASS, .doc = "Why it ended, for people."},
    {"restarts",  FIELD_I32,  FIELD_PASS, .doc = "How often its job was restarted."},
    {"exitCodes", FIELD_ANY,  FIELD_PASS, .doc = "Exit codes of its pods by task."},
    {"logs",      FIELD_ANY,  FIELD_PASS, .doc = "The names its logs are kept by: the uid of each pod."},
    {0},
};
static const struct schema attempt_schema = {"Attempt", attempt_fields};

static const struct field node_fields[] = {
    {"name",             FIELD_STR,      FIELD_PASS, .required = true, .doc = "Name of the step."},
    {"phase",            FIELD_STR,      FIELD_PASS, .doc = "Phase of the step."},
    {"jobs",             FIELD_STR_LIST, FIELD_PASS, .doc = "Its jobs."},
    {"attempt",          FIELD_I32,      FIELD_PASS, .doc = "Attempts so far."},
    {"retries",          FIELD_I32,      FIELD_PASS, .doc = "Failed attempts that were tried again; maxRetry bounds them."},
    {"step",             FIELD_STR,      FIELD_PASS, .doc = "Of an iteration of a loop: the step it belongs to."},
    {"iteration",        FIELD_I32,      FIELD_PASS, .doc = "Its number, from 0."},
    {"item",             FIELD_STR,      FIELD_PASS, .doc = "Its item."},
    {"iterations",       FIELD_I32,      FIELD_PASS, .doc = "Of a loop that was given more of them by a retry: how many it may have."},
    {"attempts",         FIELD_LIST,     FIELD_PASS, &attempt_schema, .doc = "Record of each attempt."},
    {"nextRetryTime",    FIELD_TIME,     FIELD_PASS, .doc = "When the next attempt starts."},
    {"case",             FIELD_STR,      FIELD_PASS, .doc = "Case taken by a switch."},
    {"outputs",          FIELD_STR_MAP,  FIELD_PASS, .doc = "Outputs of the step."},
    {"satisfiedTargets", FIELD_STR_LIST, FIELD_PASS, .doc = "Targets whose probes have passed."},
    {"reason",           FIELD_STR,      FIELD_PASS, .doc = "Why the phase is what it is, in one word."},
    {"message",          FIELD_STR,      FIELD_PASS, .doc = "The same for people."},
    {"specHash",         FIELD_STR,      FIELD_PASS, .doc = "Hash of the definition the job was made from."},
    {0},
};
static const struct schema node_schema = {"FlowNode", node_fields};

static const struct field state_fields[] = {
    {"phase",              FIELD_STR,  FIELD_PASS, .one_of = phase_values, .doc = "Phase of the flow."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "Why, in one word."},
    {"message",            FIELD_STR,  FIELD_PASS, .doc = "Why, for people."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .doc = "When the flow entered the phase."},
    {0},
};
static const struct schema state_schema = {"State", state_fields};

static const struct field path_end_fields[] = {
    {"name",      FIELD_STR,  FIELD_PASS, .doc = "Name of the step."},
    {"startTime", FIELD_TIME, FIELD_PASS, .doc = "When its job was made; of a loop, the first of them."},
    {"endTime",   FIELD_TIME, FIELD_PASS, .doc = "When its job ended; of a loop, the last of them."},
    {0},
};
static const struct schema path_end_schema = {"CriticalStep", path_end_fields};

static const struct field path_fields[] = {
    {"steps",    FIELD_I32,      FIELD_PASS, .doc = "How many steps it has."},
    {"ends",     FIELD_LIST,     FIELD_PASS, &path_end_schema, .doc = "Its steps in order; of more than a hundred the first and the last fifty."},
    {"duration", FIELD_DURATION, FIELD_PASS, .doc = "Time its steps took together."},
    {0},
};
static const struct schema path_schema = {"CriticalPath", path_fields};

static const struct field status_fields[] = {
    {"pendingJobs",        FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in phase Pending."},
    {"runningJobs",        FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in phase Running."},
    {"failedJobs",         FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in phase Failed."},
    {"completedJobs",      FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in phase Completed or Completing."},
    {"terminatedJobs",     FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in phase Terminated or Terminating."},
    {"unKnowJobs",         FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs in any other phase."},
    {"waitingJobs",        FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs of steps that wait for others."},
    {"skippedJobs",        FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs of steps that are not run."},
    {"jobStatusList",      FIELD_LIST,     FIELD_PASS, &flow_job_status_schema, .doc = "History of each job."},
    {"conditions",         FIELD_MAP,      FIELD_PASS, &job_condition_schema, .doc = "State of each job, by name."},
    {"state",              FIELD_OBJECT,   FIELD_PASS, &state_schema, .doc = "State of the flow."},
    {"startTime",          FIELD_TIME,     FIELD_PASS, .doc = "When the first job was made."},
    {"completionTime",     FIELD_TIME,     FIELD_PASS, .doc = "When the flow ended."},
    {"observedGeneration", FIELD_I64,      FIELD_PASS, .doc = "Generation of the spec the status is about."},
    {"observedRetry",      FIELD_STR,      FIELD_PASS, .doc = "Value of the annotation volcano.sh/jobFlowRetry that has been acted on."},
    {"nodes",              FIELD_LIST,     FIELD_PASS, &node_schema, .merge_key = "name",
     .doc = "What is known of each step; of large flows the unfinished, failed and retried ones."},
    {"stepCounts",         FIELD_MAP,      FIELD_PASS, .doc = "Number of steps by state."},
    {"results",            FIELD_STR_MAP,  FIELD_PASS, .doc = "Results of the steps of a large flow, as bits by position; and which are at work, when they are too many to be named."},
    {"criticalPath",       FIELD_OBJECT,   FIELD_PASS, &path_schema, .doc = "Of a large flow that is over: the chain of steps that decided how long it took."},
    {0},
};
const struct schema jobflow_status_schema = {"JobFlowStatus", status_fields};
/* clang-format on */
