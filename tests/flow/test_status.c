/*
 * The status of a flow and its phases.
 */
#include "tests/unit.h"

#include "base/metrics.h"
#include "base/timefmt.h"
#include "tests/support/flow_fixture.h"

/* Let the window of status writes pass. */
static void wait_for_write(struct flow_bed *bed)
{
    flow_bed_advance(bed, 1000);
}

/* covers: jobflow.md 89 182 */
static void running_job_shows_everywhere(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b<-a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    wait_for_write(bed);
    check_str("list", flow_bed_at(bed, "f", "runningJobs"), "[\"f-a\"]");
    check_str("entry", flow_bed_at(bed, "f", "jobStatusList/0/state"), "Running");
    check_str("restarts", flow_bed_at(bed, "f", "jobStatusList/0/restartCount"), "0");
    check("one open span", *flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/0/state"));
    check_str("open", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/0/endTimestamp"), "");
    check_str("no second", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/1"), "");
    check_str("condition", flow_bed_at(bed, "f", "conditions/f-a/phase"), "Running");
    check_str("flow", flow_bed_at(bed, "f", "state/phase"), "Running");
    check_str("b waits", flow_bed_at(bed, "f", "waitingJobs"), "[\"f-b\"]");
    check_str("visibly", flow_bed_at(bed, "f", "conditions/f-b/phase"), "Waiting");
    check_str("as a node", flow_bed_at(bed, "f", "nodes/1/phase"), "Waiting");
    check_str("counted", flow_bed_at(bed, "f", "stepCounts"),
              "{\"total\":2,\"waiting\":1,\"running\":1}");
}

/* covers: jobflow.md 89 90 91 99 100 101 103; reliability.md INV-F6 */
static const struct {
    enum job_phase phase;
    const char *list;
    const char *flow;
} phases[] = {
    /* clang-format off */
    {JOB_NONE,        "unKnowJobs",     "Pending"},
    {JOB_PENDING,     "pendingJobs",    "Pending"},
    {JOB_RUNNING,     "runningJobs",    "Running"},
    {JOB_RESTARTING,  "unKnowJobs",     "Running"},
    {JOB_ABORTING,    "unKnowJobs",     "Running"},
    {JOB_ABORTED,     "unKnowJobs",     "Running"},
    {JOB_COMPLETING,  "completedJobs",  "Running"},
    {JOB_COMPLETED,   "completedJobs",  "Succeed"},
    {JOB_TERMINATING, "terminatedJobs", "Running"},
    {JOB_TERMINATED,  "terminatedJobs", "Failed"},
    {JOB_FAILED,      "failedJobs",     "Failed"},
    /* clang-format on */
};

static void each_phase_has_its_list_and_meaning(void **state)
{
    static const char *const lists[] = {"pendingJobs",   "runningJobs",    "failedJobs",
                                        "completedJobs", "terminatedJobs", "unKnowJobs",
                                        "waitingJobs"};

    for (size_t i = 0; i < countof(phases); i++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        flow_bed_run(bed, "f", "a");
        if (phases[i].phase != JOB_NONE)
            flow_bed_phase(bed, "f-a", phases[i].phase);
        wait_for_write(bed);
        for (size_t l = 0; l < countof(lists); l++)
            check_str(lists[l], flow_bed_at(bed, "f", lists[l]),
                      strcmp(lists[l], phases[i].list) == 0 ? "[\"f-a\"]" : "");
        check_str(job_phase_text(phases[i].phase), flow_bed_at(bed, "f", "state/phase"),
                  phases[i].flow);
    }
}

/* covers: jobflow.md 99 */
static void empty_phase_has_no_history(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    wait_for_write(bed);
    check_str("an entry", flow_bed_at(bed, "f", "jobStatusList/0/name"), "f-a");
    check_str("no span", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories"), "");
}

/* covers: jobflow.md 92 93 94 95 104 24; see 8.3 */
static const struct {
    const char *name, *steps;
    enum job_phase a, b; /* NONE: left alone */
    const char *want;
} ends[] = {
    /* clang-format off */
    {"one of one completed",  "a",    JOB_COMPLETED,  JOB_NONE,      "Succeed"},
    {"one of one failed",     "a",    JOB_FAILED,     JOB_NONE,      "Failed"},
    {"one of one terminated", "a",    JOB_TERMINATED, JOB_NONE,      "Failed"},
    {"one of two completed",  "a, b", JOB_COMPLETED,  JOB_NONE,      "Running"},
    {"both completed",        "a, b", JOB_COMPLETED,  JOB_COMPLETED, "Succeed"},
    {"one of each",           "a, b", JOB_COMPLETED,  JOB_FAILED,    "Failed"},
    {"completing is not yet", "a, b", JOB_COMPLETED,  JOB_COMPLETING, "Running"},
    /* clang-format on */
};

static void phase_follows_from_the_jobs(void **state)
{
    for (size_t i = 0; i < countof(ends); i++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        flow_bed_run(bed, "f", ends[i].steps);
        flow_bed_phase_soon(bed, "f-a", ends[i].a);
        if (ends[i].b != JOB_NONE)
            flow_bed_phase_soon(bed, "f-b", ends[i].b);
        flow_bed_settle(bed);
        check_str(ends[i].name, flow_bed_at(bed, "f", "state/phase"), ends[i].want);
    }
}

/* covers: jobflow.md 104; see 8.3 "one write with Running" */
static void running_is_written_before_the_end(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_phase(bed, "f-a", JOB_COMPLETED);
    check_str("straight to the end", bed->phases.data, "f:Pending f:Running f:Succeed");
    check_int("said once", flow_bed_events(bed, "Succeed"), 1);
}

/* covers: jobflow.md 96 */
static void times_and_restarts_come_from_the_job(void **state)
{
    const struct job_status completed = {
        .phase = JOB_COMPLETED, .retry_count = 1, .running_duration_ns = INT64_C(1000000000)};
    const struct job_status running = {.phase = JOB_RUNNING, .running_duration_ns = -1};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    char end[TIME_TEXT_MAX];

    flow_bed_run(bed, "f", "a, b");
    flow_bed_advance(bed, 5000);
    flow_bed_status(bed, "f-a", &completed);
    flow_bed_status(bed, "f-b", &running);
    wait_for_write(bed);
    time_format(flow_bed_get(bed, &kind_job, "f-a")->meta->created_at_ms + 1000, end);
    check_str("completed", flow_bed_at(bed, "f", "completedJobs"), "[\"f-a\"]");
    check_str("running", flow_bed_at(bed, "f", "runningJobs"), "[\"f-b\"]");
    check_str("end", flow_bed_at(bed, "f", "jobStatusList/0/endTimestamp"), end);
    check_str("restarts", flow_bed_at(bed, "f", "jobStatusList/0/restartCount"), "1");
    check_str("no end", flow_bed_at(bed, "f", "jobStatusList/1/endTimestamp"), "");
    check_str("duration", flow_bed_at(bed, "f", "conditions/f-a/runningDuration"), "1s");
    check_str("both", flow_bed_at(bed, "f", "conditions/f-b/phase"), "Running");
}

/* A job that waited before it ran: the running time says nothing about its end. */
static void a_job_s_end_is_its_last_transition(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    struct job_status completed = {.phase = JOB_COMPLETED,
                                   .running_duration_ns = INT64_C(1000000000)};
    char end[TIME_TEXT_MAX];

    flow_bed_run(bed, "f", "a");
    completed.transition_ms = flow_bed_get(bed, &kind_job, "f-a")->meta->created_at_ms + 61000;
    flow_bed_status(bed, "f-a", &completed);
    wait_for_write(bed);
    time_format(completed.transition_ms, end);
    check_str("end", flow_bed_at(bed, "f", "jobStatusList/0/endTimestamp"), end);
}

/* covers: jobflow.md 97 98; reliability.md INV-F8; see jobflow.md section 11 row 27 */
static void histories_grow_by_transitions(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    scoped_str once = NULL;

    flow_bed_run(bed, "f", "a, b");
    flow_bed_phase(bed, "f-a", JOB_PENDING);
    flow_bed_advance(bed, 3000);
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_advance(bed, 3000);
    check_str("closed", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/0/state"),
              "Pending");
    once = mem_strdup(flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/0/endTimestamp"));
    check_str("the same instant",
              flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/1/startTimestamp"), once);
    flow_bed_phase(bed, "f-a", JOB_RESTARTING);
    flow_bed_advance(bed, 1000);
    flow_bed_phase(bed, "f-a", JOB_PENDING);
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_advance(bed, 1000);
    flow_bed_phase(bed, "f-a", JOB_COMPLETED);
    flow_bed_advance(bed, 1000);
    check_str("six", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/5/state"),
              "Completed");
    check_str("no more", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories/6"), "");
    mem_free(once);
    once = mem_strdup(flow_bed_at(bed, "f", "jobStatusList/0/runningHistories"));
    flow_bed_phase(bed, "f-a", JOB_COMPLETED);
    flow_bed_restart(bed);
    flow_bed_advance(bed, 5000);
    check_str("unchanged", flow_bed_at(bed, "f", "jobStatusList/0/runningHistories"), once);
}

/* covers: jobflow.md 101 */
static void restarting_job_keeps_the_flow_running(void **state)
{
    struct job_status status = {
        .phase = JOB_RESTARTING, .retry_count = 1, .running_duration_ns = -1};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_status(bed, "f-a", &status);
    wait_for_write(bed);
    check_str("running", flow_bed_at(bed, "f", "state/phase"), "Running");
    check_str("restarts", flow_bed_at(bed, "f", "jobStatusList/0/restartCount"), "1");
    status.phase = JOB_RUNNING;
    status.retry_count = 2;
    flow_bed_status(bed, "f-a", &status);
    wait_for_write(bed);
    check_str("follows", flow_bed_at(bed, "f", "jobStatusList/0/restartCount"), "2");
}

/* 8.1: the job controller clears the counts when the job is done */
static void last_pod_counts_are_kept(void **state)
{
    struct job_task_count count = {"main", {[POD_RUNNING] = 2, [POD_SUCCEEDED] = 1}};
    struct job_status status = {.phase = JOB_RUNNING, .running_duration_ns = -1};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b");
    status.task_counts.items = &count;
    status.task_counts.count = 1;
    flow_bed_status(bed, "f-a", &status);
    status.phase = JOB_COMPLETED;
    status.task_counts.count = 0;
    flow_bed_status(bed, "f-a", &status);
    wait_for_write(bed);
    check_str("kept", flow_bed_at(bed, "f", "conditions/f-a/taskStatusCount"),
              "{\"main\":{\"phase\":{\"Running\":2,\"Succeeded\":1}}}");
}

/* covers: jobflow.md 102 */
static void only_own_jobs_are_counted(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_flow(bed, "g", "a", NULL);
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_phase(bed, "g-a", JOB_RUNNING);
    wait_for_write(bed);
    check_str("f", flow_bed_at(bed, "f", "runningJobs"), "[\"f-a\"]");
    check_str("g", flow_bed_at(bed, "g", "runningJobs"), "[\"g-a\"]");
}

/* covers: jobflow.md 105; reliability.md INV-F4 P-07 */
static void failed_flow_follows_its_jobs_to_their_end(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b, c<-b");
    flow_bed_phase(bed, "f-b", JOB_RUNNING);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
    check_str("why", flow_bed_at(bed, "f", "state/reason"), "JobFailed");
    check_has("which", flow_bed_at(bed, "f", "state/message"), "f-a");
    flow_bed_phase(bed, "f-b", JOB_COMPLETED);
    check_str("b is listed at once", flow_bed_at(bed, "f", "completedJobs"), "[\"f-b\"]");
    check_str("still failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
    check("nothing is created", !flow_bed_has_job(bed, "f-c"));
    check_str("once", bed->phases.data, "f:Pending f:Running f:Failed");
}

/* covers: jobflow.md 107 */
static void nothing_empty_is_written(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    const char *text;

    flow_bed_run(bed, "f", "a, b<-a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    wait_for_write(bed);
    text = flow_bed_get(bed, &kind_job_flow, "f")->status->text;
    check("no null", !strstr(text, "null"));
    check("no empty list", !strstr(text, "[]"));
    check("no empty object", !strstr(text, "{}"));
    check("no empty text", !strstr(text, "\"\""));
}

/* covers: jobflow.md 108; reliability.md INV-F5 INV-F11 */
static void equal_status_is_not_written(void **state)
{
    const struct job_status same = {.phase = JOB_RUNNING, .running_duration_ns = -1, .version = 7};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    int64_t revision;

    flow_bed_run(bed, "f", "a, b<-a");
    flow_bed_status(bed, "f-a", &same);
    wait_for_write(bed);
    revision = flow_bed_get(bed, &kind_job_flow, "f")->revision;
    flow_bed_status(
        bed, "f-a",
        &(const struct job_status){.phase = JOB_RUNNING, .running_duration_ns = -1, .version = 8});
    flow_bed_advance(bed, 60000);
    check_int("revision", flow_bed_get(bed, &kind_job_flow, "f")->revision, revision);
    flow_bed_restart(bed);
    flow_bed_advance(bed, 60000);
    check_int("after a restart too", flow_bed_get(bed, &kind_job_flow, "f")->revision, revision);
}

static void write_status_by_hand(struct flow_bed *bed, const char *status)
{
    struct error_list errors = {0};

    registry_update_status(bed->registry, flow_bed_get(bed, &kind_job_flow, "f"),
                           blob_new(status, strlen(status)), NULL, &errors);
    error_list_release(&errors);
}

/* covers: jobflow.md 109 */
static void status_written_by_hand_is_overwritten(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    wait_for_write(bed);
    write_status_by_hand(bed, "{\"pendingJobs\":[\"jobA\"],\"state\":{\"phase\":\"Pending\"}}");
    flow_bed_settle(bed);
    check_str("stored", flow_bed_at(bed, "f", "pendingJobs"), "[\"jobA\"]");
    wait_for_write(bed);
    check_str("ours again", flow_bed_at(bed, "f", "pendingJobs"), "");
    check_str("ours again", flow_bed_at(bed, "f", "runningJobs"), "[\"f-a\"]");
    flow_bed_phase(bed, "f-a", JOB_COMPLETED);
    wait_for_write(bed);
    write_status_by_hand(bed, "{\"state\":{\"phase\":\"Failed\"}}");
    wait_for_write(bed);
    check_str("of a finished flow too", flow_bed_at(bed, "f", "state/phase"), "Succeed");
}

/* The value of a series as it is written, or "". */
static const char *figure(struct flow_bed *bed, const char *series)
{
    static char value[32];
    scoped(buf) struct buf text = {0};
    scoped_str start = mem_printf("\n%s ", series);
    const char *line;

    metrics_write(loop_metrics(bed->loop), &text);
    line = strstr(text.data, start);
    line = line ? line + strlen(start) : "";
    snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\n"), line);
    return value;
}

/* covers: see jobflow.md 12.2 */
static void figures_tell_of_flows_and_steps(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b<-a, c");
    flow_bed_run(bed, "g", "a");
    flow_bed_complete(bed, "g-a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_advance(bed, 60000);
    check_str("running flows", figure(bed, "volcano_jobflow_phase{phase=\"Running\"}"), "1");
    check_str("ended flows", figure(bed, "volcano_jobflow_phase{phase=\"Succeed\"}"), "1");
    check_str("running steps", figure(bed, "jobflow_steps{list=\"runningJobs\"}"), "1");
    check_str("waiting steps", figure(bed, "jobflow_steps{list=\"waitingJobs\"}"), "1");
    check_str("jobs made", figure(bed, "volcano_jobflow_job_start_latency_seconds_count"), "3");
    check_str("ends",
              figure(bed, "volcano_jobflow_succeed_phase_count{jobflow_namespace=\"default\"}"),
              "1");
    check_str("retries", figure(bed, "volcano_jobflow_retry_total"), "0");
    check("decisions", strtol(figure(bed, "volcano_jobflow_sync_seconds_count"), NULL, 10) > 3);
}

static void figures_tell_how_long_steps_waited(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_templates(bed, "a b");
    flow_bed_flow(bed, "f", "a, b", "scheduling: {maxRunningJobs: 1}");
    flow_bed_advance(bed, 7000);
    flow_bed_complete(bed, "f-a");
    check_str("jobs", figure(bed, "volcano_jobflow_job_start_latency_seconds_count"), "2");
    check_str("seconds", figure(bed, "volcano_jobflow_job_start_latency_seconds_sum"), "7");
}

/* covers: jobflow.md 110 112; see jobflow.md section 11 rows 22 and 23 */
static void conflicts_change_neither_phase_nor_counts(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_phase_soon(bed, "f-a", JOB_FAILED);
    flow_bed_phase_soon(bed, "f-b", JOB_TERMINATED);
    write_status_by_hand(bed, "{\"state\":{\"phase\":\"Running\"}}"); /* in the same turn */
    flow_bed_settle(bed);
    flow_bed_advance(bed, 60000);
    check_str("stored", flow_bed_at(bed, "f", "state/phase"), "Failed");
    check_str("succeeded",
              figure(bed, "volcano_jobflow_succeed_phase_count{jobflow_namespace=\"default\"}"),
              "");
    check_str("failed",
              figure(bed, "volcano_jobflow_failed_phase_count{jobflow_namespace=\"default\"}"),
              "1");
    check_int("said once", flow_bed_events(bed, "Failed"), 1);
}

/* covers: jobflow.md 5 111 */
static void empty_flow_succeeds(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_apply(bed, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                        "spec: {flows: []}\n");
    check_str("at once", flow_bed_at(bed, "f", "state/phase"), "Succeed");
}

/* covers: see section 11 row 19 */
static void aborted_job_is_the_reason(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a, b<-a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_phase(bed, "f-a", JOB_ABORTED);
    wait_for_write(bed);
    check_str("running", flow_bed_at(bed, "f", "state/phase"), "Running");
    check_str("why", flow_bed_at(bed, "f", "state/reason"), "JobAborted");
    check_has("which", flow_bed_at(bed, "f", "state/message"), "f-a");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    wait_for_write(bed);
    check_str("resumed", flow_bed_at(bed, "f", "state/reason"), "");
}

/* covers: see 13.12; see DC-06 */
static void times_and_attempts_are_recorded(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_advance(bed, 5000);
    flow_bed_complete(bed, "f-a");
    wait_for_write(bed);
    check_str("generation", flow_bed_at(bed, "f", "observedGeneration"), "1");
    check("start", strcmp(flow_bed_at(bed, "f", "startTime"), "") != 0);
    {
        scoped_str end = mem_strdup(flow_bed_at(bed, "f", "completionTime"));

        check_str("phase since", flow_bed_at(bed, "f", "state/lastTransitionTime"), end);
    }
    check_str("attempt", flow_bed_at(bed, "f", "nodes/0/attempt"), "1");
    check_str("its record", flow_bed_at(bed, "f", "nodes/0/attempts/0/phase"), "Completed");
    check_str("its job", flow_bed_at(bed, "f", "nodes/0/attempts/0/uid"),
              object_uid(flow_bed_get(bed, &kind_job, "f-a")));
    check("its end", strcmp(flow_bed_at(bed, "f", "nodes/0/attempts/0/endTime"), "") != 0);
}

/* 5.4: writes are gathered, phases are not */
static void writes_are_gathered(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    unsigned before;

    flow_bed_run(bed, "f", "a, b, c, d");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    wait_for_write(bed);
    before = bed->flow_writes;
    flow_bed_phase(bed, "f-b", JOB_RUNNING);
    flow_bed_phase(bed, "f-c", JOB_RUNNING);
    flow_bed_advance(bed, 50);
    flow_bed_phase(bed, "f-d", JOB_RUNNING);
    check_int("none yet", bed->flow_writes, before);
    flow_bed_advance(bed, 60);
    check_int("one for all", bed->flow_writes, before + 1);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    check_int("the end at once", bed->flow_writes, before + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_job_shows_everywhere),
        cmocka_unit_test(each_phase_has_its_list_and_meaning),
        cmocka_unit_test(empty_phase_has_no_history),
        cmocka_unit_test(phase_follows_from_the_jobs),
        cmocka_unit_test(running_is_written_before_the_end),
        cmocka_unit_test(times_and_restarts_come_from_the_job),
        cmocka_unit_test(a_job_s_end_is_its_last_transition),
        cmocka_unit_test(histories_grow_by_transitions),
        cmocka_unit_test(restarting_job_keeps_the_flow_running),
        cmocka_unit_test(last_pod_counts_are_kept),
        cmocka_unit_test(only_own_jobs_are_counted),
        cmocka_unit_test(failed_flow_follows_its_jobs_to_their_end),
        cmocka_unit_test(nothing_empty_is_written),
        cmocka_unit_test(equal_status_is_not_written),
        cmocka_unit_test(status_written_by_hand_is_overwritten),
        cmocka_unit_test(conflicts_change_neither_phase_nor_counts),
        cmocka_unit_test(figures_tell_of_flows_and_steps),
        cmocka_unit_test(figures_tell_how_long_steps_waited),
        cmocka_unit_test(empty_flow_succeeds),
        cmocka_unit_test(aborted_job_is_the_reason),
        cmocka_unit_test(times_and_attempts_are_recorded),
        cmocka_unit_test(writes_are_gathered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
