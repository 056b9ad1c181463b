/*
 * The kind FlowTrigger: field tables, decoded forms, and the names of the flows that it makes. Its
 * admission is in flowtrigger_check.c.
 */
#include "api/types/kinds/schedule/flowtrigger.h"

#include <inttypes.h>

#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/schedule/internal.h"
#include "api/types/kinds/schedule/timing.h"
#include "base/collections/hash.h"
#include "base/mem.h"

#define SPEC(member)     offsetof(struct trigger_spec, member)
#define SCHEDULE(member) offsetof(struct trigger_schedule, member)
#define STATUS(member)   offsetof(struct trigger_status, member)
#define BACKFILL(member) offsetof(struct trigger_backfill, member)

#define TRIGGER_TEXT(name, text) text,
static const char *const cause_texts[] = {TRIGGER_CAUSES(TRIGGER_TEXT)};
#undef TRIGGER_TEXT

const char *trigger_cause_text(enum trigger_cause cause)
{
    return cause_texts[cause];
}

/* clang-format off */
static const struct field flow_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &metadata_schema, .doc = "Labels and annotations of the flows. Other members are ignored."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &jobflow_spec_schema, .required = true, .doc = "Specification of the flows."},
    {0},
};
static const struct schema flow_template_schema = {"FlowTemplate", flow_template_fields};

static const struct field parameter_fields[] = {
    {"name",  FIELD_STR, offsetof(struct trigger_parameter, name), .required = true, .min_length = 1, .doc = "Name of a parameter of the flow."},
    {"value", FIELD_STR, offsetof(struct trigger_parameter, value), .max_length = TRIGGER_VALUE_MAX,
     .doc = "Its value. $(trigger.time), .date, .unixTime, .previousTime, .name, .cause, .id and, after a flow, .flow.name, .flow.phase, .flow.parameters.NAME and .flow.steps.STEP.outputs.KEY stand for what made the trigger fire."},
    {0},
};
static const struct schema parameter_schema = {"TriggerParameter", parameter_fields, sizeof(struct trigger_parameter)};

static const char *const catch_up_values[] = {[CATCH_UP_LATEST] = "latest", [CATCH_UP_ALL] = "all", NULL};
static const struct field schedule_fields[] = {
    {"cron",                    FIELD_STR,     SCHEDULE(cron), .required = true, .max_length = SCHEDULE_BYTES_MAX,
     .doc = "When flows are made: a cron expression of five fields, @daily and its like, or @every DURATION."},
    {"timeZone",                FIELD_STR,     SCHEDULE(time_zone), .max_length = SCHEDULE_BYTES_MAX,
     .doc = "Time zone of the schedule, such as Europe/Berlin; that of the machine when absent."},
    {"startingDeadlineSeconds", FIELD_OPT_I64, SCHEDULE(deadline_s), BOUNDS(0, INT64_MAX / 1000),
     .doc = "How many seconds after its time a flow may still be made."},
    {"catchUp",                 FIELD_ENUM,    SCHEDULE(catch_up), .one_of = catch_up_values, .default_json = "\"latest\"",
     .doc = "Which times run that have been missed: the newest one (latest), or each of them, the oldest first (all)."},
    {0},
};
static const struct schema schedule_schema = {"TriggerSchedule", schedule_fields, sizeof(struct trigger_schedule)};

static const char *const phase_values[] = {"Succeed", "Failed", NULL};
static const struct field source_fields[] = {
    {"name",    FIELD_STR,      offsetof(struct trigger_source, name), .max_length = 253, .doc = "Name of a flow."},
    {"trigger", FIELD_STR,      offsetof(struct trigger_source, trigger), .max_length = 253, .doc = "Name of a FlowTrigger, whose flows are meant."},
    {"phases",  FIELD_STR_LIST, offsetof(struct trigger_source, phases), .one_of = phase_values,
     .doc = "Phases in which the end of the flow counts: Succeed, Failed; Succeed when absent."},
    {0},
};
static const struct schema source_schema = {"TriggerFlow", source_fields, sizeof(struct trigger_source)};

static const char *const policy_values[] = {
    [CONCURRENCY_ALLOW] = "Allow", [CONCURRENCY_FORBID] = "Forbid", [CONCURRENCY_REPLACE] = "Replace", NULL};

