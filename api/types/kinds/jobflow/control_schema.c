/*
 * Field tables of everything that controls a flow besides dependencies: conditions, switches,
 * loops, retries, gangs, scheduling and parameters. Ref: spec/jobflow.md 13.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/limits.h"

#define TERM_STATUS(member) offsetof(struct term_task_status, member)
#define EXIT_CODE(member)   offsetof(struct exit_code_rule, member)
#define VALUE(member)       offsetof(struct term_value, member)
#define TERM(member)        offsetof(struct flow_term, member)
#define CONDITION(member)   offsetof(struct flow_condition, member)
#define CASE(member)        offsetof(struct flow_case, member)
#define SWITCH(member)      offsetof(struct flow_switch, member)
#define RANGE(member)       offsetof(struct flow_range, member)
#define LOOP(member)        offsetof(struct flow_loop, member)
#define ITEMS_FROM(member)  offsetof(struct flow_items_from, member)
#define RETRY(member)       offsetof(struct flow_retry, member)
#define GANG(member)        offsetof(struct flow_gang, member)
#define SCHEDULING(member)  offsetof(struct flow_scheduling, member)
#define PARAMETER(member)   offsetof(struct flow_parameter, member)

enum { OUTPUT_KEY_MAX = 63, PARAMETER_VALUE_MAX = 4096 };

/* clang-format off */
const char *const flow_strategy_texts[] = {[STRATEGY_ALL] = "all", [STRATEGY_ANY] = "any", NULL};
const char *const code_operator_texts[] = {
    [CODE_IN] = "In", [CODE_NOT_IN] = "NotIn", [CODE_GT] = "Gt", [CODE_LT] = "Lt", NULL};
const char *const value_operator_texts[] = {
    [VALUE_IN] = "In", [VALUE_NOT_IN] = "NotIn", [VALUE_EXISTS] = "Exists", [VALUE_DOES_NOT_EXIST] = "DoesNotExist",
    [VALUE_GT] = "Gt", [VALUE_LT] = "Lt", NULL};
static const char *const order_values[] = {[ORDER_LIST] = "list", [ORDER_CRITICAL_PATH] = "criticalPath", NULL};
static const char *const final_phase_values[] = {"Completed", "Failed", "Terminated", "Skipped", NULL};
static const char *const retry_phase_values[] = {"Failed", "Terminated", "Aborted", NULL};


static const struct field term_status_fields[] = {
    {"taskName", FIELD_STR,     TERM_STATUS(task), .required = true, .doc = "Task of the target's job."},
    {"phase",    FIELD_STR,     TERM_STATUS(phase), .required = true, .doc = "Phase that pods of the task ended in, such as Succeeded or Failed."},
    {"minCount", FIELD_OPT_I32, TERM_STATUS(min_count), NOT_NEGATIVE, .doc = "Number of pods that must have ended in the phase; 1 when absent."},
    {0},
};
static const struct schema term_status_schema = {"TermTaskStatus", term_status_fields, sizeof(struct term_task_status)};

static const struct field term_code_fields[] = {
    {"taskName", FIELD_STR, EXIT_CODE(task), .doc = "Task of the target's job whose pod 0 counts; the first task when absent."},
    {"operator", FIELD_ENUM, EXIT_CODE(op), .one_of = code_operator_texts, .doc = "How the exit code relates to the values; In when absent."},
    {"values",   FIELD_ANY, EXIT_CODE(values), .required = true, .doc = "List of exit codes."},
    {0},
};
static const struct schema term_code_schema = {"TermExitCode", term_code_fields, sizeof(struct exit_code_rule)};

static const struct field term_output_fields[] = {
    {"key",      FIELD_STR,      VALUE(key), .required = true, .min_length = 1, .max_length = OUTPUT_KEY_MAX, .doc = "Key of an output of the target."},
    {"operator", FIELD_ENUM,     VALUE(op), .one_of = value_operator_texts, .doc = "How it relates to the values; In when absent."},
    {"values",   FIELD_STR_LIST, VALUE(values), .doc = "Values that the operator compares with."},
    {0},
};
static const struct schema term_output_schema = {"TermOutput", term_output_fields, sizeof(struct term_value)};

