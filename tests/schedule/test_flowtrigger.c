/* covers: everyday.md EVD-029 EVD-032 EVD-033 EVD-035..EVD-039 EVD-045 EVD-070 EVD-071 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/schedule_fixture.h"

enum { MINUTE = 60000, HOUR = 3600000 };

static const char *at(struct schedule_fixture *f, const char *path)
{
    return schedule_fixture_at(f, &kind_flow_trigger, "t", path);
}

static void check_made(struct schedule_fixture *f, const char *want)
{
    check_str("made", f->made.data ? f->made.data : "", want);
}

static struct schedule_fixture *with_pattern(const char *start)
{
    struct schedule_fixture *f = schedule_fixture_new(start);

    schedule_fixture_pattern(f, "p");
    return f;
}

static void a_month_makes_one_flow_a_day_with_its_date(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-10-10T12:00:00Z");
    const struct object *flow;

    f->succeed = true;
    schedule_fixture_trigger(
        f, "t",
        "flowName: p, successfulFlowsHistoryLimit: 100, schedule: {cron: '30 2 "
        "* * *', timeZone: Europe/Berlin}, parameters: [{name: day, value: "
        "$(trigger.date)}]");
    schedule_fixture_until(f, "2026-11-09T12:00:00Z");
    check_int("made", f->made_count, 30);
    check_str("one day", schedule_fixture_parameter(f, "t-29881470", "day"), "2026-10-25");
    check_str("default", schedule_fixture_parameter(f, "t-29881470", "who"), "me");
    check_str("next day", schedule_fixture_parameter(f, "t-29882970", "day"), "2026-10-26");
    flow = schedule_fixture_get(f, &kind_job_flow, "t-29881470");
    check("not suspended", !jobflow_spec_of(flow)->suspend);
    check_str("label", meta_label(flow->meta, LABEL_TRIGGER), "t");
    check_str("label of the pattern", meta_label(flow->meta, "app"), "x");
    check_str("annotation of the pattern", meta_annotation(flow->meta, "a"), "b");
    check_str("time", meta_annotation(flow->meta, ANNOTATION_TRIGGER_TIME),
              "2026-10-25T02:30:00+02:00");
    check_str("cause", meta_annotation(flow->meta, ANNOTATION_TRIGGER_CAUSE), "schedule");
    check_str("owner", meta_controller(flow->meta)->kind, "FlowTrigger");
    check_str("fired", at(f, "fired"), "30");
    check_str("last", at(f, "lastScheduleTime"), "2026-11-09T01:30:00Z");
    check_str("next", at(f, "nextScheduleTime"), "2026-11-10T01:30:00Z");
}

static void a_template_is_as_good_as_a_pattern(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(
        f, "t",
        "schedule: {cron: '* * * * *'}, flowTemplate: {metadata: {labels: {l: m}}, spec: "
        "{parameters: [{name: num}], flows: [{name: s, run: 'true'}]}}, parameters: [{name: num, "
        "value: "
        "'$(trigger.name) $(trigger.cause) $(trigger.unixTime) $(x)'}]");
    schedule_fixture_advance(f, MINUTE);
    check_made(f, "t-29455385 ");
    check_str("value", schedule_fixture_parameter(f, "t-29455385", "num"),
              "t schedule 1767323100 $(x)");
    check_str("label", meta_label(schedule_fixture_get(f, &kind_job_flow, "t-29455385")->meta, "l"),
              "m");
}

static void a_pattern_that_comes_later_makes_the_due_time_run(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '0 * * * *'}");
    schedule_fixture_until(f, "2026-01-02T04:10:00Z");
    check_str("reason", at(f, "state/reason"), "FlowNotFound");
    schedule_fixture_pattern(f, "p");
    check_made(f, "t-29455440 ");
    check_str("reason", at(f, "state"), "");
}

static void a_changed_pattern_counts_from_the_next_flow(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '* * * * *'}");
    schedule_fixture_advance(f, MINUTE);
    schedule_fixture_apply(
        f, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: p}\nspec: "
           "{suspend: true, parameters: [{name: who, default: you}], flows: [{name: s, run: "
           "'false'}]}\n");
    schedule_fixture_advance(f, MINUTE);
    check_str("before", schedule_fixture_parameter(f, "t-29455385", "who"), "me");
    check_str("after", schedule_fixture_parameter(f, "t-29455386", "who"), "you");
}

static void the_newest_missed_time_runs_and_the_others_are_counted(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:00:30Z");

    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '0 * * * *'}");
    schedule_fixture_sleep(f, 3 * HOUR + 10 * MINUTE);
    check_made(f, "t-29455560 ");
    check_str("missed", at(f, "missed"), "2");
    check_str("told", schedule_fixture_event_text(f, "Missed"),
              "2 times were missed: 2026-01-02T04:00:00Z to 2026-01-02T05:00:00Z");
}

static void all_missed_times_run_one_after_the_other(void **state)
{
    static const char *const flows[] = {"t-29455440", "t-29455500", "t-29455560", "t-29455620",
                                        "t-29455680"};
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:00:30Z");

    schedule_fixture_trigger(
        f, "t",
        "flowName: p, schedule: {cron: '0 * * * *', catchUp: all}, successfulFlowsHistoryLimit: 9");
    schedule_fixture_sleep(f, 5 * HOUR + 10 * MINUTE);
    for (size_t i = 0; i < countof(flows); i++) {
        const struct object *flow;

        check_int(flows[i], f->made_count, i + 1);
        flow = schedule_fixture_get(f, &kind_job_flow, flows[i]);
        check(flows[i], flow != NULL);
        check_str(flows[i], meta_annotation(flow->meta, ANNOTATION_TRIGGER_CAUSE),
                  i < 4 ? "catchUp" : "schedule");
        schedule_fixture_flow_phase(f, flows[i], FLOW_SUCCEED);
    }
    check_int("no more", f->made_count, 5);
    check_str("missed", at(f, "missed"), "");
}

static void more_than_a_thousand_missed_times_are_cut(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T00:00:30Z");

    f->succeed = true;
    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '* * * * *', catchUp: all}");
    schedule_fixture_sleep(f, (int64_t)5000 * MINUTE);
    check_int("made", f->made_count, 1000);
    check_str("missed", at(f, "missed"), "4000");
    check_int("told", schedule_fixture_events(f, "TooManyMissedTimes"), 1);
}

static void a_resume_runs_nothing_at_once_unless_all_is_asked_for(void **state)
{
    static const char *const modes[] = {"latest", "all"};

    for (int i = 0; i < 2; i++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:00:30Z");
        scoped_str spec = mem_printf("flowName: p, schedule: {cron: '0 * * * *', catchUp: %s}, "
                                     "maxActive: 9, suspend: ",
                                     modes[i]);
        scoped_str off = mem_printf("%strue", spec);
        scoped_str on = mem_printf("%sfalse", spec);

        schedule_fixture_trigger(f, "t", off);
        schedule_fixture_until(f, "2026-01-02T06:10:00Z");
        check_int("suspended", f->made_count, 0);
        check_str("suspended", at(f, "state/reason"), "Suspended");
        schedule_fixture_restart(f);
        schedule_fixture_trigger(f, "t", on);
        check_int(modes[i], f->made_count, i ? 3 : 0);
        schedule_fixture_until(f, "2026-01-02T07:00:00Z");
        check_int(modes[i], f->made_count, i ? 4 : 1);
    }
}

static void a_changed_schedule_counts_from_now(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-01T12:00:00Z");

    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '0 2 * * *'}");
    schedule_fixture_until(f, "2026-01-02T04:00:00Z");
    check_int("at two", f->made_count, 1);
    schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '0 3 * * *'}");
    check_int("nothing at once", f->made_count, 1);
    check_str("next", at(f, "nextScheduleTime"), "2026-01-03T03:00:00Z");
}

static void forbid_and_replace_have_one_flow_at_most(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(
        f, "t", "flowName: p, concurrencyPolicy: Forbid, schedule: {cron: '* * * * *'}");
    schedule_fixture_advance(f, 3 * MINUTE);
    check_made(f, "t-29455385 ");
    schedule_fixture_flow_phase(f, "t-29455385", FLOW_SUCCEED);
    check_made(f, "t-29455385 t-29455387 ");
    schedule_fixture_trigger(
        f, "t", "flowName: p, concurrencyPolicy: Replace, schedule: {cron: '* * * * *'}");
    schedule_fixture_advance(f, MINUTE);
    check_made(f, "t-29455385 t-29455387 t-29455388 ");
    check_str("replaced", f->deleted.data, "t-29455387 ");
}

static void max_active_makes_firings_wait(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(f, "t", "flowName: p, maxActive: 1");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{\"id\": \"1\"}");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{\"id\": \"2\"}");
    check_int("one", f->made_count, 1);
    check_str("waits", at(f, "pending"), "1");
    schedule_fixture_restart(f);
    check_str("waits", at(f, "pending"), "1");
    schedule_fixture_flow_phase(f, at(f, "active/0/name"), FLOW_FAILED);
    check_int("two", f->made_count, 2);
    check_str("none waits", at(f, "pending"), "");
    check_int("used up", schedule_fixture_count(f, &kind_command), 0);
}

/* covers: everyday.md EVD-072 */
static void an_id_fires_once_and_parameters_reach_the_flow(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");
    const char *name;
    char first[64];

    schedule_fixture_trigger(f, "t", "flowName: p, suspend: true");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow",
                             "{\"id\": \"x\", \"parameters\": {\"day\": \"$(trigger.name)\"}}");
    check_int("made, although suspended", f->made_count, 1);
    name = at(f, "active/0/name");
    snprintf(first, sizeof first, "%s", name);
    check_str("pasted as it is", schedule_fixture_parameter(f, first, "day"), "$(trigger.name)");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow",
                             "{\"id\": \"x\", \"parameters\": {\"day\": \"other\"}}");
    check_int("once", f->made_count, 1);
    check_str("duplicates", at(f, "duplicates"), "1");
    check_int("told", schedule_fixture_events(f, "Duplicate"), 1);
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow",
                             "{\"parameters\": {\"dya\": \"1\"}}");
    check_int("an unknown parameter", f->made_count, 1);
    check_has("told", schedule_fixture_event_text(f, "FailedCreate"),
              "the flow has no parameter \"dya\"");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{\"parameters\": [");
    check_int("no JSON", schedule_fixture_events(f, "CommandRejected"), 1);
    check_int("used up", schedule_fixture_count(f, &kind_command), 0);
}

