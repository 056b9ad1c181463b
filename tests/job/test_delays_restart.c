/*
 * Tests delayed actions across a restart of the process: the store is read back from its files, and
 * each action happens at the very millisecond at which it would have happened without the restart.
 * Ref: spec/job.md O-26.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "tests/support/job_fixture.h"

enum { ODD_MS = 437, TIMEOUT_MS = 7000, LATEST_MS = 2 * TIMEOUT_MS };

/* Each brings its cause about, now or while `fixture` moves on a little, and returns when it
 * did. */
static int64_t now_ms(const struct job_fixture *fixture)
{
    return loop_wall_ms(fixture->loop);
}

static int64_t pods_wait(struct job_fixture *fixture)
{
    return meta_created_ms(job_fixture_get(fixture, &kind_pod, "j-t-0")->meta);
}

static int64_t a_pod_fails(struct job_fixture *fixture)
{
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_report(fixture, "j-t-1", POD_FAILED, 3, 0);
    return now_ms(fixture);
}

static int64_t a_pod_is_deleted(struct job_fixture *fixture)
{
    int64_t at_ms;

    job_fixture_pods(fixture, POD_RUNNING);
    at_ms = now_ms(fixture);
    job_fixture_delete(fixture, &kind_pod, "j-t-1");
    return at_ms;
}

static int64_t a_pod_waits_again(struct job_fixture *fixture)
{
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 60000);
    job_fixture_report(fixture, "j-t-1", POD_PENDING, 0, 0);
    return now_ms(fixture);
}

static int64_t a_task_completes(struct job_fixture *fixture)
{
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_report(fixture, "j-t-1", POD_SUCCEEDED, 0, 0);
    job_fixture_advance(fixture, 2100);
    job_fixture_report(fixture, "j-t-0", POD_SUCCEEDED, 0, 0);
    return now_ms(fixture);
}

static int64_t a_task_fails(struct job_fixture *fixture)
{
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 60000);
    job_fixture_report(fixture, "j-t-0", POD_RUNNING, 0, 2);
    job_fixture_advance(fixture, 1500);
    job_fixture_report(fixture, "j-t-1", POD_RUNNING, 0, 1);
    return now_ms(fixture);
}

static int64_t the_gang_is_unknown(struct job_fixture *fixture)
{
    int64_t at_ms;

    job_fixture_pods(fixture, POD_RUNNING);
    at_ms = now_ms(fixture);
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    return at_ms;
}

static int64_t the_job_is_scaled(struct job_fixture *fixture)
{
    int64_t at_ms;

    job_fixture_pods(fixture, POD_RUNNING);
    at_ms = now_ms(fixture);
    job_fixture_patch(fixture, &kind_job, "j", "{\"spec\": {\"minAvailable\": 1}}");
    return at_ms;
}

/* Causes the second delay of a restart: the pod that replaces the failed one stays pending
 * (O-28). */
static int64_t a_pod_is_restarted(struct job_fixture *fixture)
{
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_report(fixture, "j-t-1", POD_FAILED, 1, 0);
    return now_ms(fixture);
}

static const struct {
    const char *name, *policies;
    int64_t (*happens)(struct job_fixture *fixture);
} causes[] = {
    {"a pod is pending", "{event: PodPending, action: AbortJob, timeout: 7s}", pods_wait},
    {"a pod is pending again", "{event: PodPending, action: AbortJob, timeout: 7s}",
     a_pod_waits_again},
    {"a pod has failed", "{event: PodFailed, action: AbortJob, timeout: 7s}", a_pod_fails},
    {"a pod has ended with the exit code", "{exitCode: 3, action: AbortJob, timeout: 7s}",
     a_pod_fails},
    {"a pod was deleted", "{event: PodEvicted, action: AbortJob, timeout: 7s}", a_pod_is_deleted},
    {"a task has completed", "{event: TaskCompleted, action: AbortJob, timeout: 7s}",
     a_task_completes},
    {"a task has failed", "{event: TaskFailed, action: AbortJob, timeout: 7s}", a_task_fails},
    {"the gang is Unknown", "{event: Unknown, action: AbortJob, timeout: 7s}", the_gang_is_unknown},
    {"the job was changed", "{event: JobUpdated, action: AbortJob, timeout: 7s}",
     the_job_is_scaled},
    {"the pod that replaces a failed one is pending",
     "{event: PodFailed, action: RestartPod}, {event: PodEvicted, action: AbortJob, timeout: 7s}",
     a_pod_is_restarted},
};

/* Returns how long after its cause the job is aborted, when the process is restarted `restarts`
 * times. */
static int64_t delay_of(size_t cause, int restarts)
{
    scoped_str name = mem_printf("store-%zu-%d", cause, restarts);
    scoped_str directory = test_path(name);
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.directory = directory});
    scoped_str spec = mem_printf("policies: [%s]", causes[cause].policies);
    int64_t since_ms;

    job_fixture_advance(fixture, ODD_MS);
    /* A second task keeps the job from ending. */
    job_fixture_job_simple(fixture, "j", "t*2 u*1", spec);
    since_ms = causes[cause].happens(fixture);
    job_fixture_advance(fixture, 1300);
    for (int i = 0; i < restarts; i++) {
        job_fixture_restart(fixture);
        job_fixture_advance(fixture, 1700);
    }
    while (strcmp(job_fixture_phase(fixture, "j"), "Aborted") != 0 &&
           now_ms(fixture) < since_ms + LATEST_MS)
        job_fixture_advance(fixture, 1);
    since_ms = now_ms(fixture) - since_ms;
    job_fixture_free(fixture);
    return since_ms;
}

/* covers: job.md DLY-17; see O-26 */
static void a_restart_of_the_process_moves_no_deadline(void **unused)
{
    for (size_t i = 0; i < countof(causes); i++)
        for (int restarts = 0; restarts <= 3; restarts++) {
            scoped_str name = mem_printf("%s, %d restarts", causes[i].name, restarts);

            check_int(name, delay_of(i, restarts), TIMEOUT_MS);
        }
}

/* While failures are few, each is stored by itself. Many failures are stored together, and the next
 * process knows all of them. covers: see O-26 O-40 */
static void a_crowd_of_causes_is_noted_together(void **unused)
{
    enum { PODS = 200, MOST_WRITES = 64 + 4 };
    scoped_str directory = test_path("crowd");
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.directory = directory});
    scoped_str noted = NULL;
    unsigned writes;
    int64_t since_ms;

    job_fixture_job_simple(
        fixture, "j", "t*200 u*1",
        "minAvailable: 1;policies: [{event: PodFailed, action: AbortJob, timeout: 7s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    writes = fixture->job_writes;
    since_ms = now_ms(fixture);
    noted = mem_printf("PodFailed/job[0]/t/0-199@%lld", (long long)since_ms);
    for (int i = 0; i < PODS; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        job_fixture_report(fixture, name, POD_FAILED, 1, 0);
        loop_settle(fixture->loop);
    }
    job_fixture_settle(fixture);
    check("writes", fixture->job_writes - writes <= MOST_WRITES);
    check_str("noted", job_fixture_job(fixture, "j")->controlled.items[0].value, noted);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, since_ms + TIMEOUT_MS - 1 - now_ms(fixture));
    check_str("before", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_advance(fixture, 1);
    check_str("in time", job_fixture_phase(fixture, "j"), "Aborted");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restart_of_the_process_moves_no_deadline),
        cmocka_unit_test(a_crowd_of_causes_is_noted_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
