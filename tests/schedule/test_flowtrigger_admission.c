/* covers: everyday.md EVD-030 EVD-031 EVD-034 */
#include "tests/unit.h"

#include "tests/support/schedule_fixture.h"

#define HEAD(name)                                                                                 \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: FlowTrigger\nmetadata: {name: " name "}\nspec: {"
#define TRIGGER(spec) HEAD("t") spec "}"
#define FLOW                                                                                       \
    "flowTemplate: {spec: {parameters: [{name: day, default: x}], flows: [{name: s, run: "         \
    "'true'}]}}"

static void a_trigger_that_cannot_work_is_refused(void **state)
{
    /* clang-format off */
    static const struct {
        const char *yaml, *finding;
    } cases[] = {
        {TRIGGER("flowName: p, " FLOW), "spec: write flowName or flowTemplate, and not both"},
        {TRIGGER("suspend: true"), "spec: write flowName or flowTemplate, and not both"},
        {TRIGGER(FLOW ", parameters: [{name: dya, value: x}]"), "spec.parameters[0].name: the flow has no parameter \"dya\"; did you mean \"day\"?"},
        {TRIGGER(FLOW ", parameters: [{name: day}, {name: day}]"), "spec.parameters[1].name: Duplicate value: \"day\""},
        {TRIGGER(FLOW ", parameters: [{name: day, value: $(trigger.tiem)}]"), "spec.parameters[0].value: Invalid value: unknown reference $(trigger.tiem)"},
        {TRIGGER(FLOW ", parameters: [{name: day, value: $(trigger.body.x)}]"), "spec.parameters[0].value: Invalid value: unknown reference $(trigger.body.x)"},
        {TRIGGER("flowName: p, maxActive: 2, concurrencyPolicy: Forbid"), "spec.maxActive: Forbid and Replace have one at most"},
        {TRIGGER("flowName: p, maxActive: 0"), "spec.maxActive: "},
        {TRIGGER("flowName: p, maxActive: 1001"), "spec.maxActive: "},
        {TRIGGER("flowName: p, schedule: {cron: '0 25 * * *'}"), "spec.schedule.cron: field 2 (hour): 25 is above 23"},
        {TRIGGER("flowName: p, schedule: {cron: '@daily', timeZone: Nowhere}"), "spec.schedule.timeZone: Invalid value: unknown time zone \"Nowhere\""},
        {TRIGGER("flowName: p, schedule: {cron: '@daily', catchUp: some}"), "spec.schedule.catchUp: "},
        {TRIGGER("flowName: p, schedule: {timeZone: UTC}"), "spec.schedule.cron: Required value"},
        {TRIGGER("flowName: p, flows: [{name: a, trigger: b}]"), "spec.flows[0]: write name or trigger, and not both"},
        {TRIGGER("flowName: p, flows: [{phases: [Failed]}]"), "spec.flows[0]: write name or trigger, and not both"},
        {TRIGGER("flowName: p, flows: [{name: a, phases: [Ended]}]"), "spec.flows[0].phases"},
        {TRIGGER("flowName: p, webhook: {secretName: s}"), "spec.webhook: Forbidden: this version receives no webhooks"},
        {TRIGGER("flowName: p, files: {path: /x}"), "spec.files: Forbidden: this version watches no files"},
        {TRIGGER("flowTemplate: {spec: {flows: [{name: s, run: 'true', dependsOn: {targets: [x]}}]}}"), "spec.flowTemplate.spec.flows[0].dependsOn.targets[0]"},
        {HEAD("a123456789012345678901234567890123456789012345") "flowTemplate: {spec: {flows: [{name: transform, run: 'true'}]}}}",
         "metadata.name: job \"a123456789012345678901234567890123456789012345-0123456789-transform\" would have 67 characters, 63 is the most: shorten the trigger's or the step's name"},
        {HEAD("a12345678901234567890123456789012345678901234567890123") "flowName: p}",
         "metadata.name: jobflow \"a12345678901234567890123456789012345678901234567890123-0123456789\" would have 65 characters, 63 is the most"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f =
            schedule_fixture_new("2026-01-02T03:04:05Z");
        scoped_str findings = schedule_fixture_refused(f, cases[i].yaml);

        check_has(cases[i].yaml, findings, cases[i].finding);
    }
}

static void a_pattern_that_runs_itself_or_is_not_there_is_a_warning(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    {
        scoped_str warned = schedule_fixture_warnings(f, TRIGGER("flowName: p"));

        check_str("not there", warned,
                  "spec.flowName: jobflow p does not exist yet: the trigger waits for it\n");
    }
    schedule_fixture_apply(f,
                           "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: "
                           "p}\nspec: {flows: [{name: s, run: 'true'}]}\n");
    {
        scoped_str warned = schedule_fixture_warnings(
            f, HEAD("u") "flowName: p, parameters: [{name: day, value: x}]}");

        check_has("runs itself", warned,
                  "spec.flowName: jobflow p runs by itself, too; suspend: true makes it a pattern "
                  "only");
        check_has("parameter", warned,
                  "spec.parameters[0].name: the flow has no parameter \"day\"");
    }
}

static void a_pattern_may_change_and_go_only_without_its_trigger(void **state)
{
    const struct registry_delete deletion = {.grace_s = -1, .propagation = REGISTRY_BACKGROUND};
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    struct error_list errors = {0};

    schedule_fixture_pattern(f, "p");
    schedule_fixture_trigger(f, "t", "flowName: p");
    check("refused",
          !registry_delete(f->registry, (struct registry_target){&kind_job_flow, "default", "p"},
                           &deletion, NULL, &errors));
    check_has("refused", errors.items[0].message, "jobflow p is the pattern of flowtrigger t");
    error_list_release(&errors);
    schedule_fixture_delete(f, &kind_flow_trigger, "t");
    schedule_fixture_delete(f, &kind_job_flow, "p");
}

static void create(struct schedule_fixture *f, const char *json)
{
    scoped(json) json_t *doc = json_loads(json, 0, NULL);
    struct error_list errors = {0};
    struct error err = {0};

    registry_create(f->registry, doc, &(const struct registry_write){0}, NULL, &errors);
    check_ok(json, error_list_ok(&errors, &err), err);
    error_list_release(&errors);
}

static void a_namespace_has_room_for_a_thousand_cronjobs_and_triggers(void **state)
{
    static const char *const more[] = {
        TRIGGER("flowName: p"),
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: d}\nspec: "
        "{schedule: '@daily', jobTemplate: {spec: {tasks: [{name: t, replicas: 1, template: {spec: "
        "{containers: [{name: c, image: i, command: [c]}]}}}]}}}"};
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_cronjob(f, "c", "schedule: '@daily'");
    for (int i = 1; i < 1000; i++) {
        scoped_str name = mem_printf("t%d", i);

        schedule_fixture_trigger(f, name, "flowName: p");
    }
    for (size_t i = 0; i < countof(more); i++) {
        scoped_str findings = schedule_fixture_refused(f, more[i]);

        check_has(more[i], findings,
                  "exceeded quota: a namespace may hold 1000 CronJobs and FlowTriggers; delete "
                  "some or use another namespace");
    }
    schedule_fixture_pattern(f, "p");
    schedule_fixture_trigger(f, "t1", "flowName: p, suspend: true");
    create(f, "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": "
              "\"other\"}}");
    create(f, "{\"apiVersion\": \"flow.volcano.sh/v1alpha1\", \"kind\": \"FlowTrigger\", "
              "\"metadata\": {\"name\": \"t\", \"namespace\": \"other\"}, \"spec\": "
              "{\"flowName\": \"p\"}}");
    schedule_fixture_delete(f, &kind_cron_job, "c");
    schedule_fixture_trigger(f, "t", "flowName: p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trigger_that_cannot_work_is_refused),
        cmocka_unit_test(a_pattern_that_runs_itself_or_is_not_there_is_a_warning),
        cmocka_unit_test(a_pattern_may_change_and_go_only_without_its_trigger),
        cmocka_unit_test(a_namespace_has_room_for_a_thousand_cronjobs_and_triggers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
