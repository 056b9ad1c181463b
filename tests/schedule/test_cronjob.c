/* covers: everyday.md EVD-014 EVD-015 EVD-017..EVD-019 EVD-021..EVD-023 EVD-025 */
#include "tests/unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/time/zone_file.h"
#include "base/timefmt.h"
#include "tests/support/schedule_fixture.h"

enum { MINUTE = 60000, HOUR = 3600000 };

static const char *status_at(struct schedule_fixture *fixture, const char *path)
{
    return schedule_fixture_at(fixture, &kind_cron_job, "c", path);
}

/* The name of the job of a minute. */
static const char *job_at(const char *time)
{
    static char name[64];
    int64_t ms = 0;

    time_parse(time, &ms, NULL);
    snprintf(name, sizeof name, "c-%" PRId64, ms / MINUTE);
    return name;
}

static void check_made(struct schedule_fixture *fixture, const char *want)
{
    check_str("made", fixture->made.data ? fixture->made.data : "", want);
}

static void every_minute_makes_one_job(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    const struct object *job;
    const struct owner_ref *owner;

    f->succeed = true;
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', successfulJobsHistoryLimit: 1000");
    schedule_fixture_until(f, "2026-01-02T03:04:59Z");
    check_int("none before its time", f->made_count, 0);
    schedule_fixture_until(f, "2026-01-02T03:05:00Z");
    check_int("at its time", f->made_count, 1);
    schedule_fixture_until(f, "2026-01-02T06:04:30Z");
    check_int("three hours", f->made_count, 180);
    job = schedule_fixture_get(f, &kind_job, job_at("2026-01-02T03:05:00Z"));
    check("name", job != NULL);
    owner = meta_controller(job->meta);
    check_str("owner", owner->kind, "CronJob");
    check_str("owner", owner->uid, object_uid(schedule_fixture_get(f, &kind_cron_job, "c")));
    check("owner", owner->block_owner_deletion);
    check_str("annotation", meta_annotation(job->meta, ANNOTATION_CRONJOB_TIME),
              "2026-01-02T03:05:00Z");
    check_str("annotation of the template", meta_annotation(job->meta, "a"), "b");
    check_str("label of the template", meta_label(job->meta, "app"), "x");
    check_str("last", status_at(f, "lastScheduleTime"), "2026-01-02T06:04:00Z");
    check_str("successful", status_at(f, "lastSuccessfulTime"), "2026-01-02T06:04:00Z");
    check_str("active", status_at(f, "active"), "");
}

static void the_annotation_has_the_time_of_the_zone(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-10-24T12:00:00Z");

    schedule_fixture_cronjob(f, "c", "schedule: '30 2 * * *', timeZone: Europe/Berlin");
    schedule_fixture_until(f, "2026-10-26T12:00:00Z");
    check_made(f, "c-29881470 c-29882970 ");
    check_str("summer",
              meta_annotation(schedule_fixture_get(f, &kind_job, "c-29881470")->meta,
                              ANNOTATION_CRONJOB_TIME),
              "2026-10-25T02:30:00+02:00");
    check_str("winter",
              meta_annotation(schedule_fixture_get(f, &kind_job, "c-29882970")->meta,
                              ANNOTATION_CRONJOB_TIME),
              "2026-10-26T02:30:00+01:00");
}

static void upstream_drops_and_doubles_at_clock_changes(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-10-24T12:00:00Z");

    f->options.upstream_compat = true;
    schedule_fixture_restart(f);
    schedule_fixture_cronjob(f, "c", "schedule: '30 2 * * *', timeZone: Europe/Berlin");
    schedule_fixture_until(f, "2026-10-25T12:00:00Z");
    check_made(f, "c-29881470 c-29881530 ");
}

static void a_suspended_cronjob_makes_no_job(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', suspend: true");
    schedule_fixture_advance(f, HOUR);
    check_int("suspended", f->made_count, 0);
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', startingDeadlineSeconds: 2");
    schedule_fixture_advance(f, MINUTE);
    check_int("resumed", f->made_count, 1);
}

static void allow_forbid_and_replace_treat_an_active_job(void **state)
{
    /* clang-format off */
    static const struct {
        const char *policy;
        int made, deleted, jobs;
    } cases[] = {
        {"Allow",   3, 0, 3},
        {"Forbid",  1, 0, 1},
        {"Replace", 3, 2, 1},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(schedule_fixture) struct schedule_fixture *f =
            schedule_fixture_new("2026-01-02T03:04:05Z");
        scoped_str spec =
            mem_printf("schedule: '* * * * *', concurrencyPolicy: %s", cases[i].policy);
        int spaces = 0;

        schedule_fixture_cronjob(f, "c", spec);
        schedule_fixture_advance(f, 3 * MINUTE);
        for (const char *c = f->deleted.data; c && *c; c++)
            spaces += *c == ' ';
        check_int(cases[i].policy, f->made_count, cases[i].made);
        check_int(cases[i].policy, spaces, cases[i].deleted);
        check_int(cases[i].policy, schedule_fixture_count(f, &kind_job), cases[i].jobs);
    }
}

