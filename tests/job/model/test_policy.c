/*
 * Tests policies: which action follows from an event.
 */
#include "tests/unit.h"

#include "job/model/policy.h"

struct given {
    const char *action, *event;
    const char *events[4];
    struct opt_i32 exit_code;
    int64_t timeout_ns;
};

/* A case with up to two policies at each level. A row without action ends the list. */
struct policy_case {
    const char *name;
    struct job_policy_input what;
    int32_t status_version;
    struct given task[2], job[2];
    enum job_action want;
    int64_t delay_ms;
    enum job_policy_source source;
    size_t position;
};

enum { SECOND = 1000000000, NONE = -1 };

static struct job_policy_rows compile(const struct given given[2], struct job_policy_row out[2])
{
    size_t count = 0;

    for (; count < 2 && given[count].action; count++) {
        const char *events[4];
        struct job_policy policy = {.action = given[count].action,
                                    .event = given[count].event,
                                    .events = {events, 0},
                                    .exit_code = given[count].exit_code,
                                    .timeout_ns = given[count].timeout_ns};

        for (size_t i = 0; i < 4 && given[count].events[i]; i++)
            events[policy.events.count++] = given[count].events[i];
        out[count] = job_policy_compile(&policy);
    }
    return (struct job_policy_rows){out, count};
}

/* clang-format off */
#define ON(event_, action_) {.action = action_, .event = event_, .timeout_ns = NONE}
#define ON_AFTER(event_, action_, ns) {.action = action_, .event = event_, .timeout_ns = ns}
#define ON_EXIT(code, action_) {.action = action_, .exit_code = {true, code}, .timeout_ns = NONE}
/* covers: job.md POL-01 POL-02 POL-03 POL-04 POL-05 POL-06 POL-07 POL-08 POL-09 POL-12 POL-13
 * POL-14 SCL-08 */