static void the_end_of_a_flow_fires_once(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_pattern(f, "etl");
    schedule_fixture_pattern(f, "old");
    schedule_fixture_flow_phase(f, "old", FLOW_SUCCEED);
    schedule_fixture_trigger(
        f, "t",
        "flowName: p, flows: [{name: etl}, {name: old}], parameters: [{name: day, value: "
        "'$(trigger.flow.name) $(trigger.flow.phase) $(trigger.flow.parameters.who) "
        "$(trigger.flow.steps.s.outputs.k)'}, {name: who, value: "
        "$(trigger.flow.parameters.none)}]");
    check_int("what ended before does not count", f->made_count, 0);
    schedule_fixture_flow_phase(f, "etl", FLOW_FAILED);
    check_int("Failed is not listed", f->made_count, 0);
    schedule_fixture_flow_phase(f, "etl", FLOW_RUNNING);
    schedule_fixture_flow_phase(f, "etl", FLOW_SUCCEED);
    check_int("Succeed", f->made_count, 1);
    check_str("values", schedule_fixture_parameter(f, at(f, "active/0/name"), "day"),
              "etl Succeed me value");
    check_str("default", schedule_fixture_parameter(f, at(f, "active/0/name"), "who"), "me");
    schedule_fixture_restart(f);
    check_int("once", f->made_count, 1);
}

