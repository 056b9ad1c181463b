/*
 * Times of phases come from the pods, however late the controller sees them.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "job/model/pod_times.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static int64_t now_ms(const struct job_fixture *fixture)
{
    return loop_wall_ms(fixture->loop);
}

static void command_abort(struct job_fixture *fixture)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default}, action: AbortJob,\n"
                   "target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s}}",
                   object_uid(job_fixture_get(fixture, &kind_job, "j")));

    job_fixture_apply(fixture, yaml);
}

/* Makes a job of one pod that runs from now on, and returns the time of its start. */
static int64_t start_job(struct job_fixture *fixture, const char *extra)
{
    job_fixture_job_simple(fixture, "j", "t*1", extra);
    job_fixture_pod(fixture, "j-t-0", POD_RUNNING);
    job_fixture_advance(fixture, 100);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    return job_fixture_job(fixture, "j")->transition_ms;
}

/* covers: see 17.3 */
static void an_end_that_is_seen_late_has_its_own_time(void **unused)
{
    static const struct {
        const char *name, *extra;
        enum pod_phase end;
        const char *want;
    } cases[] = {
        {"a job that a verdict ends has the time of the pod's end", "", POD_SUCCEEDED, "Completed"},
        {"a job that a policy ends has the time of the pod's end",
         "policies: [{event: PodFailed, action: CompleteJob}]", POD_FAILED, "Completed"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
        int64_t started_ms = start_job(fixture, cases[i].extra), ended_ms;
        const struct job_status *status;

        job_fixture_stop_controller(fixture);
        job_fixture_advance(fixture, started_ms + 5250 - now_ms(fixture));
        ended_ms = now_ms(fixture);
        job_fixture_pod(fixture, "j-t-0", cases[i].end);
        job_fixture_advance(fixture, 60000);
        job_fixture_start_controller(fixture);
        job_fixture_advance(fixture, 1000);
        status = job_fixture_job(fixture, "j");
        check_str(cases[i].name, job_fixture_phase(fixture, "j"), cases[i].want);
        check_int("ran", status->running_duration_ns / 1000000, ended_ms - started_ms);
        if (cases[i].end == POD_SUCCEEDED)
            check_int("ended", status->transition_ms, ended_ms);
        job_fixture_free(fixture);
    }
}

/* covers: see 17.3 */
static void a_start_that_is_seen_late_has_its_own_time(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
    int64_t started_ms;

    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_advance(fixture, 1000);
    job_fixture_stop_controller(fixture);
    started_ms = now_ms(fixture);
    job_fixture_pod(fixture, "j-t-0", POD_RUNNING);
    job_fixture_advance(fixture, 7000);
    job_fixture_start_controller(fixture);
    job_fixture_advance(fixture, 1000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    check_int("began", job_fixture_job(fixture, "j")->transition_ms, started_ms);
    job_fixture_free(fixture);
}

/* covers: see 17.3 */
static void what_is_not_caused_by_a_pod_happens_when_it_is_decided(void **unused)
{
    static const struct {
        const char *name, *extra;
    } cases[] = {
        {"a delayed action happens when its delay is over",
         "policies: [{event: PodFailed, action: AbortJob, timeout: 5s}]"},
        {"a Command happens when it is executed", ""},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
        int64_t asked_ms;

        job_fixture_job_simple(fixture, "j", "t*2", cases[i].extra);
        job_fixture_pod(fixture, "j-t-0", POD_RUNNING);
        job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
        if (i == 0)
            job_fixture_pod_failed(fixture, "j-t-1", 3);
        asked_ms = now_ms(fixture) + 5000;
        job_fixture_advance(fixture, 5000);
        if (i == 1)
            command_abort(fixture);
        job_fixture_advance(fixture, 1000);
        check_str(cases[i].name, job_fixture_phase(fixture, "j"), "Aborted");
        check(cases[i].name,
              job_fixture_job(fixture, "j")->transition_ms >= asked_ms / 1000 * 1000);
        job_fixture_free(fixture);
    }
}

static void a_stored_time_is_read_so_that_nothing_comes_early(void **unused)
{
    static const struct {
        const char *name;
        int64_t init_ms, main_ms, want_ms;
    } cases[] = {
        {"a pod that has not ended has no time of its end", 0, 0, 0},
        {"a time with milliseconds is exact", 0, 7250, 7250},
        {"a time in whole seconds is read as the end of its second", 0, 7000, 7999},
        {"an init container may be the last to end", 7250, 0, 7250},
    };
    static const struct {
        const char *name;
        int64_t started_ms, entered_ms, want_ms;
    } starts[] = {
        {"a start in the second of the phase counts", 7250, 7000, 7250},
        {"a start in a later second does not count", 8250, 7000, 7000},
        {"a start before the phase does not count", 6900, 7000, 7000},
        {"a time of the phase with milliseconds is exact", 7250, 7100, 7100},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct container_status init = {.finished_ms = cases[i].init_ms};
        struct container_status container = {.finished_ms = cases[i].main_ms};
        struct pod_status status = {.init_containers = {&init, 1}, .containers = {&container, 1}};

        check_int(cases[i].name, job_pod_ended_ms(&status), cases[i].want_ms);
    }
    for (size_t i = 0; i < countof(starts); i++) {
        struct job_pod_times times = {.started_ms = starts[i].started_ms};

        check_int(starts[i].name, job_pod_times_of_start(&times, starts[i].entered_ms),
                  starts[i].want_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_that_is_seen_late_has_its_own_time),
        cmocka_unit_test(a_start_that_is_seen_late_has_its_own_time),
        cmocka_unit_test(what_is_not_caused_by_a_pod_happens_when_it_is_decided),
        cmocka_unit_test(a_stored_time_is_read_so_that_nothing_comes_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
