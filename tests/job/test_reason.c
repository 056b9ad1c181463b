/*
 * Tests what a job says of itself: the reason and the message of each end, and of the ways there.
 * Ref: spec/job.md O-02, O-38.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static const struct {
    const char *name, *tasks, *extra;
    const char *failed; /* names of the pods that fail with exit code 3 */
    bool rest;          /* after that the other pods succeed */
    const char *phase, *reason, *message;
} ends[] = {
    {"all pods succeeded", "t*2", "", "", true, "Completed", "PodsSucceeded",
     "2 of 2 pods succeeded, 0 failed; minAvailable 2"},
    {"enough pods succeeded", "t*3", "minAvailable: 1;minSuccess: 2", "j-t-1", true, "Completed",
     "MinSuccessReached", "2 of 3 pods succeeded, 1 failed (j-t-1 with exit code 3); minSuccess 2"},
    {"fewer pods succeeded than minAvailable", "t*3", "minAvailable: 2", "j-t-1 j-t-2", true,
     "Failed", "MinAvailableMissed",
     "1 of 3 pods succeeded, 2 failed (first j-t-1 with exit code 3); minAvailable 2"},
    {"fewer pods succeeded than minSuccess", "t*3", "minAvailable: 1;minSuccess: 3", "j-t-0", true,
     "Failed", "MinSuccessMissed",
     "2 of 3 pods succeeded, 1 failed (j-t-0 with exit code 3); minSuccess 3"},
    {"too few pods of a task succeeded", "a*1 b*2", "", "j-b-1", true, "Failed",
     "TaskMinAvailableMissed",
     "2 of 3 pods succeeded, 1 failed (j-b-1 with exit code 3); task b has 1 of minAvailable 2"},
    {"no restart is left", "t*2", "maxRetry: 1;policies: [{event: PodFailed, action: RestartJob}]",
     "j-t-0", false, "Failed", "MaxRetryReached",
     "maxRetry 1 is used up by RestartJob after PodFailed of pod j-t-0 with exit code 3; "
     "0 of 2 pods succeeded, 1 failed (j-t-0 with exit code 3)"},
    {"a policy aborted the job", "t*2", "policies: [{exitCode: 3, action: AbortJob}]", "j-t-1",
     false, "Aborted", "PodFailed", "AbortJob after PodFailed of pod j-t-1 with exit code 3"},
    {"a policy terminated the job", "t*2", "policies: [{event: PodFailed, action: TerminateJob}]",
     "j-t-1", false, "Terminated", "PodFailed",
     "TerminateJob after PodFailed of pod j-t-1 with exit code 3"},
    {"the end of a task completed the job", "t*1 u*1",
     "policies: [{event: TaskCompleted, action: CompleteJob}]", "j-u-0", true, "Completed",
     "TaskCompleted", "CompleteJob after TaskCompleted of task t"},
    {"a policy with a timeout aborted the job", "t*2",
     "policies: [{event: PodFailed, action: AbortJob, timeout: 10ms}]", "j-t-1", false, "Aborted",
     "PodFailed", "AbortJob after PodFailed of pod j-t-1 with exit code 3 and its timeout"},
    {"a restarted pod runs again", "t*2", "policies: [{event: PodFailed, action: RestartPod}]",
     "j-t-1", false, "Running", "MinAvailableReached",
     "2 of 2 pods run or have ended; minAvailable 2"},
};

/* covers: see job.md O-02 */
static void every_end_says_what_decided(void **unused)
{
    for (size_t i = 0; i < countof(ends); i++) {
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.run_pods = true});
        const struct job_status *status;
        char failed[64], *rest = NULL;

        job_fixture_job_simple(fixture, "j", ends[i].tasks, ends[i].extra);
        snprintf(failed, sizeof failed, "%s", ends[i].failed);
        for (char *pod = strtok_r(failed, " ", &rest); pod; pod = strtok_r(NULL, " ", &rest))
            job_fixture_report(fixture, pod, POD_FAILED, 3, 0);
        job_fixture_settle(fixture);
        if (ends[i].rest)
            job_fixture_pods(fixture, POD_SUCCEEDED);
        status = job_fixture_job(fixture, "j");
        check_str(ends[i].name, job_fixture_phase(fixture, "j"), ends[i].phase);
        check_str(ends[i].name, status->reason, ends[i].reason);
        check_str(ends[i].name, status->message, ends[i].message);
        job_fixture_free(fixture);
    }
}

/* The reason stays while the last pods go away, and when the process is restarted. covers: see
 * job.md O-38 */
static void what_decided_outlives_the_last_pods_and_the_process(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    job_fixture_job_simple(fixture, "j", "t*2", "policies: [{exitCode: 3, action: AbortJob}]");
    job_fixture_pod_failed(fixture, "j-t-0", 3);
    check_str("on the way", job_fixture_phase(fixture, "j"), "Aborting");
    check_str("on the way", job_fixture_job(fixture, "j")->reason, "PodFailed");
    job_fixture_restart(fixture);
    job_fixture_let_go(fixture);
    check_str("at the end", job_fixture_phase(fixture, "j"), "Aborted");
    check_str("at the end", job_fixture_job(fixture, "j")->message,
              "AbortJob after PodFailed of pod j-t-0 with exit code 3");
    job_fixture_free(fixture);
}

/* covers: see job.md O-26 */
static void an_action_that_was_due_names_its_pod_in_another_process(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodEvicted, action: AbortJob, timeout: 5s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-1");
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 6000);
    check_str("message", job_fixture_job(fixture, "j")->message,
              "AbortJob after PodEvicted of pod j-t-1 and its timeout");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_says_what_decided),
        cmocka_unit_test(what_decided_outlives_the_last_pods_and_the_process),
        cmocka_unit_test(an_action_that_was_due_names_its_pod_in_another_process),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