static void a_changed_trigger_waits_for_the_flows_it_names_now(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_pattern(f, "before");
    schedule_fixture_pattern(f, "after");
    schedule_fixture_trigger(f, "t", "flowName: p, flows: [{name: before}]");
    schedule_fixture_trigger(f, "t", "flowName: p, flows: [{name: after}]");
    schedule_fixture_flow_phase(f, "before", FLOW_SUCCEED);
    check_int("named no longer", f->made_count, 0);
    schedule_fixture_flow_phase(f, "after", FLOW_SUCCEED);
    check_int("named now", f->made_count, 1);
    schedule_fixture_delete(f, &kind_flow_trigger, "t");
    schedule_fixture_flow_phase(f, "after", FLOW_RUNNING);
    schedule_fixture_flow_phase(f, "after", FLOW_SUCCEED);
    check_int("deleted", f->made_count, 1);
}

static void triggers_that_fire_each_other_end(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    f->succeed = true;
    schedule_fixture_trigger(f, "t",
                             "flowName: p, successfulFlowsHistoryLimit: 99, flows: [{trigger: u}]");
    schedule_fixture_trigger(f, "u",
                             "flowName: p, successfulFlowsHistoryLimit: 99, flows: [{trigger: t}]");
    schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{\"id\": \"begin\"}");
    schedule_fixture_advance(f, MINUTE);
    check_int("32 and the first", f->made_count, 33);
    check("told", schedule_fixture_events(f, "TriggerLoop") > 0);
}

