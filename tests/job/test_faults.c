/*
 * Tests writes that are refused, lost or late: a job comes to the same end all the same. Ref:
 * spec/job.md 20.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct job_fixture *fixture, const char *job, const char *want)
{
    check_str(job, job_fixture_phase(fixture, job), want);
}

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
}

struct fault {
    const char *name;
    enum faulty_way way;
    enum error_code code;
    int64_t delay_ms;
};

static const struct fault faults[] = {
    {"refused by a conflict", FAULTY_REFUSE, ERR_CONFLICT},
    {"refused by an internal error", FAULTY_REFUSE, ERR_INTERNAL},
    {"refused because of too many requests", FAULTY_REFUSE, ERR_TOO_MANY},
    {"done and answered with a timeout", FAULTY_LOSE, ERR_TIMEOUT},
    {"done and answered with a conflict", FAULTY_LOSE, ERR_CONFLICT},
    {"late", FAULTY_DELAY, ERR_NONE, 40},
};

/* Each write of a life with a restart is refused, lost or delayed in turn. covers: job.md ST-44;
 * see 20.5 */
static void every_single_write_may_go_wrong(void **unused)
{
    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0; n < 22; n++) {
            struct job_fixture *fixture = running_pods();
            scoped_str name = mem_printf("%s, write %d", faults[f].name, n);

            faulty_expect(fixture->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code,
                          .delay_ms = faults[f].delay_ms);
            job_fixture_job_simple(
                fixture, "j", "t*2",
                "plugins: {svc: []};policies: [{event: PodFailed, action: RestartJob}]");
            job_fixture_advance(fixture, 1000);
            check_str(name, job_fixture_phase(fixture, "j"), "Running");
            job_fixture_pod_failed(fixture, "j-t-0", 1);
            job_fixture_advance(fixture, 1000);
            check_str(name, job_fixture_phase(fixture, "j"), "Running");
            check_int(name, job_fixture_job(fixture, "j")->retry_count, 1);
            check_int(name, job_fixture_job(fixture, "j")->running, 2);
            job_fixture_pods(fixture, POD_SUCCEEDED);
            job_fixture_advance(fixture, 1000);
            check_str(name, job_fixture_phase(fixture, "j"), "Completed");
            check_int(name, job_fixture_job(fixture, "j")->succeeded, 2);
            check_int(name, job_fixture_count(fixture, &kind_pod), 2);
            check_int(name, job_fixture_count(fixture, &kind_pod_group), 0);
            check_int(name, job_fixture_count(fixture, &kind_config_map), 0);
            job_fixture_free(fixture);
        }
}

static void a_targeted_restart_counts_once_whatever_goes_wrong(void **unused)
{
    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0; n < 8; n++) {
            struct job_fixture *fixture = running_pods();
            scoped_str name = mem_printf("%s, write %d", faults[f].name, n);

            job_fixture_job_simple(fixture, "j", "t*3",
                                   "policies: [{event: PodFailed, action: RestartTask}]");
            faulty_expect(fixture->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code,
                          .delay_ms = faults[f].delay_ms);
            job_fixture_pod_failed(fixture, "j-t-0", 1);
            job_fixture_advance(fixture, 1000);
            check_str(name, job_fixture_phase(fixture, "j"), "Running");
            check_int(name, job_fixture_job(fixture, "j")->retry_count, 1);
            check_int(name, job_fixture_job(fixture, "j")->running, 3);
            job_fixture_free(fixture);
        }
}

/* covers: job.md POD-18 */
static void one_pod_that_cannot_be_made_holds_up_no_other(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .skip = 1, .times = 1,
                  .way = FAULTY_REFUSE, .code = ERR_INVALID);
    job_fixture_job_simple(fixture, "j", "t*4", "");
    job_fixture_advance(fixture, 100);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 4);
    assert_true(job_fixture_has_event(fixture, "FailedCreate"));
    job_fixture_free(fixture);
}

/* covers: job.md WQ-04 */
static void a_permanent_error_ends_the_job_after_fifteen_retries(void **unused)
{
    struct job_fixture *fixture = running_pods();

    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .way = FAULTY_REFUSE,
                  .code = ERR_INVALID);
    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_advance(fixture, 60000);
    check_phase(fixture, "j", "Pending");
    job_fixture_advance(fixture, 3600000);
    check_phase(fixture, "j", "Terminated");
    assert_int_equal(faulty_hits(fixture->cluster),
                     32); /* two pods; each is tried once and fifteen times again */
    job_fixture_free(fixture);

    fixture = job_fixture_new(&(struct job_fixture_options){.no_limit = true});
    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .way = FAULTY_REFUSE,
                  .code = ERR_INVALID);
    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_advance(fixture, 36000000);
    check_phase(fixture, "j", "Pending");
    job_fixture_free(fixture);
}

/* covers: job.md POD-20; see O-43 */
static void a_quota_is_waited_for_as_long_as_it_takes(void **unused)
{
    struct job_fixture *fixture = running_pods();

    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_pod, .skip = 3,
                  .times = 200, .way = FAULTY_REFUSE, .code = ERR_UNAVAILABLE);
    job_fixture_job_simple(fixture, "j", "t*8", "");
    job_fixture_advance(fixture, 500);
    /* The three pods were counted and stored meanwhile. */
    assert_int_equal(job_fixture_job(fixture, "j")->running, 3);
    job_fixture_advance(fixture, 7200000);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->running, 8);
    job_fixture_free(fixture);
}

/* covers: job.md POD-21; see O-51 */
static void a_pod_that_cannot_be_marked_is_not_deleted(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*3", "policies: [{event: PodFailed, action: AbortJob}]");
    fixture->deleted[0] = '\0';
    faulty_expect(fixture->cluster, .ops = FAULTY_UPDATE, .kind = &kind_pod, .times = 1,
                  .way = FAULTY_REFUSE, .code = ERR_INTERNAL);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    job_fixture_advance(fixture, 1000);
    check_phase(fixture, "j", "Aborted");
    assert_string_equal(fixture->deleted, "j-t-0 j-t-2"); /* the second deletion is tried later */
    job_fixture_free(fixture);
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
