/*
 * Tests how much the controller does, in what order, and what it does not do.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "job/run.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

/* wraps: job_sync */

static unsigned syncs;

bool __real_job_sync(struct job_run *run);
bool __wrap_job_sync(struct job_run *run);
bool __wrap_job_sync(struct job_run *run)
{
    syncs++;
    return __real_job_sync(run);
}

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
}

/* The phases of every job, in the order in which they were stored. */
struct phase_log {
    struct cluster_watcher watcher;
    char *phases[1000]; /* phases of jobs j0, j1, … */
};

static void log_phase(struct cluster_watcher *watcher, enum cluster_change change,
                      const struct object *old, const struct object *job)
{
    struct phase_log *log = container_of(watcher, struct phase_log, watcher);
    char **phases = &log->phases[strtol(object_name(job) + 1, NULL, 10)];
    enum job_phase phase = job_status_of(job)->phase;
    char *before = *phases;

    if (change != CHANGE_MODIFIED || job_status_of(old)->phase == phase)
        return;
    *phases = mem_printf("%s%s%s", before ? before : "", before ? " " : "", job_phase_text(phase));
    mem_free(before);
}

/* covers: job.md WQ-01; see O-70 */
static void a_thousand_jobs_each_keep_their_order(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .finish_pods = true});
    struct phase_log log = {.watcher = {log_phase, &kind_job}};

    job_fixture_stop_controller(fixture);
    for (int i = 0; i < 1000; i++) {
        scoped_str name = mem_printf("j%d", i);

        job_fixture_job_simple(fixture, name, "t*1", "");
    }
    cluster_watch(fixture->backend, &log.watcher);
    job_fixture_start_controller(fixture); /* the controller sees all jobs at once */
    job_fixture_settle(fixture);
    for (int i = 0; i < 1000; i++) {
        check_str("phases", log.phases[i], "Pending Running Completed");
        mem_free(log.phases[i]);
    }
    cluster_unwatch(fixture->backend, &log.watcher);
    job_fixture_free(fixture);
}

/* covers: job.md WQ-03; see O-40 */
static void work_follows_the_events(void **unused)
{
    static const int sizes[] = {10, 100, 200};

    for (size_t i = 0; i < countof(sizes); i++) {
        struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
        scoped_str tasks = mem_printf("t*%d", sizes[i]);
        unsigned writes;

        job_fixture_job_simple(fixture, "j", tasks, "");
        syncs = 0;
        writes = fixture->job_writes;
        for (int p = 0; p < sizes[i]; p++) {
            scoped_str name = mem_printf("j-t-%d", p);

            job_fixture_report(fixture, name, POD_RUNNING, 0, 0);
        }
        job_fixture_settle(fixture);
        check("syncs", syncs <= (unsigned)sizes[i] + 2);
        check("all in one write of counters and one of the phase",
              fixture->job_writes - writes <= 3);
        check_int("running", job_fixture_job(fixture, "j")->running, sizes[i]);
        job_fixture_free(fixture);
    }
}

/* covers: job.md WQ-11; see O-39 */
static void an_unschedulable_gang_is_told_once_a_change(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*3", "minAvailable: 1");
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    for (int i = 0; i < 100; i++)
        job_fixture_patch(fixture, &kind_pod, "j-t-0",
                          i % 2 ? "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}"
                                : "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
    for (int i = 0; i < 50; i++)
        job_fixture_pod(fixture, "j-t-1", i % 2 ? POD_RUNNING : POD_UNKNOWN);
    assert_int_equal(job_fixture_count_events(fixture, "PodGroupPending"), 1);
    job_fixture_advance(fixture, 5000);
    job_fixture_group_phase(fixture, PODGROUP_RUNNING);
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    assert_int_equal(job_fixture_count_events(fixture, "PodGroupPending"), 2);
    job_fixture_free(fixture);
}

/* covers: job.md SCL-10 */
static void metadata_alone_asks_for_no_sync(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: JobUpdated, action: AbortJob}]");
    syncs = 0;
    job_fixture_patch(fixture, &kind_job, "j", "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}");
    job_fixture_patch(fixture, &kind_job, "j", "{\"metadata\":{\"annotations\":{\"x\":\"1\"}}}");
    assert_int_equal(syncs, 0);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_free(fixture);
}

/* covers: job.md CMD-01 CMD-10 */
static void only_commands_for_jobs_are_taken(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_apply(fixture,
                      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
                      "j}, spec: {weight: 1}}");
    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_apply(fixture,
                      "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: q, "
                      "namespace: default}, action: CloseQueue,\n"
                      "target: {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: j, "
                      "uid: u}}");
    /* The Command for another target stays. */
    assert_int_equal(job_fixture_count(fixture, &kind_command), 1);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_apply(fixture,
                      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default},\n"
                      "data: {action: AbortJob}}");
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_jobs_each_keep_their_order),
        cmocka_unit_test(work_follows_the_events),
        cmocka_unit_test(an_unschedulable_gang_is_told_once_a_change),
        cmocka_unit_test(metadata_alone_asks_for_no_sync),
        cmocka_unit_test(only_commands_for_jobs_are_taken),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