static void triggers_of_one_instant_fire_in_order_of_creation(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:04:05Z");

    schedule_fixture_trigger(f, "b", "flowName: p, schedule: {cron: '* * * * *'}");
    schedule_fixture_advance(f, 2000);
    schedule_fixture_trigger(f, "c", "flowName: p, schedule: {cron: '* * * * *'}");
    schedule_fixture_trigger(f, "a", "flowName: p, schedule: {cron: '* * * * *'}");
    schedule_fixture_until(f, "2026-01-02T03:05:30Z");
    check_has("the oldest first", f->made.data, "b-29455385 ");
    check_int("all", f->made_count, 3);
}

static void check_once(struct schedule_fixture *f, int k)
{
    scoped_str names = mem_strdup(f->made.data ? f->made.data : "");
    char *rest = NULL;

    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        scoped_str padded = mem_printf("%s ", name);

        if (strstr(strstr(f->made.data, padded) + 1, padded))
            check_fail("killed after %d writes: %s was made twice: %s", k, name, f->made.data);
    }
}

/* covers: everyday.md EVD-041 */
/* A process that is killed leaves a beginning of its writes behind: all writes after the k-th are
 * refused, and then it starts anew. */
static void killed_after_any_write_each_firing_makes_one_flow(void **state)
{
    for (int k = 0; k < 40; k++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_pattern("2026-01-02T03:00:30Z");

        f->succeed = true;
        schedule_fixture_pattern(f, "etl");
        schedule_fixture_trigger(f, "t",
                                 "flowName: p, schedule: {cron: '* * * * *', catchUp: all}, flows: "
                                 "[{name: etl}], successfulFlowsHistoryLimit: 0, maxActive: 5");
        faulty_expect(f->cluster, .ops = FAULTY_ANY, .skip = k, .code = ERR_STORAGE);
        schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{\"id\": \"x\"}");
        schedule_fixture_flow_phase(f, "etl", FLOW_SUCCEED);
        schedule_fixture_advance(f, 3 * MINUTE);
        schedule_fixture_stop(f);
        faulty_clear(f->cluster);
        schedule_fixture_start(f);
        schedule_fixture_advance(f, 2 * MINUTE);
        check_once(f, k);
        if (f->made_count != 7)
            check_fail("killed after %d writes: not five times, an end and one by hand: %s", k,
                       f->made.data);
    }
}

/* Creates a trigger that has a flow for each day, and sleeps until 2026-10-27 in the afternoon. */
static struct schedule_fixture *with_backfill(const char *more, const char *order)
{
    struct schedule_fixture *f = with_pattern("2026-10-26T12:00:00Z");
    scoped_str spec = mem_printf("flowName: p, successfulFlowsHistoryLimit: 99, "
                                 "failedFlowsHistoryLimit: 99, schedule: {cron: '30 2 * * *', "
                                 "timeZone: Europe/Berlin}, parameters: [{name: day, value: "
                                 "'$(trigger.date) $(trigger.cause) $(trigger.previousTime)'}]%s",
                                 more);

    schedule_fixture_trigger(f, "t", spec);
    if (order)
        schedule_fixture_command(f, &kind_flow_trigger, "t", "BackfillFlow", order);
    return f;
}