static const struct field term_parameter_fields[] = {
    {"name",     FIELD_STR,      VALUE(key), .required = true, .min_length = 1, .max_length = OUTPUT_KEY_MAX, .doc = "Name of a parameter of the flow."},
    {"operator", FIELD_ENUM,     VALUE(op), .one_of = value_operator_texts, .doc = "How it relates to the values; In when absent."},
    {"values",   FIELD_STR_LIST, VALUE(values), .doc = "Values that the operator compares with."},
    {0},
};
static const struct schema term_parameter_schema = {"TermParameter", term_parameter_fields, sizeof(struct term_value)};

static const struct field term_fields[] = {
    {"target",     FIELD_STR,      TERM(target), .doc = "Step that the term describes. This step must wait for it, directly or through other steps."},
    {"not",        FIELD_BOOL,     TERM(negate), .doc = "Negates the term."},
    {"phases",     FIELD_STR_LIST, TERM(phases), .one_of = final_phase_values, .doc = "The target ended in one of these phases."},
    {"taskStatus", FIELD_OBJECT,   TERM(task_status), &term_status_schema, .doc = "Enough pods of a task ended in a phase."},
    {"exitCode",   FIELD_OBJECT,   TERM(exit_code), &term_code_schema, .doc = "The exit code of a task matches."},
    {"output",     FIELD_OBJECT,   TERM(output), &term_output_schema, .doc = "An output of the target matches."},
    {"parameter",  FIELD_OBJECT,   TERM(parameter), &term_parameter_schema, .doc = "A parameter of the flow matches. Such a term has no target."},
    {0},
};
static const struct schema term_schema = {"Term", term_fields, sizeof(struct flow_term),
                                          .doc = "One statement: exactly one of phases, taskStatus, exitCode, output and parameter."};

static const struct field condition_fields[] = {
    {"strategy", FIELD_ENUM, CONDITION(strategy), .one_of = flow_strategy_texts, .doc = "Whether all terms must hold (the default) or any one."},
    {"terms",    FIELD_LIST, CONDITION(terms), &term_schema, .required = true, .min_length = 1, .doc = "Statements that the condition combines."},
    {0},
};
const struct schema flow_condition_schema = {"Condition", condition_fields, sizeof(struct flow_condition)};


static const struct field case_fields[] = {
    {"name",  FIELD_STR,      CASE(name), .required = true, .min_length = 1, .max_length = NAME_BYTES_MAX, .doc = "Name of the case."},
    {"if",    FIELD_OBJECT,   CASE(condition), &flow_condition_schema, .required = true, .doc = "Condition under which the case is taken."},
    {"flows", FIELD_STR_LIST, CASE(steps), .doc = "Steps that run when the case is taken."},
    {0},
};
static const struct schema case_schema = {"Case", case_fields, sizeof(struct flow_case)};

static const struct field switch_fields[] = {
    {"cases",   FIELD_LIST,     SWITCH(cases), &case_schema, .doc = "Cases in order. The first case whose condition holds is taken."},
    {"default", FIELD_STR_LIST, SWITCH(default_steps), .doc = "Steps that run when no case holds."},
    {0},
};
const struct schema flow_switch_schema = {"Switch", switch_fields, sizeof(struct flow_switch)};


static const struct field range_fields[] = {
    {"start", FIELD_I64,     RANGE(start), .doc = "First value; 0 when absent."},
    {"end",   FIELD_I64,     RANGE(end), .required = true, .doc = "First value beyond the range; it is not part of it."},
    {"step",  FIELD_OPT_I64, RANGE(step), .doc = "Difference between consecutive values; 1 when absent."},
    {0},
};
static const struct schema range_schema = {"Range", range_fields, sizeof(struct flow_range)};