static void forbid_tells_once_and_runs_the_newest_time_afterwards(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:30Z");

    schedule_fixture_cronjob(f, "c", "schedule: '0,1 * * * *', concurrencyPolicy: Forbid");
    schedule_fixture_until(f, "2026-01-02T03:30:00Z");
    check_int("first", f->made_count, 1);
    schedule_fixture_until(f, "2026-01-02T04:30:00Z");
    check_int("one event for each due time", schedule_fixture_events(f, "ForbidConcurrent"), 2);
    schedule_fixture_phase(f, job_at("2026-01-02T03:01:00Z"), JOB_COMPLETED);
    check_int("the newest runs", f->made_count, 2);
    check("the newest runs",
          schedule_fixture_get(f, &kind_job, job_at("2026-01-02T04:01:00Z")) != NULL);
    check_int("completed", schedule_fixture_events(f, "SawCompletedJob"), 1);
}

static void forbid_leaves_a_time_out_whose_deadline_is_over(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:30Z");

    schedule_fixture_cronjob(
        f, "c", "schedule: '0 * * * *', concurrencyPolicy: Forbid, startingDeadlineSeconds: 60");
    schedule_fixture_until(f, "2026-01-02T05:10:00Z");
    schedule_fixture_phase(f, job_at("2026-01-02T04:00:00Z"), JOB_COMPLETED);
    check_int("05:00 is over", f->made_count, 1);
    schedule_fixture_until(f, "2026-01-02T06:00:00Z");
    check_int("06:00 runs", f->made_count, 2);
}

static void an_aborted_job_holds_forbid_and_is_told(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    const char *first;

    schedule_fixture_cronjob(f, "c", "schedule: '*/5 * * * *', concurrencyPolicy: Forbid");
    schedule_fixture_until(f, "2026-01-02T03:05:00Z");
    first = job_at("2026-01-02T03:05:00Z");
    schedule_fixture_phase(f, first, JOB_ABORTED);
    schedule_fixture_until(f, "2026-01-02T03:16:00Z");
    check_int("held", f->made_count, 1);
    check_has("told", schedule_fixture_event_text(f, "ForbidConcurrent"),
              "is aborted: resume or delete it");
    schedule_fixture_phase(f, first, JOB_RUNNING);
    check_int("resumed", f->made_count, 1);
    schedule_fixture_phase(f, first, JOB_COMPLETED);
    check_int("the newest time runs", f->made_count, 2);
    check("the newest time runs",
          schedule_fixture_get(f, &kind_job, job_at("2026-01-02T03:15:00Z")) != NULL);
}

static void replace_deletes_all_active_jobs_in_the_turn_of_the_new_one(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *'");
    schedule_fixture_advance(f, 3 * MINUTE);
    check_int("three", schedule_fixture_count(f, &kind_job), 3);
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', concurrencyPolicy: Replace");
    schedule_fixture_advance(f, MINUTE);
    check_int("made", f->made_count, 4);
    check_int("left", schedule_fixture_count(f, &kind_job), 1);
    check("left", schedule_fixture_get(f, &kind_job, job_at("2026-01-02T03:08:00Z")) != NULL);
    check_int("events", schedule_fixture_events(f, "ReplaceConcurrent"), 3);
}

static void many_missed_times_are_told_once_and_one_job_is_made(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_stop(f);
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', concurrencyPolicy: Forbid");
    schedule_fixture_advance(f, 2 * HOUR);
    schedule_fixture_start(f);
    check_int("one", f->made_count, 1);
    check_int("told", schedule_fixture_events(f, "TooManyMissedTimes"), 1);
    check_has("told", schedule_fixture_event_text(f, "TooManyMissedTimes"),
              "too many missed start times: 120.");
    schedule_fixture_restart(f);
    check_int("still one", f->made_count, 1);
    check_int("still told once", schedule_fixture_events(f, "TooManyMissedTimes"), 1);
}

static void a_deadline_leaves_old_times_out(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:00Z");

    schedule_fixture_cronjob(f, "c", "schedule: '0 * * * *', startingDeadlineSeconds: 60");
    schedule_fixture_sleep(f, 8 * HOUR + 10 * MINUTE);
    check_int("ten past", f->made_count, 0);
    schedule_fixture_until(f, "2026-01-02T12:00:00Z");
    check_int("the next hour", f->made_count, 1);
}

