/* covers: everyday.md EVD-004 EVD-024 */
#include "tests/unit.h"

#include "base/time/zone_file.h"
#include "tests/support/schedule_fixture.h"

#define HEAD(name)                                                                                 \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: " name "}\nspec: {"
#define TASK                                                                                       \
    "{name: t, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, "       \
    "image: i, command: [c]}]}}"
#define JOB           "jobTemplate: {spec: {tasks: [" TASK "}]}}"
#define CRON(spec)    HEAD("c") spec ", " JOB "}"
#define JOB_WITH(job) HEAD("c") "schedule: '@daily', jobTemplate: {spec: {" job "}}}"

static void a_cronjob_that_can_make_no_job_is_refused(void **state)
{
    /* clang-format off */
    static const struct {
        const char *yaml, *field, *message;
    } cases[] = {
        {CRON("schedule: ''"), "spec.schedule: ", "Required value: a cron expression like \"0 2 * * *\""},
        {CRON("timeZone: UTC"), "spec.schedule: ", "Required value"},
        {CRON("schedule: '0 25 * * *'"), "spec.schedule: ", "field 2 (hour): 25 is above 23"},
        {CRON("schedule: '0 0 31 2 *'"), "spec.schedule: ", "never comes"},
        {CRON("schedule: 'TZ=UTC 0 2 * * *'"), "spec.schedule: ", "a time zone stands in timeZone"},
        {CRON("schedule: '@reboot'"), "spec.schedule: ", "unknown descriptor \"@reboot\""},
        {CRON("schedule: '@daily', timeZone: ''"), "spec.timeZone: ", "timeZone must be nil or non-empty string, got empty string"},
        {CRON("schedule: '@daily', timeZone: Europe/Berln"), "spec.timeZone: ", "unknown time zone \"Europe/Berln\"; near: \"Europe/Berlin\""},
        {CRON("schedule: '@daily', timeZone: Local"), "spec.timeZone: ", "unknown time zone \"Local\""},
        {CRON("schedule: '@daily', timeZone: ../../etc/passwd"), "spec.timeZone: ", "unknown time zone \"../../etc/passwd\""},
        {CRON("schedule: '@daily', concurrencyPolicy: Never"), "spec.concurrencyPolicy: ", "Allow"},
        {CRON("schedule: '@daily', startingDeadlineSeconds: -1"), "spec.startingDeadlineSeconds: ", "greater than or equal to 0"},
        {CRON("schedule: '@daily', successfulJobsHistoryLimit: -1"), "spec.successfulJobsHistoryLimit: ", "greater than or equal to 0"},
        {CRON("schedule: '@daily', failedJobsHistoryLimit: -1"), "spec.failedJobsHistoryLimit: ", "greater than or equal to 0"},
        {CRON("schedule: '@daily', schedul: x"), "spec.schedul", "schedule"},
        {HEAD("c") "schedule: '@daily'}", "spec.jobTemplate: ", "Required value"},
        {HEAD("c") "schedule: '@daily', jobTemplate: {}}", "spec.jobTemplate.spec: ", "Required value"},
        {JOB_WITH("tasks: [" TASK ", policies: [{event: PodFaild, action: RestartJob}]}]"), "spec.jobTemplate.spec.tasks[0].policies[0]", "PodFaild"},
        {JOB_WITH("tasks: []"), "spec.jobTemplate.spec.tasks: ", "task"},
        {JOB_WITH("minAvailable: 7, tasks: [" TASK "}]"), "spec.jobTemplate.spec.minAvailable: ", "7"},
        {HEAD("a123456789012345678901234567890123456789012345678901x") "schedule: '@daily', " JOB "}", "metadata.name: ",
         "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 total)"},
        {HEAD("a12345678901234567890123456789012345678901234567890") "schedule: '@daily', jobTemplate: {spec: {tasks: [{name: worker, replicas: 1, template: {spec: {containers: [{name: c, image: i, command: [c]}]}}}]}}}",
         "metadata.name: ", "pod name a12345678901234567890123456789012345678901234567890-29880030-worker-0"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f =
            schedule_fixture_new("2026-01-02T03:04:05Z");
        scoped_str findings = schedule_fixture_refused(f, cases[i].yaml);

        check_has(cases[i].yaml, findings, cases[i].field);
        check_has(cases[i].yaml, findings, cases[i].message);
    }
}

static void defaults_are_those_of_volcano(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    const struct cronjob_spec *spec;

    schedule_fixture_apply(f, CRON("schedule: '@daily'"));
    spec = cronjob_spec_of(schedule_fixture_get(f, &kind_cron_job, "c"));
    check_int("policy", spec->policy, CONCURRENCY_ALLOW);
    check_int("successful", spec->successful_limit, 3);
    check_int("failed", spec->failed_limit, 1);
    check("deadline", !spec->deadline_s.set);
    check("suspend", !spec->suspend);
    check("zone", !spec->time_zone);
}

static void a_schedule_without_zone_warns_of_the_machine(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    zone_environment("Asia/Tokyo", NULL);
    {
        scoped_str warned = schedule_fixture_warnings(f, CRON("schedule: '@daily'"));

        check_str("warned", warned,
                  "spec.timeZone: none is named: times are those of this machine (Asia/Tokyo)\n");
    }
    zone_environment(NULL, NULL);
    schedule_fixture_delete(f, &kind_cron_job, "c");
    {
        scoped_str warned =
            schedule_fixture_warnings(f, CRON("schedule: '@daily', timeZone: Asia/Tokyo"));

        check_str("not warned", warned, "");
    }
}

static void a_queue_that_does_not_exist_is_a_warning(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    scoped_str warned = schedule_fixture_warnings(
        f, HEAD("c") "schedule: '@daily', timeZone: UTC, jobTemplate: {spec: {queue: later, tasks: "
                     "[" TASK "}]}}}");

    check_has("queue", warned,
              "spec.jobTemplate.spec.queue: unable to find job queue: queue \"later\" does not "
              "exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cronjob_that_can_make_no_job_is_refused),
        cmocka_unit_test(defaults_are_those_of_volcano),
        cmocka_unit_test(a_schedule_without_zone_warns_of_the_machine),
        cmocka_unit_test(a_queue_that_does_not_exist_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