static const struct policy_case cases[] = {
    {"an explicit action consults no policy",
     {EVENT_COMMAND_ISSUED, true, ACT_ENQUEUE_JOB, .version = 0}, 7,
     .job = {ON("*", "RestartJob")}, .want = ACT_ENQUEUE_JOB},
    {"OutOfSync matches no policy",
     {EVENT_OUT_OF_SYNC}, .job = {ON("OutOfSync", "AbortJob")}, .want = ACT_SYNC_JOB},
    {"PodRunning matches no policy",
     {EVENT_POD_RUNNING}, .job = {ON("PodRunning", "AbortJob")}, .want = ACT_SYNC_JOB},
    {"CommandIssued matches no policy",
     {EVENT_COMMAND_ISSUED}, .job = {ON("CommandIssued", "AbortJob")}, .want = ACT_SYNC_JOB},
    {"an event of an earlier job of the name only syncs",
     {EVENT_POD_EVICTED, .other_job = true}, .job = {ON("PodEvicted", "TerminateJob")}, .want = ACT_SYNC_JOB},
    {"an event of an earlier version only syncs",
     {EVENT_POD_EVICTED, .version = 0}, 1, .job = {ON("PodEvicted", "TerminateJob")}, .want = ACT_SYNC_JOB},
    {"an event of a newer version than the status counts",
     {EVENT_POD_EVICTED, .version = 1}, 0, .job = {ON("PodEvicted", "TerminateJob")},
     .want = ACT_TERMINATE_JOB, .source = POLICY_OF_JOB},
    {"the policy of the task goes before that of the job",
     {EVENT_POD_FAILED}, 0, {ON("PodFailed", "RestartJob")}, {ON("PodFailed", "AbortJob")},
     ACT_RESTART_JOB, .source = POLICY_OF_TASK},
    {"without a policy of the task that of the job applies",
     {EVENT_POD_FAILED}, .job = {ON("PodFailed", "AbortJob")}, .want = ACT_ABORT_JOB,
     .source = POLICY_OF_JOB},
    {"a policy of the task that does not match leaves it to the job",
     {EVENT_POD_FAILED}, 0, {ON("PodEvicted", "RestartTask")},
     {ON("PodFailed", "AbortJob")}, ACT_ABORT_JOB, .source = POLICY_OF_JOB},
    {"a policy of any event takes the failure of a task",
     {EVENT_TASK_FAILED}, .job = {ON("*", "AbortJob")}, .want = ACT_ABORT_JOB,
     .source = POLICY_OF_JOB},
    {"the first policy that matches applies",
     {EVENT_POD_FAILED}, .job = {ON("PodFailed", "AbortJob"), ON("*", "RestartJob")},
     .want = ACT_ABORT_JOB, .source = POLICY_OF_JOB},
    {"the second policy applies when the first does not match",
     {EVENT_POD_EVICTED}, .job = {ON("PodFailed", "AbortJob"), ON("*", "RestartJob")},
     .want = ACT_RESTART_JOB, .source = POLICY_OF_JOB, .position = 1},
    {"a policy may match one of several events", {EVENT_POD_EVICTED},
     .job = {{"TerminateJob", NULL, {"PodFailed", "PodEvicted"}, .timeout_ns = NONE}}, .want = ACT_TERMINATE_JOB, .source = POLICY_OF_JOB},
    {"an event beside a list matches, too", {EVENT_TASK_COMPLETED},
     .job = {{"CompleteJob", "TaskCompleted", {"PodFailed"}, .timeout_ns = NONE}}, .want = ACT_COMPLETE_JOB, .source = POLICY_OF_JOB},
    {"* does not match PodPending without a timeout",
     {EVENT_POD_PENDING}, .job = {ON("*", "RestartJob")}, .want = ACT_SYNC_JOB},
    {"* matches PodPending with a timeout",
     {EVENT_POD_PENDING}, .job = {ON_AFTER("*", "RestartJob", SECOND)},
     .want = ACT_RESTART_JOB, .delay_ms = 1000, .source = POLICY_OF_JOB},
    {"PodPending with a timeout acts after it",
     {EVENT_POD_PENDING}, .job = {ON_AFTER("PodPending", "RestartPod", 10LL * SECOND)},
     .want = ACT_RESTART_POD, .delay_ms = 10000, .source = POLICY_OF_JOB},
    {"PodPending without a timeout only syncs",
     {EVENT_POD_PENDING}, .job = {ON("PodPending", "RestartPod")}, .want = ACT_SYNC_JOB},
    {"PodPending with timeout 0 acts at once",
     {EVENT_POD_PENDING}, .job = {ON_AFTER("PodPending", "RestartPod", 0)},
     .want = ACT_RESTART_POD, .source = POLICY_OF_JOB},
    {"the exit code of a policy matches",
     {EVENT_POD_FAILED, .exit_code = 3}, .job = {ON_EXIT(3, "RestartJob")}, .want = ACT_RESTART_JOB,
     .source = POLICY_OF_JOB},
    {"another exit code does not match",
     {EVENT_POD_FAILED, .exit_code = 4}, .job = {ON_EXIT(3, "RestartJob")}, .want = ACT_SYNC_JOB},
    {"* does not match JobUpdated",
     {EVENT_JOB_UPDATED}, .job = {ON("*", "RestartJob")}, .want = ACT_UPDATE_JOB},
    {"JobUpdated matches by its name",
     {EVENT_JOB_UPDATED}, .job = {ON("JobUpdated", "AbortJob")}, .want = ACT_ABORT_JOB, .source = POLICY_OF_JOB},
    {"JobUnknown is another name of Unknown",
     {EVENT_UNKNOWN}, .job = {ON("JobUnknown", "RestartJob")}, .want = ACT_RESTART_JOB, .source = POLICY_OF_JOB},
    {"an unknown action only syncs",
     {EVENT_POD_FAILED}, .job = {ON("PodFailed", "Explode")}, .want = ACT_SYNC_JOB, .source = POLICY_OF_JOB},
    {"without a policy an event only syncs", {EVENT_POD_FAILED}, .want = ACT_SYNC_JOB},
};
/* clang-format on */

static void the_first_matching_rule_decides(void **unused)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct policy_case *c = &cases[i];
        struct job_policy_row task[2], job[2];
        struct job_policy_result got = job_policy_match(
            &c->what, c->status_version, compile(c->task, task), compile(c->job, job));

        check_str(c->name, job_action_text(got.action), job_action_text(c->want));
        check_int(c->name, got.delay_ms, c->delay_ms);
        check_int(c->name, got.source, c->source);
        check_int(c->name, got.position, c->position);
    }
}

/* covers: job.md WQ-12 */
static void no_event_and_no_row_is_out_of_bounds(void **unused)
{
    struct job_policy_row rows[1] = {{.events = UINT32_MAX, .action = ACT_ABORT_JOB}};
    const struct job_policy_rows all = {rows, 1}, none = {0};

    for (int event = 0; event < JOB_EVENT_N; event++)
        for (int32_t version = -1; version <= 1; version++) {
            struct job_policy_input what = {.event = (enum job_event)event, .version = version};

            assert_in_range(job_policy_match(&what, 0, all, none).action, 0, JOB_ACTION_N - 1);
            assert_in_range(job_policy_match(&what, 0, none, all).action, 0, JOB_ACTION_N - 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_matching_rule_decides),
        cmocka_unit_test(no_event_and_no_row_is_out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