static void seconds_apart_are_different_names(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    f->succeed = true;
    schedule_fixture_cronjob(f, "c", "schedule: '@every 10s', successfulJobsHistoryLimit: 100");
    schedule_fixture_advance(f, MINUTE);
    check_int("six a minute", f->made_count, 6);
    check_int("six names", schedule_fixture_count(f, &kind_job), 6);
}

static void a_job_of_somebody_else_is_told_and_the_next_time_works(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    scoped_str yaml = mem_printf(
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s}\nspec: {tasks: "
        "[{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i, command: "
        "[c]}]}}}]}\n",
        job_at("2026-01-02T03:05:00Z"));

    schedule_fixture_apply(f, yaml);
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', concurrencyPolicy: Forbid");
    schedule_fixture_advance(f, MINUTE);
    check_int("told", schedule_fixture_events(f, "ForeignJob"), 1);
    check_int("none made", f->made_count, 1);
    check_str("active", status_at(f, "active"), "");
    schedule_fixture_advance(f, MINUTE);
    check_int("the next", f->made_count, 2);
    check_int("told once", schedule_fixture_events(f, "ForeignJob"), 1);
}

static void history_keeps_the_newest_of_each_result(void **state)
{
    static const enum job_phase ends[] = {JOB_COMPLETED, JOB_TERMINATED, JOB_COMPLETED,
                                          JOB_FAILED,    JOB_COMPLETED,  JOB_TERMINATED};
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:30Z");

    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', successfulJobsHistoryLimit: 2");
    for (size_t i = 0; i < countof(ends); i++) {
        schedule_fixture_advance(f, MINUTE);
        {
            char time[TIME_TEXT_MAX];

            time_format(loop_wall_ms(f->loop) / MINUTE * MINUTE, time);
            schedule_fixture_phase(f, job_at(time), ends[i]);
        }
    }
    check_str("deleted", f->deleted.data, "c-29455382 c-29455381 c-29455384 ");
    check_int("kept", schedule_fixture_count(f, &kind_job), 3);
    check_int("told", schedule_fixture_events(f, "SuccessfulDelete"), 3);
}

static void no_history_is_kept_with_limit_0_and_no_time_runs_twice(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:30Z");

    f->succeed = true;
    schedule_fixture_cronjob(f, "c", "schedule: '* * * * *', successfulJobsHistoryLimit: 0");
    for (int i = 0; i < 10; i++) {
        schedule_fixture_advance(f, MINUTE);
        schedule_fixture_restart(f);
    }
    check_int("made", f->made_count, 10);
    check_int("kept", schedule_fixture_count(f, &kind_job), 0);
}

static void a_creation_that_fails_is_told_and_repeated(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_cronjob(f, "c", "schedule: '0 * * * *'");
    faulty_expect(f->cluster, .ops = FAULTY_CREATE, .kind = &kind_job, .times = 3,
                  .code = ERR_STORAGE);
    schedule_fixture_until(f, "2026-01-02T04:00:00Z");
    check_int("refused", f->made_count, 0);
    check("told", schedule_fixture_events(f, "FailedCreate") > 0);
    schedule_fixture_until(f, "2026-01-02T04:01:00Z");
    check_int("made", f->made_count, 1);
    check("for its time",
          schedule_fixture_get(f, &kind_job, job_at("2026-01-02T04:00:00Z")) != NULL);
}

static void a_clock_that_jumps_makes_no_time_run_twice(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:00:30Z");

    f->succeed = true;
    schedule_fixture_cronjob(f, "c", "schedule: '*/10 * * * *'");
    schedule_fixture_until(f, "2026-01-02T03:35:00Z");
    check_int("three", f->made_count, 3);
    clock_jump_ms(f->clock, -30 * MINUTE); /* to 03:05 */
    schedule_fixture_until(f, "2026-01-02T03:35:00Z");
    check_int("none twice", f->made_count, 3);
    schedule_fixture_until(f, "2026-01-02T03:40:00Z");
    check_int("the next", f->made_count, 4);
    clock_jump_ms(f->clock, 60 * MINUTE); /* to 04:40 */
    schedule_fixture_advance(f, MINUTE);
    check_int("the newest of six", f->made_count, 5);
    check_str("last", status_at(f, "lastScheduleTime"), "2026-01-02T04:40:00Z");
}

static void a_zone_that_vanishes_is_told_and_comes_back(void **state)
{
    scoped_str dir = test_path("zones");
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");

    schedule_fixture_cronjob(f, "c", "schedule: '0 4 * * *', timeZone: Europe/Berlin");
    zone_environment(NULL, dir);
    schedule_fixture_advance(f, 2 * MINUTE);
    check_int("told", schedule_fixture_events(f, "InvalidTimeZone"), 1);
    schedule_fixture_advance(f, 2 * MINUTE);
    check_int("told once", schedule_fixture_events(f, "InvalidTimeZone"), 1);
    zone_environment(NULL, NULL);
    schedule_fixture_until(f, "2026-01-03T03:00:00Z");
    check_int("runs again", f->made_count, 1);
}

