/*
 * Field tables of JobFlow: spec with steps, dependencies and probes, and status. The tables of
 * conditions, switches, loops, retries, gangs, scheduling and parameters are in control_schema.c.
 * Ref: spec/jobflow.md 2.
 */
#include <assert.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/limits.h"
#include "api/types/schema/enum_text.h"

#define HTTP(member)        offsetof(struct probe_http, member)
#define TCP(member)         offsetof(struct probe_tcp, member)
#define TASK_STATUS(member) offsetof(struct probe_task_status, member)
#define PROBE(member)       offsetof(struct flow_probe, member)
#define DEPENDS(member)     offsetof(struct flow_depends, member)
#define CACHE(member)       offsetof(struct flow_cache, member)
#define APPROVAL(member)    offsetof(struct flow_approval, member)
#define STEP(member)        offsetof(struct flow_step, member)
#define FLOW(member)        offsetof(struct jobflow_spec, member)

enum {
    TASK_PHASE_BYTES_MAX = 63,
    PROBE_SECONDS_MAX = 30,
    SCRIPT_BYTES_MAX = 65536,
    FILES_MAX = 100,
    CACHE_KEY_BYTES_MAX = 4096,
    IMAGE_BYTES_MAX = 1024,
    APPROVAL_MESSAGE_BYTES_MAX = 1024,
    APPROVAL_SECONDS_MAX = 31536000 /* a year */
};

/* clang-format off */
static const char *const retain_values[] = {[RETAIN_POLICY_RETAIN] = "retain", [RETAIN_POLICY_DELETE] = "delete", NULL};
static const char *const scheme_values[] = {"HTTP", "HTTPS", "", NULL};

/* Overlays header_name and header_value of struct probe_http, so that the table of httpHeader fills
 * them in place. */
struct http_header {
    const char *name, *value;
};
static_assert(HTTP(header_value) - HTTP(header_name) == offsetof(struct http_header, value),
              "httpHeader is read as one struct http_header");
static const struct field http_header_fields[] = {
    {"name",  FIELD_STR, offsetof(struct http_header, name), .required = true, .doc = "Name of the header; no header is sent when it is empty."},
    {"value", FIELD_STR, offsetof(struct http_header, value), .required = true, .doc = "Value of the header."},
    {0},
};
static const struct schema http_header_schema = {"HttpHeader", http_header_fields, sizeof(struct http_header)};

