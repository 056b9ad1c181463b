/*
 * Tests the deletion of finished jobs whose time to live is over.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct job_fixture *one_that_ends(const char *extra)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .finish_pods = true});

    job_fixture_job_simple(fixture, "j", "t*1", extra);
    return fixture;
}

/* covers: job.md GC-05 */
static void a_job_expires_its_time_after_its_end(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    int64_t ended_ms;

    job_fixture_job_simple(fixture, "j", "t*1", "ttlSecondsAfterFinished: 3");
    job_fixture_advance(fixture, 7000); /* the time before the end of the job does not count */
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    ended_ms = job_fixture_job(fixture, "j")->transition_ms;
    job_fixture_advance(fixture, ended_ms + 2990 - loop_wall_ms(fixture->loop));
    check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
    job_fixture_advance(fixture, 60);
    check_str("gone", job_fixture_phase(fixture, "j"), "");
    job_fixture_free(fixture);
}

/* covers: reliability.md D-12 FT-16 INV-J9 */
static void a_wall_clock_that_jumps_changes_nothing(void **unused)
{
    static const int64_t jumps_ms[] = {1000, 3600000, 86400000, -1000, -3600000, -86400000};

    for (size_t i = 0; i < countof(jumps_ms); i++) {
        struct job_fixture *fixture = one_that_ends("ttlSecondsAfterFinished: 100");

        job_fixture_advance(fixture, 10000);
        clock_jump_ms(fixture->clock, jumps_ms[i]);
        job_fixture_advance(fixture, 85000);
        check_str("kept", job_fixture_phase(fixture, "j"), "Completed");
        job_fixture_advance(fixture, 10000);
        check_str("gone", job_fixture_phase(fixture, "j"), "");
        job_fixture_free(fixture);
    }
}

/* A new process knows only the wall clock. If that was set back, the job waits at most the whole
 * time once more. */
static void a_restart_after_a_jump_waits_no_longer_than_the_whole_time(void **unused)
{
    struct job_fixture *fixture = one_that_ends("ttlSecondsAfterFinished: 100");

    clock_jump_ms(fixture->clock, -86400000);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 99000);
    check_str("kept", job_fixture_phase(fixture, "j"), "Completed");
    job_fixture_advance(fixture, 2000);
    check_str("gone", job_fixture_phase(fixture, "j"), "");
    job_fixture_free(fixture);
}

static void set_end(struct job_fixture *fixture, int64_t at_ms)
{
    struct job_status status = *job_fixture_job(fixture, "j");

    status.transition_ms = at_ms;
    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_job, "j"),
                          job_status_blob(&status));
    job_fixture_settle(fixture);
}

/* covers: job.md GC-06 */
static void a_job_without_a_time_of_its_end_is_looked_at_again(void **unused)
{
    struct job_fixture *fixture = one_that_ends("ttlSecondsAfterFinished: 100");

    set_end(fixture, 0);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 300000);
    check_str("kept", job_fixture_phase(fixture, "j"), "Completed");
    set_end(fixture, loop_wall_ms(fixture->loop) - 1000000);
    job_fixture_advance(fixture, 20000);
    check_str("gone", job_fixture_phase(fixture, "j"), "");
    job_fixture_free(fixture);
}

/* covers: job.md GC-07 */
static void the_next_job_of_the_name_is_never_collected(void **unused)
{
    struct job_fixture *fixture = one_that_ends("ttlSecondsAfterFinished: 1");

    faulty_expect(fixture->cluster, .ops = FAULTY_REMOVE, .kind = &kind_job, .way = FAULTY_DELAY,
                  .delay_ms = 5000);
    job_fixture_advance(fixture, 1500); /* the controller's deletion is on its way */
    job_fixture_delete(fixture, &kind_job, "j");
    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_advance(fixture, 20000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
    job_fixture_free(fixture);
}

/* covers: job.md GC-10 */
static void a_job_that_is_being_deleted_is_ignored(void **unused)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_FOREGROUND};
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    int before;

    job_fixture_job_simple(fixture, "j", "t*2", "minSuccess: 1;ttlSecondsAfterFinished: 2");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED); /* the other pod does not end yet */
    check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
    cluster_remove(fixture->backend, NULL, &kind_job, "default", "j", &how);
    job_fixture_settle(fixture);
    before = faulty_writes(fixture->cluster);
    job_fixture_advance(fixture, 60000);
    assert_int_equal(faulty_writes(fixture->cluster), before);
    job_fixture_let_go(fixture);
    check_str("gone", job_fixture_phase(fixture, "j"), "");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_expires_its_time_after_its_end),
        cmocka_unit_test(a_wall_clock_that_jumps_changes_nothing),
        cmocka_unit_test(a_restart_after_a_jump_waits_no_longer_than_the_whole_time),
        cmocka_unit_test(a_job_without_a_time_of_its_end_is_looked_at_again),
        cmocka_unit_test(the_next_job_of_the_name_is_never_collected),
        cmocka_unit_test(a_job_that_is_being_deleted_is_ignored),
    };
    static void (*const spared[])(void **state) = {
        the_next_job_of_the_name_is_never_collected, /* the name must be free when the test expects
                                                      * it */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