static void firing_by_hand_makes_one_job_and_moves_no_schedule(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    const struct object *job;
    scoped_str name = NULL;

    schedule_fixture_cronjob(f, "c", "schedule: '0 4 * * *', suspend: true");
    schedule_fixture_command(f, &kind_cron_job, "c", "FireJob", NULL);
    check_int("made", f->made_count, 1);
    check_has("name", f->made.data, "c-manual-");
    name = mem_printf("%.*s", (int)strlen(f->made.data) - 1, f->made.data);
    job = schedule_fixture_get(f, &kind_job, name);
    check_str("annotation", meta_annotation(job->meta, ANNOTATION_CRONJOB_MANUAL), "manual");
    check_int("used up", schedule_fixture_count(f, &kind_command), 0);
    check_str("schedule", status_at(f, "lastScheduleTime"), "");
    check_str("active", status_at(f, "active/0/name"), name);
    schedule_fixture_command(f, &kind_cron_job, "nothing", "FireJob", NULL);
    check_int("refused", schedule_fixture_events(f, "CommandRejected"), 1);
    check_int("used up", schedule_fixture_count(f, &kind_command), 0);
    check_int("no other", f->made_count, 1);
}

/* Counts how often each name was made. */
static void check_once(struct schedule_fixture *f, int k)
{
    scoped_str names = mem_strdup(f->made.data ? f->made.data : "");
    char *rest = NULL;

    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        scoped_str padded = mem_printf("%s ", name);
        const char *first = strstr(f->made.data, padded);

        if (strstr(first + 1, padded))
            check_fail("killed after %d writes: %s was made twice: %s", k, name, f->made.data);
    }
}

/* covers: everyday.md EVD-020 */
/* A process that is killed leaves a beginning of its writes behind: all writes after the k-th are
 * refused, and then it starts anew. */
static void killed_after_any_write_each_time_runs_once(void **state)
{
    static const char *const policies[] = {"Allow", "Forbid", "Replace"};

    for (size_t p = 0; p < countof(policies); p++)
        for (int k = 0; k < 40; k++) {
            scoped(schedule_fixture) struct schedule_fixture *f =
                schedule_fixture_new("2026-01-02T03:00:30Z");
            scoped_str spec = mem_printf("schedule: '* * * * *', concurrencyPolicy: %s, "
                                         "successfulJobsHistoryLimit: 0",
                                         policies[p]);

            f->succeed = true;
            schedule_fixture_cronjob(f, "c", spec);
            faulty_expect(f->cluster, .ops = FAULTY_ANY, .skip = k, .code = ERR_STORAGE);
            schedule_fixture_advance(f, 4 * MINUTE);
            schedule_fixture_stop(f);
            faulty_clear(f->cluster);
            schedule_fixture_start(f);
            schedule_fixture_advance(f, 3 * MINUTE);
            check_once(f, k);
            check("the newest", schedule_fixture_events(f, "SuccessfulCreate") > 0);
            check_str("last", status_at(f, "lastScheduleTime"), "2026-01-02T03:07:00Z");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_minute_makes_one_job),
        cmocka_unit_test(the_annotation_has_the_time_of_the_zone),
        cmocka_unit_test(upstream_drops_and_doubles_at_clock_changes),
        cmocka_unit_test(a_suspended_cronjob_makes_no_job),
        cmocka_unit_test(allow_forbid_and_replace_treat_an_active_job),
        cmocka_unit_test(forbid_tells_once_and_runs_the_newest_time_afterwards),
        cmocka_unit_test(forbid_leaves_a_time_out_whose_deadline_is_over),
        cmocka_unit_test(an_aborted_job_holds_forbid_and_is_told),
        cmocka_unit_test(replace_deletes_all_active_jobs_in_the_turn_of_the_new_one),
        cmocka_unit_test(many_missed_times_are_told_once_and_one_job_is_made),
        cmocka_unit_test(a_deadline_leaves_old_times_out),
        cmocka_unit_test(seconds_apart_are_different_names),
        cmocka_unit_test(a_job_of_somebody_else_is_told_and_the_next_time_works),
        cmocka_unit_test(history_keeps_the_newest_of_each_result),
        cmocka_unit_test(no_history_is_kept_with_limit_0_and_no_time_runs_twice),
        cmocka_unit_test(a_creation_that_fails_is_told_and_repeated),
        cmocka_unit_test(a_clock_that_jumps_makes_no_time_run_twice),
        cmocka_unit_test(a_zone_that_vanishes_is_told_and_comes_back),
        cmocka_unit_test(firing_by_hand_makes_one_job_and_moves_no_schedule),
        cmocka_unit_test(killed_after_any_write_each_time_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
