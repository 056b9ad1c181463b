/*
 * Writes that are refused, lost or late: a job comes to the same end all the same. Ref:
 * spec/job.md 20.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct stage *stage, const char *job, const char *want)
{
    check_str(job, stage_phase(stage, job), want);
}

static struct stage *running_pods(void)
{
    return stage_new(&(struct stage_options){.run_pods = true});
}

struct fault {
    const char *name;
    enum faulty_way way;
    enum error_code code;
    int64_t delay_ms;
};

static const struct fault faults[] = {
    {"conflict", FAULTY_REFUSE, ERR_CONFLICT},
    {"internal", FAULTY_REFUSE, ERR_INTERNAL},
    {"too many", FAULTY_REFUSE, ERR_TOO_MANY},
    {"timeout, but done", FAULTY_LOSE, ERR_TIMEOUT},
    {"conflict, but done", FAULTY_LOSE, ERR_CONFLICT},
    {"late", FAULTY_DELAY, ERR_NONE, 40},
};

/* The n-th write of a life with a restart goes wrong, for every n and every way. covers: job.md
 * ST-44; see 20.5 */
static void every_single_write_may_go_wrong(void **unused)
{
    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0; n < 22; n++) {
            struct stage *stage = running_pods();
            scoped_str name = mem_printf("%s, write %d", faults[f].name, n);

            faulty_expect(stage->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code,
                          .delay_ms = faults[f].delay_ms);
            stage_job_simple(
                stage, "j", "t*2",
                "plugins: {svc: []};policies: [{event: PodFailed, action: RestartJob}]");
            stage_advance(stage, 1000);
            check_str(name, stage_phase(stage, "j"), "Running");
            stage_pod_failed(stage, "j-t-0", 1);
            stage_advance(stage, 1000);
            check_str(name, stage_phase(stage, "j"), "Running");
            check_int(name, stage_job(stage, "j")->retry_count, 1);
            check_int(name, stage_job(stage, "j")->running, 2);
            stage_pods(stage, POD_SUCCEEDED);
            stage_advance(stage, 1000);
            check_str(name, stage_phase(stage, "j"), "Completed");
            check_int(name, stage_job(stage, "j")->succeeded, 2);
            check_int(name, stage_count(stage, &kind_pod), 2);
            check_int(name, stage_count(stage, &kind_pod_group), 0);
            check_int(name, stage_count(stage, &kind_config_map), 0);
            stage_free(stage);
        }
}

static void a_targeted_restart_counts_once_whatever_goes_wrong(void **unused)
{
    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0; n < 8; n++) {
            struct stage *stage = running_pods();
            scoped_str name = mem_printf("%s, write %d", faults[f].name, n);

            stage_job_simple(stage, "j", "t*3",
                             "policies: [{event: PodFailed, action: RestartTask}]");
            faulty_expect(stage->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code,
                          .delay_ms = faults[f].delay_ms);
            stage_pod_failed(stage, "j-t-0", 1);
            stage_advance(stage, 1000);
            check_str(name, stage_phase(stage, "j"), "Running");
            check_int(name, stage_job(stage, "j")->retry_count, 1);
            check_int(name, stage_job(stage, "j")->running, 3);
            stage_free(stage);
        }
}

/* covers: job.md POD-18 */
static void one_pod_that_cannot_be_made_holds_up_no_other(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    faulty_expect(stage->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .skip = 1, .times = 1,
                  .way = FAULTY_REFUSE, .code = ERR_INVALID);
    stage_job_simple(stage, "j", "t*4", "");
    stage_advance(stage, 100);
    assert_int_equal(stage_count(stage, &kind_pod), 4);
    assert_true(stage_has_event(stage, "FailedCreate"));
    stage_free(stage);
}

/* covers: job.md WQ-04 */
static void a_permanent_error_ends_the_job_after_fifteen_retries(void **unused)
{
    struct stage *stage = running_pods();

    faulty_expect(stage->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .way = FAULTY_REFUSE,
                  .code = ERR_INVALID);
    stage_job_simple(stage, "j", "t*2", "");
    stage_advance(stage, 60000);
    check_phase(stage, "j", "Pending");
    stage_advance(stage, 3600000);
    check_phase(stage, "j", "Terminated");
    assert_int_equal(faulty_hits(stage->cluster), 32); /* two pods, once and fifteen times again */
    stage_free(stage);

    stage = stage_new(&(struct stage_options){.no_limit = true});
    faulty_expect(stage->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .way = FAULTY_REFUSE,
                  .code = ERR_INVALID);
    stage_job_simple(stage, "j", "t*2", "");
    stage_advance(stage, 36000000);
    check_phase(stage, "j", "Pending");
    stage_free(stage);
}

/* covers: job.md POD-20; see O-43 */
static void a_quota_is_waited_for_as_long_as_it_takes(void **unused)
{
    struct stage *stage = running_pods();

    faulty_expect(stage->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .skip = 3, .times = 200,
                  .way = FAULTY_REFUSE, .code = ERR_UNAVAILABLE);
    stage_job_simple(stage, "j", "t*8", "");
    stage_advance(stage, 500);
    assert_int_equal(stage_job(stage, "j")->running, 3); /* counted and stored meanwhile */
    stage_advance(stage, 7200000);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->running, 8);
    stage_free(stage);
}

/* covers: job.md POD-21; see O-51 */
static void a_pod_that_cannot_be_marked_is_not_deleted(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*3", "policies: [{event: PodFailed, action: AbortJob}]");
    stage->deleted[0] = '\0';
    faulty_expect(stage->cluster, .ops = FAULTY_UPDATE, .kind = &kind_pod, .times = 1,
                  .way = FAULTY_REFUSE, .code = ERR_INTERNAL);
    stage_pod_failed(stage, "j-t-1", 1);
    stage_advance(stage, 1000);
    check_phase(stage, "j", "Aborted");
    assert_string_equal(stage->deleted, "j-t-0 j-t-2"); /* the second try comes later */
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_single_write_may_go_wrong),
        cmocka_unit_test(a_targeted_restart_counts_once_whatever_goes_wrong),
        cmocka_unit_test(one_pod_that_cannot_be_made_holds_up_no_other),
        cmocka_unit_test(a_permanent_error_ends_the_job_after_fifteen_retries),
        cmocka_unit_test(a_quota_is_waited_for_as_long_as_it_takes),
        cmocka_unit_test(a_pod_that_cannot_be_marked_is_not_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