static const struct field spec_fields[] = {
    {"flowName",                    FIELD_STR,     SPEC(flow_name), .max_length = 253,
     .doc = "Name of the JobFlow that flows are made from. With suspend: true it is a pattern and never runs itself."},
    {"flowTemplate",                FIELD_OBJECT,  SPEC(flow_template), &flow_template_schema, .as_json = true,
     .doc = "The flow that is made, written here instead of in a JobFlow of its own."},
    {"parameters",                  FIELD_LIST,    SPEC(parameters), &parameter_schema, .merge_key = "name", .doc = "Values for parameters of the flow."},
    {"schedule",                    FIELD_OBJECT,  SPEC(schedule), &schedule_schema, .doc = "Times at which the trigger fires."},
    {"flows",                       FIELD_LIST,    SPEC(flows), &source_schema, .max_length = 100, .doc = "Flows at whose end the trigger fires."},
    {"webhook",                     FIELD_ANY,     SPEC(webhook), .doc = "Refused: this version receives no webhooks."},
    {"files",                       FIELD_ANY,     SPEC(files), .doc = "Refused: this version watches no files."},
    {"concurrencyPolicy",           FIELD_ENUM,    SPEC(policy), .one_of = policy_values, .default_json = "\"Allow\"",
     .doc = "What happens while a flow of the trigger is active: another one is made (Allow), none is made (Forbid), or the active one is deleted (Replace)."},
    {"maxActive",                   FIELD_OPT_I32, SPEC(max_active), BOUNDS(1, 1000), .doc = "How many flows are active at most, with Allow. Further firings wait."},
    {"suspend",                     FIELD_BOOL,    SPEC(suspend), .default_json = "false", .doc = "Says that only firings by hand make flows until it is false again."},
    {"successfulFlowsHistoryLimit", FIELD_I32,     SPEC(successful_limit), NOT_NEGATIVE, .default_json = "3", .doc = "How many flows that succeeded are kept."},
    {"failedFlowsHistoryLimit",     FIELD_I32,     SPEC(failed_limit), NOT_NEGATIVE, .default_json = "1", .doc = "How many flows that failed are kept."},
    {0},
};
static const struct schema spec_schema = {"FlowTriggerSpec", spec_fields, sizeof(struct trigger_spec)};

static const struct field active_fields[] = {
    {"name", FIELD_STR,  FIELD_PASS, .doc = "Name of the flow."},
    {"uid",  FIELD_STR,  FIELD_PASS, .doc = "UID of the flow."},
    {"time", FIELD_TIME, FIELD_PASS, .doc = "Time that the flow was made for."},
    {0},
};
static const struct schema active_schema = {"FlowTriggerActive", active_fields};

static const struct field seen_fields[] = {
    {"name",    FIELD_STR, offsetof(struct trigger_seen, name), .doc = "Name of the flow that ended."},
    {"uid",     FIELD_STR, offsetof(struct trigger_seen, uid), .doc = "UID of the flow that ended."},
    {"attempt", FIELD_STR, offsetof(struct trigger_seen, attempt), .doc = "The retry with which it ended; empty: none."},
    {0},
};
static const struct schema seen_schema = {"FlowTriggerSeen", seen_fields, sizeof(struct trigger_seen)};

static const struct field backfill_fields[] = {
    {"id",          FIELD_STR,      BACKFILL(id), .doc = "Name of the Command that asked for it."},
    {"from",        FIELD_TIME,     BACKFILL(from_ms), .doc = "Beginning of the range of times."},
    {"to",          FIELD_TIME,     BACKFILL(to_ms), .doc = "End of the range of times."},
    {"next",        FIELD_TIME,     BACKFILL(next_ms), .doc = "The time that comes next; absent when each time has been looked at."},
    {"parallelism", FIELD_I32,      BACKFILL(parallelism), .doc = "How many flows of the backfill are active at once."},
    {"rerun",       FIELD_ENUM,     BACKFILL(rerun), .one_of = backfill_rerun_texts,
     .doc = "Which flows that exist run again: none, those that failed (failed), or those that have ended (all)."},
    {"reverse",     FIELD_BOOL,     BACKFILL(reverse), .doc = "Says that the newest time comes first."},
    {"times",       FIELD_I64,      BACKFILL(times), .doc = "How many times the range has."},
    {"made",        FIELD_I64,      BACKFILL(made), .doc = "How many flows were made or retried."},
    {"kept",        FIELD_I64,      BACKFILL(kept), .doc = "How many times had a flow that was left alone."},
    {"failed",      FIELD_I64,      BACKFILL(failed), .doc = "How many of its flows failed, were deleted or could not be made."},
    {"state",       FIELD_ENUM,     BACKFILL(state), .one_of = backfill_state_texts, .doc = "Running, Done or Cancelled."},
    {"running",     FIELD_STR_LIST, BACKFILL(running), .doc = "Its flows that have not ended."},
    {0},
};
static const struct schema backfill_schema = {"FlowTriggerBackfill", backfill_fields, sizeof(struct trigger_backfill)};