static const struct field http_fields[] = {
    {"taskName",       FIELD_STR,    HTTP(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are probed; all tasks when absent."},
    {"path",           FIELD_STR,    HTTP(path), .doc = "Path of the request; / when absent."},
    {"port",           FIELD_I32,    HTTP(port), BOUNDS(0, 65535), .doc = "Port of the pods; 80 when absent."},
    {"httpHeader",     FIELD_INLINE, HTTP(header_name), &http_header_schema, .doc = "Header that is sent with the request."},
    {"scheme",         FIELD_STR,    HTTP(scheme), .one_of = scheme_values,
     .doc = "HTTP (the default), or HTTPS without a check of the certificate."},
    {"timeoutSeconds", FIELD_I32,    HTTP(timeout_s), BOUNDS(0, PROBE_SECONDS_MAX), .doc = "Seconds that one request may take; 1 when absent."},
    {"periodSeconds",  FIELD_I32,    HTTP(period_s), NOT_NEGATIVE, .doc = "Seconds between requests; when absent 1 at first and 5 later."},
    {0},
};
static const struct schema http_schema = {"HttpGet", http_fields, sizeof(struct probe_http),
                                          .doc = "An HTTP GET of each pod that must give a status from 200 to 399."};

static const struct field tcp_fields[] = {
    {"taskName",       FIELD_STR, TCP(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are probed; all tasks when absent."},
    {"port",           FIELD_I32, TCP(port), .required = true, BOUNDS(0, 65535), .doc = "Port of the pods."},
    {"timeoutSeconds", FIELD_I32, TCP(timeout_s), BOUNDS(0, PROBE_SECONDS_MAX), .doc = "Seconds that one connection attempt may take; 1 when absent."},
    {"periodSeconds",  FIELD_I32, TCP(period_s), NOT_NEGATIVE, .doc = "Seconds between connection attempts; when absent 1 at first and 5 later."},
    {0},
};
static const struct schema tcp_schema = {"TcpSocket", tcp_fields, sizeof(struct probe_tcp),
                                         .doc = "A TCP connection to each pod that must open."};

static const struct field task_status_fields[] = {
    {"taskName", FIELD_STR, TASK_STATUS(task), .max_length = NAME_BYTES_MAX,
     .doc = "Task of the target's job whose pods are counted; all tasks when absent."},
    {"phase",    FIELD_STR, TASK_STATUS(phase), .max_length = TASK_PHASE_BYTES_MAX,
     .doc = "Phase that the pods must reach: Pending, Running (the default), Succeeded, Failed or Unknown."},
    {0},
};
static const struct schema task_status_schema = {"TaskStatus", task_status_fields, sizeof(struct probe_task_status),
                                                 .doc = "A phase that enough pods of a task must reach."};

static const struct field probe_fields[] = {
    {"httpGetList",    FIELD_LIST, PROBE(http), &http_schema, .doc = "HTTP requests to the pods that must succeed."},
    {"tcpSocketList",  FIELD_LIST, PROBE(tcp), &tcp_schema, .doc = "TCP connections to the pods that must open."},
    {"taskStatusList", FIELD_LIST, PROBE(task_status), &task_status_schema, .doc = "Phases that the tasks must reach."},
    {0},
};
static const struct schema probe_schema = {"Probe", probe_fields, sizeof(struct flow_probe)};

static const struct field depends_fields[] = {
    {"targets",  FIELD_STR_LIST, DEPENDS(targets), .doc = "Names of the steps that this step waits for."},
    {"probe",    FIELD_OBJECT,   DEPENDS(probe), &probe_schema, .doc = "Probes that replace the wait for the completion of the targets' jobs."},
    {"strategy", FIELD_ENUM,     DEPENDS(strategy), .one_of = flow_strategy_texts,
     .doc = "Whether all targets must be satisfied (the default) or any one."},
    {0},
};
static const struct schema depends_schema = {"DependsOn", depends_fields, sizeof(struct flow_depends)};

/* Overlays patch_job_spec and patch_spec of struct flow_step, so that the table of patch fills them
 * in place. */
struct step_patch {
    json_t *job_spec, *spec;
};
static_assert(STEP(patch_spec) - STEP(patch_job_spec) == offsetof(struct step_patch, spec),
              "patch is read as one struct step_patch");
static const struct field patch_fields[] = {
    {"jobSpec", FIELD_OBJECT, offsetof(struct step_patch, job_spec), &job_patch_schema, .as_json = true,
     .doc = "Changes to the template's spec; merged before patch.spec."},
    {"spec",    FIELD_OBJECT, offsetof(struct step_patch, spec), &job_patch_schema, .as_json = true,
     .doc = "Changes to the template's spec; merged after patch.jobSpec. The design documents of Volcano use this name."},
    {0},
};
static const struct schema patch_schema = {"Patch", patch_fields, sizeof(struct step_patch)};

static const struct field inline_metadata_fields[] = {
    {"labels",      FIELD_STR_MAP, FIELD_PASS, .doc = "Labels of the step's job."},
    {"annotations", FIELD_STR_MAP, FIELD_PASS, .doc = "Annotations of the step's job."},
    {0},
};
static const struct schema inline_metadata_schema = {"InlineTemplateMetadata", inline_metadata_fields};

static const struct field inline_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &inline_metadata_schema, .doc = "Labels and annotations of the step's job."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &job_patch_schema, .required = true,
     .doc = "Specification of the step's job. A task has one replica, and its pods have restartPolicy Never, where nothing else is said."},
    {0},
};
static const struct schema inline_template_schema = {"InlineTemplate", inline_template_fields};

static const char *const step_failure_values[] = {[STEP_FAILURE_FAIL] = "fail", [STEP_FAILURE_IGNORE] = "ignore", NULL};
static const char *const handled_values[] = {[HANDLED_FAILURES_FAIL] = "fail", [HANDLED_FAILURES_SUCCEED] = "succeed", NULL};
static const char *const flow_failure_values[] = {FAILURE_POLICIES(ENUM_TEXT) NULL};
static const char *const template_policy_values[] = {[TEMPLATE_POLICY_LATEST] = "latest", [TEMPLATE_POLICY_PINNED] = "pinned", NULL};
static const char *const when_values[] = {"always", "Always", NULL};

static const char *const until_values[] = {"dependents", NULL};

static const struct field cache_fields[] = {
    {"key",    FIELD_STR,      CACHE(key), .max_length = CACHE_KEY_BYTES_MAX,
     .doc = "A text that also decides: the step runs again when it changes. It may have references."},
    {"maxAge", FIELD_DURATION, CACHE(max_age_ns), BOUNDS(0, INT64_MAX),
     .doc = "Age up to which a result is reused. With 0s the step always runs, and its result is recorded."},
    {0},
};
static const struct schema cache_schema = {"StepCache", cache_fields, sizeof(struct flow_cache)};

static const char *const approval_timeout_values[] = {[APPROVAL_TIMEOUT_FAIL] = "fail", [APPROVAL_TIMEOUT_SKIP] = "skip", NULL};
static const struct field approval_fields[] = {
    {"message",        FIELD_STR,     APPROVAL(message), .max_length = APPROVAL_MESSAGE_BYTES_MAX,
     .doc = "What is to be approved. It may have references."},
    {"timeoutSeconds", FIELD_OPT_I32, APPROVAL(timeout_s), BOUNDS(1, APPROVAL_SECONDS_MAX),
     .doc = "Seconds that the step waits for an answer; without end when absent."},
    {"onTimeout",      FIELD_ENUM,    APPROVAL(on_timeout), .one_of = approval_timeout_values,
     .doc = "End of a step that nobody has answered in time: Failed (fail, the default) or Skipped (skip)."},
    {0},
};
static const struct schema approval_schema = {"Approval", approval_fields, sizeof(struct flow_approval)};

static const struct field step_fields[] = {
    {"name",            FIELD_STR,    STEP(name), .required = true, .min_length = 1,
     .doc = "Name of the step; its job is named FLOW-STEP."},
    {"jobTemplateName", FIELD_STR,    STEP(template_name), .max_length = NAME_BYTES_MAX,
     .doc = "Name of the JobTemplate that the job is made from; the step's name when absent."},
    {"run",             FIELD_STR,    STEP(run), .min_length = 1, .max_length = SCRIPT_BYTES_MAX,
     .doc = "Shell script of the step. Its job has one container, which runs the script with /bin/sh -ec. The script has no references; it reads the variables of env."},
    {"image",           FIELD_STR,    STEP(image), .max_length = IMAGE_BYTES_MAX, .doc = "Image of the container that runs the script."},
    {"env",             FIELD_LIST,   STEP(env), &env_var_schema, .as_json = true, .merge_key = "name",
     .doc = "Environment variables of the script. Their values may have references."},
    {"jobTemplate",     FIELD_OBJECT, STEP(job_template), &inline_template_schema, .as_json = true,
     .doc = "The template of the step's job, written here instead of in a JobTemplate of its own. Its strings may have references."},
    {"dependsOn",       FIELD_OBJECT, STEP(depends), &depends_schema, .doc = "Steps and probes that this step waits for."},
    {"patch",           FIELD_INLINE, STEP(patch_job_spec), &patch_schema, .doc = "Changes to the template for the job of this step."},
    {"if",              FIELD_OBJECT, STEP(condition), &flow_condition_schema,
     .doc = "Condition that is evaluated when all targets have ended. The step is skipped when it is false."},
    {"switch",          FIELD_OBJECT, STEP(choice), &flow_switch_schema, .doc = "Chooses which other steps run. A step with a switch makes no job."},
    {"approve",         FIELD_OBJECT, STEP(approval), &approval_schema,
     .doc = "Waits until somebody approves the step with jobflow approve, or rejects it with jobflow reject. Such a step makes no job."},
    {"for",             FIELD_OBJECT, STEP(loop), &flow_loop_schema, .doc = "Loop that makes one job for each item, named FLOW-STEP-NUMBER."},
    {"reads",           FIELD_STR_LIST, STEP(reads), .max_length = FILES_MAX,
     .doc = "Files that the step reads: paths, directories with all that is in them, or patterns with *, ?, [...] and ** for directories at any depth. A relative one begins at the working directory of the step's first container."},
    {"writes",          FIELD_STR_LIST, STEP(writes), .max_length = FILES_MAX,
     .doc = "Files that the step writes, written as in reads."},
    {"cache",           FIELD_OBJECT, STEP(cache), &cache_schema,
     .doc = "Lets the step be reused: it does not run when it has run before with the same job, the same inputs and the same results of its targets, and when what it wrote is still there."},
    {"retry",           FIELD_OBJECT, STEP(retry), &flow_retry_schema, .doc = "Says when and how often a failed job is tried again."},
    {"failurePolicy",   FIELD_ENUM,   STEP(failure_policy), .one_of = step_failure_values,
     .doc = "Says whether a failure of the step fails the flow (fail, the default) or is ignored, so that dependent steps run all the same (ignore)."},
    {"until",           FIELD_ENUM,   STEP(until), .one_of = until_values, .first_value = UNTIL_DEPENDENTS,
     .doc = "With dependents, the step serves those that depend on it: they start when its pods are ready, and its job is completed when they have ended."},
    {"when",            FIELD_ENUM,   STEP(when), .one_of = when_values, .first_value = WHEN_ALWAYS,
     .doc = "With always, the step runs at the end of the flow, in success and failure. When absent, it runs when its targets are satisfied."},
    {0},
};
/* Members that steps have in Argo, Airflow, GitHub Actions, Nextflow, Prefect and Tekton, with the
 * advice that is given when one of them appears here. */
#define WRITE_TARGETS "write dependsOn: {targets: [STEP]}"
#define WRITE_FOR     "write for: {items: [...]}, and $(item) in template or patch"
#define WRITE_RETRY   "write retry: {maxRetry: N}"
#define IN_TEMPLATE   "write it in a template (jobTemplate, or a JobTemplate that jobTemplateName names), or in the step's patch"
#define WRITE_RUN     "write run: with a shell script"
#define WRITE_APPROVE "write approve: {message: TEXT}"
static const struct foreign_word step_foreign[] = {
    {"needs",         WRITE_TARGETS},
    {"depends",       WRITE_TARGETS},
    {"dependencies",  WRITE_TARGETS},
    {"after",         WRITE_TARGETS},
    {"runAfter",      WRITE_TARGETS},
    {"upstream",      WRITE_TARGETS},
    {"targets",       WRITE_TARGETS},
    {"template",      "write jobTemplate (here) or jobTemplateName (by name)"},
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
    {"arguments",     "write parameters in spec, and $(params.NAME) in template or patch"},
    {"params",        "write parameters in spec, and $(params.NAME) in template or patch"},
    {"script",        WRITE_RUN},
    {"sh",            WRITE_RUN},
    {"shell",         WRITE_RUN},
    {"cmd",           WRITE_RUN},
    {"command",       WRITE_RUN},
    {"environment",   "write env: [{name: NAME, value: VALUE}]"},
    {"approval",      WRITE_APPROVE},
    {"manual",        WRITE_APPROVE},
    {"gate",          WRITE_APPROVE},
    {"daemon",        "write until: dependents"},
    {"service",       "write until: dependents"},
    {"container",     IN_TEMPLATE},
    {"tasks",         IN_TEMPLATE},
    {0},
};
static const struct schema step_schema = {"Flow", step_fields, sizeof(struct flow_step), .foreign = step_foreign};

static const struct field flow_fields[] = {
    {"flows",                   FIELD_LIST,    FLOW(steps), &step_schema, .doc = "Steps of the flow."},
    {"jobRetainPolicy",         FIELD_ENUM,    FLOW(retain_policy), .one_of = retain_values,
     .doc = "Says whether jobs are kept (retain, the default) or deleted (delete) when the flow has succeeded."},
    {"maxRetry",                FIELD_I32,     FLOW(max_retry), NOT_NEGATIVE, .doc = "Number of further attempts that each step has after the first; 0 when absent."},
    {"failurePolicy",           FIELD_ENUM,    FLOW(failure_policy), .one_of = flow_failure_values,
     .doc = "Effect of a failed step. stop (the default): no further step starts. abort: running jobs are terminated as well. continue: steps that do not depend on the failed one go on."},
    {"handledFailures",         FIELD_ENUM,    FLOW(handled_failures), .one_of = handled_values,
     .doc = "End of a flow in which other steps have handled every failure: Failed (fail, the default) or Succeed (succeed)."},
    {"templatePolicy",          FIELD_ENUM,    FLOW(template_policy), .one_of = template_policy_values,
     .doc = "Version of a template that jobs are made from: the newest one (latest, the default), or the one that existed when the flow was accepted (pinned)."},
    {"gangs",                   FIELD_LIST,    FLOW(gangs), &flow_gang_schema, .doc = "Groups of steps that start together."},
    {"scheduling",              FIELD_OBJECT,  FLOW(scheduling), &flow_scheduling_schema, .doc = "Scheduling settings of all jobs of the flow."},
    {"parameters",              FIELD_LIST,    FLOW(parameters), &flow_parameter_schema, .merge_key = "name",
     .doc = "Values that templates, patches and conditions refer to as $(params.NAME)."},
    {"suspend",                 FIELD_BOOL,    FLOW(suspend), .doc = "Keeps further steps from starting while it is true. It may change at any time."},
    {"activeDeadlineSeconds",   FIELD_OPT_I64, FLOW(deadline_s), BOUNDS(1, INT32_MAX), .doc = "Seconds after the creation of the first job when an unfinished flow is ended."},
    {"ttlSecondsAfterFinished", FIELD_OPT_I32, FLOW(ttl_s), NOT_NEGATIVE, .doc = "Seconds after its end when a finished flow is deleted."},
    {0},
};
static const struct foreign_word flow_foreign[] = {
    {"steps",       "write flows"},
    {"tasks",       "write flows"},
    {"jobs",        "write flows"},
    {"dag",         "write flows"},
    {"templates",   "each template is an object of its own: kind: JobTemplate"},
    {"entrypoint",  "the steps without dependsOn start first"},
    {"arguments",   "write parameters: [{name: NAME, default: VALUE}]"},
    {"params",      "write parameters: [{name: NAME, default: VALUE}]"},
    {"parallelism", "write scheduling: {maxRunningJobs: N}"},
    {"maxParallel", "write scheduling: {maxRunningJobs: N}"},
    {"queue",       "write scheduling: {queue: NAME}"},
    {"timeout",     "write activeDeadlineSeconds"},
    {"onExit",      "a step that runs at the end has when: always"},
    {"finally",     "a step that runs at the end has when: always"},
    {"schedule",    "a flow runs once, when it is created"},
    {0},
};
const struct schema jobflow_spec_schema = {"JobFlowSpec", flow_fields, sizeof(struct jobflow_spec), .foreign = flow_foreign};


static const char *const phase_values[] = {"Pending", "Running", "Succeed", "Failed", "Terminating", "", NULL};

static const struct field history_fields[] = {
    {"startTimestamp", FIELD_TIME, FIELD_PASS, .doc = "Time when the job entered the state."},
    {"endTimestamp",   FIELD_TIME, FIELD_PASS, .doc = "Time when the job left the state."},
    {"state",          FIELD_STR,  FIELD_PASS, .doc = "Phase that the job was in."},
    {0},
};
static const struct schema history_schema = {"JobRunningHistory", history_fields};

static const struct field job_status_fields[] = {
    {"name",             FIELD_STR,  FIELD_PASS, .doc = "Name of the job."},
    {"state",            FIELD_STR,  FIELD_PASS, .doc = "Phase of the job."},
    {"startTimestamp",   FIELD_TIME, FIELD_PASS, .doc = "Time when the job was created."},
    {"endTimestamp",     FIELD_TIME, FIELD_PASS, .doc = "Time when the job finished."},
    {"restartCount",     FIELD_I32,  FIELD_PASS, NOT_NEGATIVE, .doc = "Number of restarts of the job."},
    {"runningHistories", FIELD_LIST, FIELD_PASS, &history_schema, .doc = "Phases the job has been in."},
    {0},
};
static const struct schema flow_job_status_schema = {"FlowJobStatus", job_status_fields};

static const struct field job_condition_fields[] = {
    {"phase",           FIELD_STR,      FIELD_PASS, .doc = "Phase of the job. A step without a job is Waiting, Blocked, Skipped or Retrying."},
    {"createTime",      FIELD_TIME,     FIELD_PASS, .doc = "Time when the job was created."},
    {"runningDuration", FIELD_DURATION, FIELD_PASS, .doc = "Time that the job has run."},
    {"taskStatusCount", FIELD_MAP,      FIELD_PASS, &task_state_schema, .doc = "Pods by task and phase."},
    {0},
};
static const struct schema job_condition_schema = {"FlowCondition", job_condition_fields};

static const struct field attempt_fields[] = {
    {"attempt",   FIELD_I32,  FIELD_PASS, .doc = "Number of the attempt, from 1."},
    {"uid",       FIELD_STR,  FIELD_PASS, .doc = "UID of the attempt's job."},
    {"phase",     FIELD_STR,  FIELD_PASS, .doc = "Phase that the attempt's job ended in."},
    {"startTime", FIELD_TIME, FIELD_PASS, .doc = "Time when the attempt started."},
    {"endTime",   FIELD_TIME, FIELD_PASS, .doc = "Time when the attempt ended."},
    {"reason",    FIELD_STR,  FIELD_PASS, .doc = "One-word reason for the end of the attempt."},
    {"message",   FIELD_STR,  FIELD_PASS, .doc = "Text that explains the end of the attempt."},
    {"restarts",  FIELD_I32,  FIELD_PASS, .doc = "Number of restarts of the attempt's job."},
    {"exitCodes", FIELD_ANY,  FIELD_PASS, .doc = "Exit codes of the attempt's pods by task."},
    {"logs",      FIELD_ANY,  FIELD_PASS, .doc = "UIDs of the attempt's pods, under which its logs are kept."},
    {0},
};
static const struct schema attempt_schema = {"Attempt", attempt_fields};

static const struct field cached_from_fields[] = {
    {"entry", FIELD_STR,  FIELD_PASS, .doc = "Name of the CacheEntry."},
    {"key",   FIELD_STR,  FIELD_PASS, .doc = "Key of the CacheEntry."},
    {"flow",  FIELD_STR,  FIELD_PASS, .doc = "JobFlow whose step did the work."},
    {"job",   FIELD_STR,  FIELD_PASS, .doc = "Job that did the work."},
    {"uid",   FIELD_STR,  FIELD_PASS, .doc = "UID of that job."},
    {"time",  FIELD_TIME, FIELD_PASS, .doc = "Time when that job had completed."},
    {0},
};
static const struct schema cached_from_schema = {"CachedFrom", cached_from_fields};

static const struct field node_fields[] = {
    {"name",             FIELD_STR,      FIELD_PASS, .required = true, .doc = "Name of the step."},
    {"phase",            FIELD_STR,      FIELD_PASS, .doc = "Phase of the step."},
    {"jobs",             FIELD_STR_LIST, FIELD_PASS, .doc = "Names of the step's jobs."},
    {"attempt",          FIELD_I32,      FIELD_PASS, .doc = "Number of attempts so far."},
    {"retries",          FIELD_I32,      FIELD_PASS, .doc = "Number of failed attempts that were tried again; maxRetry bounds it."},
    {"step",             FIELD_STR,      FIELD_PASS, .doc = "Name of the loop step that this iteration belongs to."},
    {"iteration",        FIELD_I32,      FIELD_PASS, .doc = "Number of the iteration, from 0."},
    {"item",             FIELD_STR,      FIELD_PASS, .doc = "Item of the iteration."},
    {"iterations",       FIELD_I32,      FIELD_PASS, .doc = "Number of iterations that the loop may have, when a retry has raised it."},
    {"duration",         FIELD_STR,      FIELD_PASS, .doc = "Time that a loop took, from its first job to its end. Not set for a loop that began before its daemon did."},
    {"attempts",         FIELD_LIST,     FIELD_PASS, &attempt_schema, .doc = "Record of each attempt."},
    {"nextRetryTime",    FIELD_TIME,     FIELD_PASS, .doc = "Time when the next attempt starts."},
    {"case",             FIELD_STR,      FIELD_PASS, .doc = "Name of the case that the switch has taken."},
    {"outputs",          FIELD_STR_MAP,  FIELD_PASS, .doc = "Outputs of the step by key."},
    {"satisfiedTargets", FIELD_STR_LIST, FIELD_PASS, .doc = "Targets whose probes have passed."},
    {"reason",           FIELD_STR,      FIELD_PASS, .doc = "One-word reason for the step's phase."},
    {"message",          FIELD_STR,      FIELD_PASS, .doc = "Text that explains the step's phase."},
    {"askedTime",        FIELD_TIME,     FIELD_PASS, .doc = "Time when the step began to wait for its approval."},
    {"cachedFrom",       FIELD_OBJECT,   FIELD_PASS, &cached_from_schema, .doc = "The work that the step reuses. Set only on a step that did not run for that reason."},
    {"reuse",            FIELD_STR,      FIELD_PASS, .doc = "Why the step runs although it may be reused, or why its result was not recorded."},
    {"kept",             FIELD_BOOL,     FIELD_PASS, .doc = "True when the latest rerun of the flow has named other steps and left this one as it was."},
    {"specHash",         FIELD_STR,      FIELD_PASS, .doc = "Hash of the step definition that the job was made from."},
    {0},
};
static const struct schema node_schema = {"FlowNode", node_fields};

static const struct field state_fields[] = {
    {"phase",              FIELD_STR,  FIELD_PASS, .one_of = phase_values, .doc = "Phase of the flow."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "One-word reason for the flow's phase."},
    {"message",            FIELD_STR,  FIELD_PASS, .doc = "Text that explains the flow's phase."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .doc = "Time when the flow entered the phase."},
    {0},
};
static const struct schema state_schema = {"State", state_fields};

static const struct field path_end_fields[] = {
    {"name",      FIELD_STR,  FIELD_PASS, .doc = "Name of the step."},
    {"startTime", FIELD_TIME, FIELD_PASS, .doc = "Time when the step's first job was created."},
    {"endTime",   FIELD_TIME, FIELD_PASS, .doc = "Time when the step's last job ended."},
    {0},
};
static const struct schema path_end_schema = {"CriticalStep", path_end_fields};

static const struct field path_fields[] = {
    {"steps",    FIELD_I32,      FIELD_PASS, .doc = "Number of steps on the path."},
    {"ends",     FIELD_LIST,     FIELD_PASS, &path_end_schema, .doc = "Steps on the path in order. A path of more than a hundred steps lists the first and the last fifty."},
    {"duration", FIELD_DURATION, FIELD_PASS, .doc = "Time that was spent in the steps on the path. A step that still ran when the next one began counts until then."},
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
    {"skippedJobs",        FIELD_STR_LIST, FIELD_PASS, .doc = "Jobs of steps that were skipped."},
    {"jobStatusList",      FIELD_LIST,     FIELD_PASS, &flow_job_status_schema, .doc = "History of each job."},
    {"conditions",         FIELD_MAP,      FIELD_PASS, &job_condition_schema, .doc = "State of each job by name."},
    {"state",              FIELD_OBJECT,   FIELD_PASS, &state_schema, .doc = "State of the flow."},
    {"ending",             FIELD_STR,      FIELD_PASS, .doc = "Phase in which the flow will end, once that is decided and only its final steps have still to run."},
    {"startTime",          FIELD_TIME,     FIELD_PASS, .doc = "Time when the first job was created."},
    {"completionTime",     FIELD_TIME,     FIELD_PASS, .doc = "Time when the flow ended."},
    {"duration",           FIELD_STR,      FIELD_PASS, .doc = "Time from the first job to the end, finer than the two times above."},
    {"observedGeneration", FIELD_I64,      FIELD_PASS, .doc = "Generation of the spec that the status describes."},
    {"observedRetry",      FIELD_STR,      FIELD_PASS, .doc = "Value of the annotation volcano.sh/jobFlowRetry that started the latest manual retry."},
    {"nodes",              FIELD_LIST,     FIELD_PASS, &node_schema, .merge_key = "name",
     .doc = "State of each step. A large flow lists only unfinished, failed and retried steps."},
    {"stepCounts",         FIELD_MAP,      FIELD_PASS, .doc = "Number of steps by state. In a flow with loops the iterations are counted in place of their loop; steps and completedSteps count each loop once."},
    {"results",            FIELD_STR_MAP,  FIELD_PASS, .doc = "Results of the steps of a large flow, as bits by position of the step. The running steps are listed the same way when nodes does not name them all."},
    {"criticalPath",       FIELD_OBJECT,   FIELD_PASS, &path_schema, .doc = "Chain of steps that decided how long the flow took. Set when the flow has ended."},
    {0},
};
const struct schema jobflow_status_schema = {"JobFlowStatus", status_fields};
/* clang-format on */
