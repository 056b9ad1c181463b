/*
 * The end of finished jobs whose time to live is over.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct stage *one_that_ends(const char *extra)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true, .finish_pods = true});

    stage_job_simple(stage, "j", "t*1", extra);
    return stage;
}

/* covers: job.md GC-05 */
static void a_job_expires_its_time_after_its_end(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    int64_t ended_ms;

    stage_job_simple(stage, "j", "t*1", "ttlSecondsAfterFinished: 3");
    stage_advance(stage, 7000); /* its life does not count */
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    ended_ms = stage_job(stage, "j")->transition_ms;
    stage_advance(stage, ended_ms + 2990 - loop_wall_ms(stage->loop));
    check_str("phase", stage_phase(stage, "j"), "Completed");
    stage_advance(stage, 60);
    check_str("gone", stage_phase(stage, "j"), "");
    stage_free(stage);
}

/* covers: reliability.md D-12 FT-16 INV-J9 */
static void a_wall_clock_that_jumps_changes_nothing(void **unused)
{
    static const int64_t jumps_ms[] = {1000, 3600000, 86400000, -1000, -3600000, -86400000};

    for (size_t i = 0; i < countof(jumps_ms); i++) {
        struct stage *stage = one_that_ends("ttlSecondsAfterFinished: 100");

        stage_advance(stage, 10000);
        clock_jump_ms(stage->clock, jumps_ms[i]);
        stage_advance(stage, 85000);
        check_str("kept", stage_phase(stage, "j"), "Completed");
        stage_advance(stage, 10000);
        check_str("gone", stage_phase(stage, "j"), "");
        stage_free(stage);
    }
}

/* A new process knows the wall alone; set back, it waits no longer than the whole time once more.
 */
static void a_restart_after_a_jump_waits_no_longer_than_the_whole_time(void **unused)
{
    struct stage *stage = one_that_ends("ttlSecondsAfterFinished: 100");

    clock_jump_ms(stage->clock, -86400000);
    stage_restart(stage);
    stage_advance(stage, 99000);
    check_str("kept", stage_phase(stage, "j"), "Completed");
    stage_advance(stage, 2000);
    check_str("gone", stage_phase(stage, "j"), "");
    stage_free(stage);
}

static void set_end(struct stage *stage, int64_t at_ms)
{
    struct job_status status = *stage_job(stage, "j");

    status.transition_ms = at_ms;
    cluster_update_status(stage->backend, NULL, stage_get(stage, &kind_job, "j"),
                          job_status_blob(&status));
    stage_settle(stage);
}

/* covers: job.md GC-06 */
static void a_job_without_a_time_of_its_end_is_looked_at_again(void **unused)
{
    struct stage *stage = one_that_ends("ttlSecondsAfterFinished: 100");

    set_end(stage, 0);
    stage_restart(stage);
    stage_advance(stage, 300000);
    check_str("kept", stage_phase(stage, "j"), "Completed");
    set_end(stage, loop_wall_ms(stage->loop) - 1000000);
    stage_advance(stage, 20000);
    check_str("gone", stage_phase(stage, "j"), "");
    stage_free(stage);
}

/* covers: job.md GC-07 */
static void the_next_job_of_the_name_is_never_collected(void **unused)
{
    struct stage *stage = one_that_ends("ttlSecondsAfterFinished: 1");

    faulty_expect(stage->cluster, .ops = FAULTY_REMOVE, .kind = &kind_job, .way = FAULTY_DELAY,
                  .delay_ms = 5000);
    stage_advance(stage, 1500); /* the deletion is on its way */
    stage_delete(stage, &kind_job, "j");
    stage_job_simple(stage, "j", "t*1", "");
    stage_advance(stage, 20000);
    check_str("phase", stage_phase(stage, "j"), "Completed");
    stage_free(stage);
}

/* covers: job.md GC-10 */
static void a_job_that_is_being_deleted_is_ignored(void **unused)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_FOREGROUND};
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});
    int before;

    stage_job_simple(stage, "j", "t*2", "minSuccess: 1;ttlSecondsAfterFinished: 2");
    stage_pod(stage, "j-t-0", POD_SUCCEEDED); /* the other one lingers */
    check_str("phase", stage_phase(stage, "j"), "Completed");
    cluster_remove(stage->backend, NULL, &kind_job, "default", "j", &how);
    stage_settle(stage);
    before = faulty_writes(stage->cluster);
    stage_advance(stage, 60000);
    assert_int_equal(faulty_writes(stage->cluster), before);
    stage_let_go(stage);
    check_str("gone", stage_phase(stage, "j"), "");
    stage_free(stage);
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
        the_next_job_of_the_name_is_never_collected, /* the name must be free when it says so */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