static const struct field status_fields[] = {
    {"lastScheduleTime",   FIELD_TIME, STATUS(last_schedule_ms), .doc = "The newest scheduled time that is done with. It never falls."},
    {"nextScheduleTime",   FIELD_TIME, FIELD_PASS, .doc = "The next scheduled time."},
    {"lastFiredTime",      FIELD_TIME, STATUS(last_fired_ms), .doc = "Time when a flow was made last."},
    {"lastSuccessfulTime", FIELD_TIME, STATUS(last_successful_ms), .doc = "Time at which a flow was first seen to have succeeded last."},
    {"since",              FIELD_TIME, STATUS(since_ms), .doc = "Scheduled times until then do not count."},
    {"observedSchedule",   FIELD_STR,  STATUS(observed_schedule), .doc = "The schedule and zone for which since holds."},
    {"active",             FIELD_LIST, FIELD_PASS, &active_schema, .doc = "The flows that have not ended."},
    {"seen",               FIELD_LIST, STATUS(seen), &seen_schema, .doc = "The ends of flows that have been acted on."},
    {"backfills",          FIELD_LIST, STATUS(backfills), &backfill_schema, .doc = "The backfills that run, and the last ones that have ended."},
    {"pending",            FIELD_I32,  FIELD_PASS, .doc = "How many firings wait."},
    {"fired",              FIELD_I64,  STATUS(fired), .doc = "How many flows were made."},
    {"skipped",            FIELD_I64,  STATUS(skipped), .doc = "How many firings made no flow."},
    {"missed",             FIELD_I64,  STATUS(missed), .doc = "How many scheduled times were missed."},
    {"duplicates",         FIELD_I64,  STATUS(duplicates), .doc = "How many firings had the id of an earlier one."},
    {"state.reason",       FIELD_STR,  STATUS(reason), .doc = "Why nothing is made now: Suspended, FlowNotFound, AdmissionDenied, InvalidTimeZone, TriggerLoop."},
    {"state.message",      FIELD_STR,  FIELD_PASS, .doc = "Text that explains the reason."},
    {"observedGeneration", FIELD_I64,  FIELD_PASS, .doc = "Generation of the spec that the status is about."},
    {0},
};
static const struct schema status_schema = {"FlowTriggerStatus", status_fields, sizeof(struct trigger_status)};

static const struct field trigger_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &spec_schema, .required = true, .doc = "What is made, and when."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .doc = "Active flows, times and counters."},
    {0},
};
static const struct schema trigger_schema = {"FlowTrigger", trigger_fields, .doc = "Makes a flow from a pattern: at each time of a schedule, after other flows, and by hand."};

static const struct column columns[] = {
    {"CRON",    "string",  "spec.schedule.cron",         0, "Cron expression."},
    {"SUSPEND", "boolean", "spec.suspend",               0, "Says that no flow is made but by hand."},
    {"LAST",    "date",    "status.lastFiredTime",       0, "Time since a flow was made last."},
    {"NEXT",    "string",  "status.nextScheduleTime",    0, "The next scheduled time."},
    {"AGE",     "date",    "metadata.creationTimestamp", 0, "Time since the trigger was created."},
    {"PENDING", "integer", "status.pending",             1, "How many firings wait."},
    {"REASON",  "string",  "status.state.reason",        1, "Why nothing is made now."},
    {0},
};
/* clang-format on */

static const struct decoded_type spec_type = {
    .member = "spec", .schema = &spec_schema, .keep_document = true};
static const struct decoded_type status_type = {.schema = &status_schema};

const struct trigger_spec *trigger_spec_of(const struct object *trigger)
{
    return decoded_of(trigger->body, &spec_type);
}

const struct trigger_status *trigger_status_of(const struct object *trigger)
{
    static const struct trigger_status none;

    return trigger->status ? decoded_of(trigger->status, &status_type) : &none;
}

char *trigger_name_for_time(const char *trigger, const struct cron *cron, int64_t at_s)
{
    return mem_printf("%s-%" PRId64, trigger, timing_number(cron, at_s));
}

char *trigger_name_for_id(const char *trigger, enum trigger_cause cause, const char *id)
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, trigger_cause_text(cause));
    buf_char(&text, '\0');
    buf_str(&text, id);
    return mem_printf("%s-%010" PRIx64, trigger,
                      hash_stable(text.data, text.len) >> (64 - 4 * TRIGGER_ID_DIGITS));
}

static const char *const short_names[] = {"ft", NULL};

const struct kind kind_flow_trigger = {
    .id = KIND_FLOW_TRIGGER,
    .group = "flow.volcano.sh",
    .version = "v1alpha1",
    .name = "FlowTrigger",
    .plural = "flowtriggers",
    .singular = "flowtrigger",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .few = true,
    .schema = &trigger_schema,
    .validate = trigger_validate,
    .validate_in_context = trigger_validate_in_context,
    .columns = columns,
};
