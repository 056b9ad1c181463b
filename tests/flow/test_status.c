/*
 * Tests the status of a flow: phases, lists, entries, times, and when it is written.
 */
#include "tests/unit.h"

#include "base/loop/metrics.h"
#include "base/timefmt.h"
#include "tests/support/flow_fixture.h"

/* Lets the time pass during which status writes are collected. */
static void wait_for_write(struct flow_fixture *fixture)
{
    flow_fixture_advance(fixture, 1000);
}

/* covers: jobflow.md 89 182 */
static void running_job_shows_everywhere(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    check_str("list", flow_fixture_at(fixture, "f", "runningJobs"), "[\"f-a\"]");
    check_str("entry", flow_fixture_at(fixture, "f", "jobStatusList/0/state"), "Running");
    check_str("restarts", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "0");
    check("one open span",
          *flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/0/state"));
    check_str("open",
              flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/0/endTimestamp"), "");
    check_str("no second", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/1"), "");
    check_str("condition", flow_fixture_at(fixture, "f", "conditions/f-a/phase"), "Running");
    check_str("flow", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    check_str("b waits", flow_fixture_at(fixture, "f", "waitingJobs"), "[\"f-b\"]");
    check_str("visibly", flow_fixture_at(fixture, "f", "conditions/f-b/phase"), "Waiting");
    check_str("as a node", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Waiting");
    check_str("counted", flow_fixture_at(fixture, "f", "stepCounts"),
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
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run(fixture, "f", "a");
        if (phases[i].phase != JOB_NONE)
            flow_fixture_phase(fixture, "f-a", phases[i].phase);
        wait_for_write(fixture);
        for (size_t l = 0; l < countof(lists); l++)
            check_str(lists[l], flow_fixture_at(fixture, "f", lists[l]),
                      strcmp(lists[l], phases[i].list) == 0 ? "[\"f-a\"]" : "");
        check_str(job_phase_text(phases[i].phase), flow_fixture_at(fixture, "f", "state/phase"),
                  phases[i].flow);
    }
}

/* covers: jobflow.md 99 */
static void empty_phase_has_no_history(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    wait_for_write(fixture);
    check_str("an entry", flow_fixture_at(fixture, "f", "jobStatusList/0/name"), "f-a");
    check_str("no span", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories"), "");
}

/* covers: jobflow.md 92 93 94 95 104 24; see 8.3 */
static const struct {
    const char *name, *steps;
    enum job_phase a, b; /* phases that jobs a and b get; JOB_NONE: not changed */
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
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run(fixture, "f", ends[i].steps);
        flow_fixture_phase_soon(fixture, "f-a", ends[i].a);
        if (ends[i].b != JOB_NONE)
            flow_fixture_phase_soon(fixture, "f-b", ends[i].b);
        flow_fixture_settle(fixture);
        check_str(ends[i].name, flow_fixture_at(fixture, "f", "state/phase"), ends[i].want);
    }
}

/* covers: jobflow.md 104; see 8.3 "one write with Running" */
static void running_is_written_before_the_end(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    check_str("straight to the end", fixture->phases.data, "f:Pending f:Running f:Succeed");
    check_int("said once", flow_fixture_events(fixture, "Succeed"), 1);
}

/* covers: jobflow.md 96 */
static void times_and_restarts_come_from_the_job(void **state)
{
    const struct job_status completed = {
        .phase = JOB_COMPLETED, .retry_count = 1, .running_duration_ns = INT64_C(1000000000)};
    const struct job_status running = {.phase = JOB_RUNNING, .running_duration_ns = -1};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    char end[TIME_TEXT_MAX];

    flow_fixture_run(fixture, "f", "a, b");
    flow_fixture_advance(fixture, 5000);
    flow_fixture_status(fixture, "f-a", &completed);
    flow_fixture_status(fixture, "f-b", &running);
    wait_for_write(fixture);
    time_format(flow_fixture_get(fixture, &kind_job, "f-a")->meta->created_at_ms + 1000, end);
    check_str("completed", flow_fixture_at(fixture, "f", "completedJobs"), "[\"f-a\"]");
    check_str("running", flow_fixture_at(fixture, "f", "runningJobs"), "[\"f-b\"]");
    check_str("end", flow_fixture_at(fixture, "f", "jobStatusList/0/endTimestamp"), end);
    check_str("restarts", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "1");
    check_str("no end", flow_fixture_at(fixture, "f", "jobStatusList/1/endTimestamp"), "");
    check_str("duration", flow_fixture_at(fixture, "f", "conditions/f-a/runningDuration"), "1s");
    check_str("both", flow_fixture_at(fixture, "f", "conditions/f-b/phase"), "Running");
}

/* The job waited before it ran, so its end does not follow from its running time. */
static void a_job_s_end_is_its_last_transition(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct job_status completed = {.phase = JOB_COMPLETED,
                                   .running_duration_ns = INT64_C(1000000000)};
    char end[TIME_TEXT_MAX];

    flow_fixture_run(fixture, "f", "a");
    completed.transition_ms =
        flow_fixture_get(fixture, &kind_job, "f-a")->meta->created_at_ms + 61000;
    flow_fixture_status(fixture, "f-a", &completed);
    wait_for_write(fixture);
    time_format(completed.transition_ms, end);
    check_str("end", flow_fixture_at(fixture, "f", "jobStatusList/0/endTimestamp"), end);
}

/* covers: jobflow.md 97 98; reliability.md INV-F8; see jobflow.md section 11 row 27 */
static void histories_grow_by_transitions(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str once = NULL;

    flow_fixture_run(fixture, "f", "a, b");
    flow_fixture_phase(fixture, "f-a", JOB_PENDING);
    flow_fixture_advance(fixture, 3000);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 3000);
    check_str("closed", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/0/state"),
              "Pending");
    once = mem_strdup(
        flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/0/endTimestamp"));
    check_str("the same instant",
              flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/1/startTimestamp"),
              once);
    flow_fixture_phase(fixture, "f-a", JOB_RESTARTING);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_phase(fixture, "f-a", JOB_PENDING);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    flow_fixture_advance(fixture, 1000);
    check_str("six", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/5/state"),
              "Completed");
    check_str("no more", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories/6"), "");
    mem_free(once);
    once = mem_strdup(flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories"));
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 5000);
    check_str("unchanged", flow_fixture_at(fixture, "f", "jobStatusList/0/runningHistories"), once);
}

/* covers: jobflow.md 101 */
static void restarting_job_keeps_the_flow_running(void **state)
{
    struct job_status status = {
        .phase = JOB_RESTARTING, .retry_count = 1, .running_duration_ns = -1};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_status(fixture, "f-a", &status);
    wait_for_write(fixture);
    check_str("running", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    check_str("restarts", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "1");
    status.phase = JOB_RUNNING;
    status.retry_count = 2;
    flow_fixture_status(fixture, "f-a", &status);
    wait_for_write(fixture);
    check_str("follows", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "2");
}

/* The job controller clears the counts when the job has ended; the flow keeps the last ones
 * (8.1). */
static void last_pod_counts_are_kept(void **state)
{
    struct job_task_count count = {"main", {[POD_RUNNING] = 2, [POD_SUCCEEDED] = 1}};
    struct job_status status = {.phase = JOB_RUNNING, .running_duration_ns = -1};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b");
    status.task_counts.items = &count;
    status.task_counts.count = 1;
    flow_fixture_status(fixture, "f-a", &status);
    status.phase = JOB_COMPLETED;
    status.task_counts.count = 0;
    flow_fixture_status(fixture, "f-a", &status);
    wait_for_write(fixture);
    check_str("kept", flow_fixture_at(fixture, "f", "conditions/f-a/taskStatusCount"),
              "{\"main\":{\"phase\":{\"Running\":2,\"Succeeded\":1}}}");
}

/* covers: jobflow.md 102 */
static void only_own_jobs_are_counted(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_flow(fixture, "g", "a", NULL);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_phase(fixture, "g-a", JOB_RUNNING);
    wait_for_write(fixture);
    check_str("f", flow_fixture_at(fixture, "f", "runningJobs"), "[\"f-a\"]");
    check_str("g", flow_fixture_at(fixture, "g", "runningJobs"), "[\"g-a\"]");
}

/* covers: jobflow.md 105; reliability.md INV-F4 P-07 */
static void failed_flow_follows_its_jobs_to_their_end(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b, c<-b");
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("why", flow_fixture_at(fixture, "f", "state/reason"), "JobFailed");
    check_has("which", flow_fixture_at(fixture, "f", "state/message"), "f-a");
    flow_fixture_phase(fixture, "f-b", JOB_COMPLETED);
    check_str("b is listed at once", flow_fixture_at(fixture, "f", "completedJobs"), "[\"f-b\"]");
    check_str("still failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check("nothing is created", !flow_fixture_has_job(fixture, "f-c"));
    check_str("once", fixture->phases.data, "f:Pending f:Running f:Failed");
}

/* covers: jobflow.md 107 */
static void nothing_empty_is_written(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const char *text;

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    text = flow_fixture_get(fixture, &kind_job_flow, "f")->status->text;
    check("no null", !strstr(text, "null"));
    check("no empty list", !strstr(text, "[]"));
    check("no empty object", !strstr(text, "{}"));
    check("no empty text", !strstr(text, "\"\""));
}

/* covers: jobflow.md 108; reliability.md INV-F5 INV-F11 */
static void equal_status_is_not_written(void **state)
{
    const struct job_status same = {.phase = JOB_RUNNING, .running_duration_ns = -1, .version = 7};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    int64_t revision;

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_status(fixture, "f-a", &same);
    wait_for_write(fixture);
    revision = flow_fixture_get(fixture, &kind_job_flow, "f")->revision;
    flow_fixture_status(
        fixture, "f-a",
        &(const struct job_status){.phase = JOB_RUNNING, .running_duration_ns = -1, .version = 8});
    flow_fixture_advance(fixture, 60000);
    check_int("revision", flow_fixture_get(fixture, &kind_job_flow, "f")->revision, revision);
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 60000);
    check_int("after a restart too", flow_fixture_get(fixture, &kind_job_flow, "f")->revision,
              revision);
}

static void write_status_by_hand(struct flow_fixture *fixture, const char *status)
{
    struct error_list errors = {0};

    registry_update_status(fixture->registry, flow_fixture_get(fixture, &kind_job_flow, "f"),
                           blob_new(status, strlen(status)), NULL, &errors);
    error_list_release(&errors);
}

/* covers: jobflow.md 109 */
static void status_written_by_hand_is_overwritten(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    write_status_by_hand(fixture, "{\"pendingJobs\":[\"jobA\"],\"state\":{\"phase\":\"Pending\"}}");
    flow_fixture_settle(fixture);
    check_str("stored", flow_fixture_at(fixture, "f", "pendingJobs"), "[\"jobA\"]");
    wait_for_write(fixture);
    check_str("ours again", flow_fixture_at(fixture, "f", "pendingJobs"), "");
    check_str("ours again", flow_fixture_at(fixture, "f", "runningJobs"), "[\"f-a\"]");
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    wait_for_write(fixture);
    write_status_by_hand(fixture, "{\"state\":{\"phase\":\"Failed\"}}");
    wait_for_write(fixture);
    check_str("of a finished flow too", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* Returns the value of a series in the text of /metrics, or "". */
static const char *figure(struct flow_fixture *fixture, const char *series)
{
    static char value[32];
    scoped(buf) struct buf text = {0};
    scoped_str start = mem_printf("\n%s ", series);
    const char *line;

    metrics_write(loop_metrics(fixture->loop), &text);
    line = strstr(text.data, start);
    line = line ? line + strlen(start) : "";
    snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\n"), line);
    return value;
}

/* covers: see jobflow.md 12.2 */
static void figures_tell_of_flows_and_steps(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a, c");
    flow_fixture_run(fixture, "g", "a");
    flow_fixture_complete(fixture, "g-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 60000);
    check_str("running flows", figure(fixture, "volcano_jobflow_phase{phase=\"Running\"}"), "1");
    check_str("ended flows", figure(fixture, "volcano_jobflow_phase{phase=\"Succeed\"}"), "1");
    check_str("running steps", figure(fixture, "jobflow_steps{list=\"runningJobs\"}"), "1");
    check_str("waiting steps", figure(fixture, "jobflow_steps{list=\"waitingJobs\"}"), "1");
    check_str("jobs made", figure(fixture, "volcano_jobflow_job_start_latency_seconds_count"), "3");
    check_str("ends",
              figure(fixture, "volcano_jobflow_succeed_phase_count{jobflow_namespace=\"default\"}"),
              "1");
    check_str("retries", figure(fixture, "volcano_jobflow_retry_total"), "0");
    check("decisions", strtol(figure(fixture, "volcano_jobflow_sync_seconds_count"), NULL, 10) > 3);
}

static void figures_tell_how_long_steps_waited(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a, b", "scheduling: {maxRunningJobs: 1}");
    flow_fixture_advance(fixture, 7000);
    flow_fixture_complete(fixture, "f-a");
    check_str("jobs", figure(fixture, "volcano_jobflow_job_start_latency_seconds_count"), "2");
    check_str("seconds", figure(fixture, "volcano_jobflow_job_start_latency_seconds_sum"), "7");
}

/* covers: jobflow.md 110 112; see jobflow.md section 11 rows 22 and 23 */
static void conflicts_change_neither_phase_nor_counts(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_phase_soon(fixture, "f-a", JOB_FAILED);
    flow_fixture_phase_soon(fixture, "f-b", JOB_TERMINATED);
    /* Written in the same turn. */
    write_status_by_hand(fixture, "{\"state\":{\"phase\":\"Running\"}}");
    flow_fixture_settle(fixture);
    flow_fixture_advance(fixture, 60000);
    check_str("stored", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("succeeded",
              figure(fixture, "volcano_jobflow_succeed_phase_count{jobflow_namespace=\"default\"}"),
              "");
    check_str("failed",
              figure(fixture, "volcano_jobflow_failed_phase_count{jobflow_namespace=\"default\"}"),
              "1");
    check_int("said once", flow_fixture_events(fixture, "Failed"), 1);
}

/* covers: jobflow.md 5 111 */
static void empty_flow_succeeds(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: []}\n");
    check_str("at once", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: see section 11 row 19 */
static void aborted_job_is_the_reason(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-a", JOB_ABORTED);
    wait_for_write(fixture);
    check_str("running", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    check_str("why", flow_fixture_at(fixture, "f", "state/reason"), "JobAborted");
    check_has("which", flow_fixture_at(fixture, "f", "state/message"), "f-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    check_str("resumed", flow_fixture_at(fixture, "f", "state/reason"), "");
}

/* covers: see 13.12; see DC-06 */
static void times_and_attempts_are_recorded(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_advance(fixture, 5000);
    flow_fixture_complete(fixture, "f-a");
    wait_for_write(fixture);
    check_str("generation", flow_fixture_at(fixture, "f", "observedGeneration"), "1");
    check("start", strcmp(flow_fixture_at(fixture, "f", "startTime"), "") != 0);
    {
        scoped_str end = mem_strdup(flow_fixture_at(fixture, "f", "completionTime"));

        check_str("phase since", flow_fixture_at(fixture, "f", "state/lastTransitionTime"), end);
    }
    check_str("attempt", flow_fixture_at(fixture, "f", "nodes/0/attempt"), "1");
    check_str("its record", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"), "Completed");
    check_str("its job", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/uid"),
              object_uid(flow_fixture_get(fixture, &kind_job, "f-a")));
    check("its end", strcmp(flow_fixture_at(fixture, "f", "nodes/0/attempts/0/endTime"), "") != 0);
}

/* Writes are collected for a moment, but a new phase is written at once (5.4). */
static void writes_are_gathered(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    unsigned before;

    flow_fixture_run(fixture, "f", "a, b, c, d");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    before = fixture->flow_writes;
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-c", JOB_RUNNING);
    flow_fixture_advance(fixture, 50);
    flow_fixture_phase(fixture, "f-d", JOB_RUNNING);
    check_int("none yet", fixture->flow_writes, before);
    flow_fixture_advance(fixture, 60);
    check_int("one for all", fixture->flow_writes, before + 1);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    check_int("the end at once", fixture->flow_writes, before + 2);
}

/* A kube-apiserver prints the members of a status in their alphabetical order. The next leader does
 * not write such a status again. */
static void a_status_in_another_order_is_not_written_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct object *flow;
    json_t *status;
    char *sorted;
    unsigned before;

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    wait_for_write(fixture);
    flow_fixture_stop(fixture);
    flow = flow_fixture_get(fixture, &kind_job_flow, "f");
    status = object_status_json(flow);
    sorted = json_dumps(status, JSON_COMPACT | JSON_SORT_KEYS);
    check("another order", strcmp(sorted, flow->status->text) != 0);
    write_status_by_hand(fixture, sorted);
    flow_fixture_settle(fixture);
    before = fixture->flow_writes;
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 60000);
    check_int("writes", fixture->flow_writes, before);
    free(sorted);
    json_decref(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_in_another_order_is_not_written_again),
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