static const struct field items_from_fields[] = {
    {"target", FIELD_STR, ITEMS_FROM(target), .required = true, .min_length = 1, .doc = "Step that puts out the items. This step must wait for it, directly or through other steps."},
    {"key",    FIELD_STR, ITEMS_FROM(key), .required = true, .min_length = 1, .max_length = OUTPUT_KEY_MAX, .doc = "Key of the output that holds the items: a JSON list, or texts separated by commas."},
    {0},
};
static const struct schema items_from_schema = {"ItemsFrom", items_from_fields, sizeof(struct flow_items_from)};

static const char *const loop_failure_values[] = {"stop", "continue", NULL};
static const struct field loop_fields[] = {
    {"items",         FIELD_STR_LIST, LOOP(items), .max_length = LOOP_ITERATIONS_MAX, .doc = "Items of the loop; each one makes a job."},
    {"itemsFrom",     FIELD_OBJECT,   LOOP(items_from), &items_from_schema, .doc = "Takes the items from an output of an earlier step."},
    {"range",         FIELD_OBJECT,   LOOP(range), &range_schema, .doc = "Numbers of the loop; each one makes a job."},
    {"until",         FIELD_OBJECT,   LOOP(until), &flow_condition_schema, .doc = "Runs one job after another until this condition on the step itself holds."},
    {"parallelism",   FIELD_I32,      LOOP(parallelism), NOT_NEGATIVE, .doc = "Number of jobs that may run at the same time; all when absent or 0."},
    {"maxIterations", FIELD_I32,      LOOP(max_iterations), BOUNDS(1, LOOP_ITERATIONS_MAX), .doc = "Largest number of jobs of a loop with until or itemsFrom. The step fails when it needs more."},
    {"maxFailures",   FIELD_I32, LOOP(max_failures), NOT_NEGATIVE, .doc = "Number of iterations that may fail: with at most so many the loop completes; 0 when absent."},
    {"failurePolicy", FIELD_ENUM, LOOP(failure_policy), .one_of = loop_failure_values,
     .doc = "What happens when more iterations have failed than maxFailures: with stop (the default) the loop fails and starts no more, with continue it fails when all have ended."},
    {0},
};
const struct schema flow_loop_schema = {"For", loop_fields, sizeof(struct flow_loop)};


static const struct field retry_codes_fields[] = {
    {"taskName", FIELD_STR, EXIT_CODE(task), .doc = "Task whose pod 0 counts. The first pod that failed counts when it is absent."},
    {"operator", FIELD_ENUM, EXIT_CODE(op), .one_of = code_operator_texts, .doc = "How the exit code relates to the values; In when absent."},
    {"values",   FIELD_ANY, EXIT_CODE(values), .required = true, .doc = "List of exit codes."},
    {0},
};
static const struct schema retry_codes_schema = {"RetryExitCodes", retry_codes_fields, sizeof(struct exit_code_rule)};

static const struct field retry_fields[] = {
    {"maxRetry",          FIELD_OPT_I32,  RETRY(max_retry), NOT_NEGATIVE, .doc = "Number of further attempts after the first; the flow's maxRetry when absent."},
    {"phases",            FIELD_STR_LIST, RETRY(phases), .one_of = retry_phase_values, .doc = "Phases of a job that is tried again; Failed and Terminated when absent."},
    {"exitCodes",         FIELD_OBJECT,   RETRY(exit_codes), &retry_codes_schema, .doc = "Exit codes of a job that is tried again; all when absent."},
    {"backoffSeconds",    FIELD_OPT_I32,  RETRY(backoff_s), BOUNDS(0, 86400), .doc = "Seconds to wait before the second attempt; 10 when absent."},
    {"backoffFactor",     FIELD_OPT_I32,  RETRY(factor), BOUNDS(1, 10), .doc = "Factor by which the wait grows with each attempt; 2 when absent."},
    {"maxBackoffSeconds", FIELD_OPT_I32,  RETRY(max_backoff_s), BOUNDS(0, 86400), .doc = "Longest wait between two attempts in seconds; 300 when absent."},
    {0},
};
/* Members that retries have in Argo, Airflow, Prefect and in shells' `retry` programs. */
#define WRITE_MAX_RETRY "write maxRetry: the attempts after the first"
static const struct foreign_word retry_foreign[] = {
    {"limit",       WRITE_MAX_RETRY},
    {"attempts",    WRITE_MAX_RETRY},
    {"maxAttempts", WRITE_MAX_RETRY},
    {"retries",     WRITE_MAX_RETRY},
    {"times",       WRITE_MAX_RETRY},
    {"count",       WRITE_MAX_RETRY},
    {"backoff",     "write backoffSeconds, backoffFactor and maxBackoffSeconds"},
    {"delay",       "write backoffSeconds"},
    {"retryPolicy", "write phases: [...] or exitCodes: {operator: In, values: [...]}"},
    {0},
};
const struct schema flow_retry_schema = {"Retry", retry_fields, sizeof(struct flow_retry), .foreign = retry_foreign};