/* covers: everyday.md EVD-073 EVD-075 */
static void a_backfill_makes_each_time_once_also_where_clocks_change(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        with_backfill(", suspend: true", "{\"from\": \"2026-10-24\", \"to\": \"2026-10-26\", "
                                         "\"parallelism\": 2}");
    scoped_str last = mem_strdup(at(f, "lastScheduleTime"));

    check_made(f, "t-29880030 t-29881470 ");
    check_str("state", at(f, "backfills/0/state"), "Running");
    check_str("next", at(f, "backfills/0/next"), "2026-10-26T01:30:00Z");
    schedule_fixture_restart(f);
    schedule_fixture_flow_phase(f, "t-29881470", FLOW_FAILED);
    check_made(f, "t-29880030 t-29881470 t-29882970 ");
    check_str("value", schedule_fixture_parameter(f, "t-29882970", "day"),
              "2026-10-26 backfill 2026-10-25T02:30:00+02:00");
    schedule_fixture_flow_phase(f, "t-29880030", FLOW_SUCCEED);
    schedule_fixture_flow_phase(f, "t-29882970", FLOW_SUCCEED);
    check_str("state", at(f, "backfills/0/state"), "Done");
    check_str("times", at(f, "backfills/0/times"), "3");
    check_str("made", at(f, "backfills/0/made"), "3");
    check_str("failed", at(f, "backfills/0/failed"), "1");
    check_str("the schedule has not moved", at(f, "lastScheduleTime"), last);
    check_int("the Command is gone", schedule_fixture_count(f, &kind_command), 0);
}

/* covers: everyday.md EVD-074 */
static void a_backfill_keeps_retries_or_replaces_what_is_there(void **state)
{
    static const struct {
        const char *rerun, *made, *deleted;
        bool retried;
    } cases[] = {
        {"none", "t-29880030 t-29881470 ", "", false},
        {"failed", "t-29880030 t-29881470 ", "", true},
        {"all", "t-29880030 t-29881470 t-29881470 t-29880030 ", "t-29881470 t-29880030 ", false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_backfill(
            "", "{\"from\": \"2026-10-24\", \"to\": \"2026-10-25\", \"parallelism\": 2}");
        scoped_str order =
            mem_printf("{\"from\": \"2026-10-24\", \"to\": \"2026-10-25T12:00:00Z\", "
                       "\"reverse\": true, \"parallelism\": 2, \"rerun\": \"%s\"}",
                       cases[i].rerun);
        scoped_str uid = NULL;
        const struct object *flow;

        schedule_fixture_flow_phase(f, "t-29880030", FLOW_SUCCEED);
        schedule_fixture_flow_phase(f, "t-29881470", FLOW_FAILED);
        uid = mem_strdup(object_uid(schedule_fixture_get(f, &kind_job_flow, "t-29881470")));
        schedule_fixture_command(f, &kind_flow_trigger, "t", "BackfillFlow", order);
        check_made(f, cases[i].made);
        check_str("deleted", f->deleted.data ? f->deleted.data : "", cases[i].deleted);
        flow = schedule_fixture_get(f, &kind_job_flow, "t-29881470");
        check_int("the same flow", strcmp(object_uid(flow), uid) == 0, *cases[i].deleted == '\0');
        check_int("retried", jobflow_wants_retry(flow), cases[i].retried);
        check_str("kept", at(f, "backfills/1/kept"),
                  *cases[i].deleted  ? ""
                  : cases[i].retried ? "1"
                                     : "2");
    }
}

static void a_backfill_that_cannot_be_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *order, *why;
    } cases[] = {
        {"{\"from\": \"2026-10-26\", \"to\": \"2026-10-24\"}", "the end is before the beginning"},
        {"{\"from\": \"2027-01-01\", \"to\": \"2027-01-02\"}", "no scheduled time has come"},
        {"{\"from\": \"1970-01-01\", \"to\": \"2026-10-24\"}", "more than 10000 times"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_backfill("", cases[i].order);

        check_has(cases[i].order, schedule_fixture_event_text(f, "CommandRejected"), cases[i].why);
        check_int("the Command is gone", schedule_fixture_count(f, &kind_command), 0);
    }
}

static void a_backfill_ends_when_it_is_cancelled_or_the_schedule_changes(void **state)
{
    static const char order[] = "{\"from\": \"2026-10-20\", \"to\": \"2026-10-25\"}";

    for (int changed = 0; changed < 2; changed++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_backfill("", order);
        scoped_str id = mem_strdup(at(f, "backfills/0/id"));
        scoped_str cancel = mem_printf("{\"id\": \"%s\"}", id);

        check_int("one at a time", f->made_count, 1);
        if (changed)
            schedule_fixture_trigger(f, "t", "flowName: p, schedule: {cron: '30 3 * * *'}");
        else
            schedule_fixture_command(f, &kind_flow_trigger, "t", "CancelBackfill", cancel);
        schedule_fixture_flow_phase(f, "t-29874270", FLOW_SUCCEED);
        check_str("state", at(f, "backfills/0/state"), "Cancelled");
        check_int("no other", f->made_count, 1);
        check_int("the Command is gone", schedule_fixture_count(f, &kind_command), 0);
    }
}