static const struct field gang_fields[] = {
    {"name",         FIELD_STR,      GANG(name), .required = true, .min_length = 1, .max_length = LABEL_BYTES_MAX, .doc = "Name of the gang."},
    {"flows",        FIELD_STR_LIST, GANG(steps), .required = true, .min_length = 1, .doc = "Steps that start together."},
    {"minAvailable", FIELD_OPT_I32,  GANG(min_available), BOUNDS(1, INT32_MAX), .doc = "Number of steps that must be able to start together; all when absent."},
    {0},
};
const struct schema flow_gang_schema = {"Gang", gang_fields, sizeof(struct flow_gang)};

static const struct field scheduling_fields[] = {
    {"queue",             FIELD_STR,          SCHEDULING(queue), .max_length = NAME_BYTES_MAX, .doc = "Queue of all jobs. It overrides the template's queue; a step's patch overrides it."},
    {"priorityClassName", FIELD_STR,          SCHEDULING(priority_class), .max_length = NAME_BYTES_MAX, .doc = "Priority class of all jobs. It overrides the template's; a step's patch overrides it."},
    {"schedulerName",     FIELD_STR,          SCHEDULING(scheduler_name), .max_length = LABEL_BYTES_MAX, .doc = "Scheduler of all jobs. It overrides the template's; a step's patch overrides it."},
    {"networkTopology",   FIELD_OBJECT,       SCHEDULING(network_topology), &network_topology_schema, .as_json = true, .doc = "Network topology of all jobs. It overrides the template's; a step's patch overrides it."},
    {"plugins",           FIELD_STR_LIST_MAP, SCHEDULING(plugins), .as_json = true, .doc = "Plugins that are added to all jobs. A plugin of the same name in the template overrides it."},
    {"maxRunningJobs",    FIELD_I32,          SCHEDULING(max_running), BOUNDS(1, INT32_MAX), .doc = "Largest number of unfinished jobs at the same time; no limit when absent."},
    {"order",             FIELD_ENUM,         SCHEDULING(order), .one_of = order_values,
     .doc = "Order in which ready steps start when maxRunningJobs holds them back: by position in the list (list, the default), or the longest remaining path by runningEstimate first (criticalPath)."},
    {0},
};
const struct schema flow_scheduling_schema = {"FlowScheduling", scheduling_fields, sizeof(struct flow_scheduling)};

static const struct field parameter_fields[] = {
    {"name",        FIELD_STR, PARAMETER(name), .required = true, .min_length = 1, .max_length = OUTPUT_KEY_MAX, .doc = "Name of the parameter, as in $(params.NAME)."},
    {"value",       FIELD_STR, PARAMETER(value), .max_length = PARAMETER_VALUE_MAX, .doc = "Value of the parameter; jobflow run -p NAME=VALUE sets it."},
    {"default",     FIELD_STR, PARAMETER(fallback), .max_length = PARAMETER_VALUE_MAX, .doc = "Value that the parameter has when none is given."},
    {"description", FIELD_STR, FIELD_PASS, .max_length = PARAMETER_VALUE_MAX, .doc = "Purpose of the parameter."},
    {0},
};
const struct schema flow_parameter_schema = {"FlowParameter", parameter_fields, sizeof(struct flow_parameter)};
/* clang-format on */