static void a_backfill_has_the_limits_of_concurrency_that_it_should(void **state)
{
    static const struct {
        const char *policy;
        int made;
    } cases[] = {{", maxActive: 1", 4}, {", concurrencyPolicy: Forbid", 1}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f =
            with_backfill(cases[i].policy,
                          "{\"from\": \"2026-10-20\", \"to\": \"2026-10-25\", \"parallelism\": 3}");

        schedule_fixture_command(f, &kind_flow_trigger, "t", "FireFlow", "{}");
        check_int(cases[i].policy, f->made_count, cases[i].made);
    }
}

static void a_trigger_has_three_backfills_at_once(void **state)
{
    static const char order[] = "{\"from\": \"2026-10-20\", \"to\": \"2026-10-25\"}";
    scoped(schedule_fixture) struct schedule_fixture *f = with_backfill("", order);

    for (int i = 1; i < 4; i++)
        schedule_fixture_command(f, &kind_flow_trigger, "t", "BackfillFlow", order);
    check_has("the fourth", schedule_fixture_event_text(f, "CommandRejected"),
              "3 backfills of the trigger are running: wait for one or cancel one");
}

/* covers: everyday.md EVD-073 */
static void killed_after_any_write_a_backfill_makes_each_flow_once(void **state)
{
    for (int k = 0; k < 30; k++) {
        scoped(schedule_fixture) struct schedule_fixture *f = with_backfill("", NULL);

        f->succeed = true;
        faulty_expect(f->cluster, .ops = FAULTY_ANY, .skip = k, .code = ERR_STORAGE);
        schedule_fixture_command(
            f, &kind_flow_trigger, "t", "BackfillFlow",
            "{\"from\": \"2026-10-20\", \"to\": \"2026-10-25\", \"parallelism\": 2}");
        schedule_fixture_stop(f);
        faulty_clear(f->cluster);
        schedule_fixture_start(f);
        schedule_fixture_advance(f, MINUTE);
        check_once(f, k);
        if (f->made_count != 6)
            check_fail("killed after %d writes: not six times: %s", k, f->made.data);
        check_str("state", at(f, "backfills/0/state"), "Done");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_month_makes_one_flow_a_day_with_its_date),
        cmocka_unit_test(a_template_is_as_good_as_a_pattern),
        cmocka_unit_test(a_pattern_that_comes_later_makes_the_due_time_run),
        cmocka_unit_test(a_changed_pattern_counts_from_the_next_flow),
        cmocka_unit_test(the_newest_missed_time_runs_and_the_others_are_counted),
        cmocka_unit_test(all_missed_times_run_one_after_the_other),
        cmocka_unit_test(more_than_a_thousand_missed_times_are_cut),
        cmocka_unit_test(a_resume_runs_nothing_at_once_unless_all_is_asked_for),
        cmocka_unit_test(a_changed_schedule_counts_from_now),
        cmocka_unit_test(forbid_and_replace_have_one_flow_at_most),
        cmocka_unit_test(max_active_makes_firings_wait),
        cmocka_unit_test(an_id_fires_once_and_parameters_reach_the_flow),
        cmocka_unit_test(the_end_of_a_flow_fires_once),
        cmocka_unit_test(a_changed_trigger_waits_for_the_flows_it_names_now),
        cmocka_unit_test(triggers_that_fire_each_other_end),
        cmocka_unit_test(triggers_of_one_instant_fire_in_order_of_creation),
        cmocka_unit_test(killed_after_any_write_each_firing_makes_one_flow),
        cmocka_unit_test(a_backfill_makes_each_time_once_also_where_clocks_change),
        cmocka_unit_test(a_backfill_keeps_retries_or_replaces_what_is_there),
        cmocka_unit_test(a_backfill_that_cannot_be_is_refused_with_the_reason),
        cmocka_unit_test(a_backfill_ends_when_it_is_cancelled_or_the_schedule_changes),
        cmocka_unit_test(a_backfill_has_the_limits_of_concurrency_that_it_should),
        cmocka_unit_test(a_trigger_has_three_backfills_at_once),
        cmocka_unit_test(killed_after_any_write_a_backfill_makes_each_flow_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
