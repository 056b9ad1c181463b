/*
 * Tests phases, rules and verdicts: every cell of the tables.
 */
#include "tests/unit.h"

#include "job/state/phase.h"
#include "job/state/rules.h"
#include "job/state/verdicts.h"

#define P(name) (1u << JOB_##name)

/* covers: see 8.5 */
static void the_phase_graph_is_that_of_the_specification(void **unused)
{
    static const unsigned legal[JOB_PHASE_N] = {
        [JOB_NONE] = P(PENDING),
        [JOB_PENDING] =
            P(RUNNING) | P(RESTARTING) | P(ABORTING) | P(COMPLETING) | P(TERMINATING) | P(FAILED),
        [JOB_RUNNING] = P(PENDING) | P(COMPLETED) | P(FAILED) | P(RESTARTING) | P(ABORTING) |
                        P(COMPLETING) | P(TERMINATING),
        [JOB_RESTARTING] = P(PENDING) | P(FAILED) | P(ABORTING) | P(TERMINATING) | P(COMPLETING),
        [JOB_ABORTING] = P(ABORTED) | P(RESTARTING) | P(TERMINATING),
        [JOB_ABORTED] = P(RESTARTING) | P(TERMINATING),
        [JOB_COMPLETING] = P(COMPLETED),
        [JOB_TERMINATING] = P(TERMINATED) | P(FAILED),
    };

    for (int from = 0; from < JOB_PHASE_N; from++)
        for (int to = 0; to < JOB_PHASE_N; to++)
            check_int(job_phase_text((enum job_phase)from),
                      job_phase_edge((enum job_phase)from, (enum job_phase)to),
                      (legal[from] >> to) & 1);
}

/* covers: job.md ST-01 ST-03 ST-04 ST-05 ST-09 ST-10 ST-11 ST-27 ST-28 ST-29 ST-30 ST-34 ST-41
 * ST-42 */
static void every_cell_of_the_rule_table(void **unused)
{
    static const struct job_rule sync = {DO_SYNC}, nothing = {DO_NOTHING};
    static const struct job_rule abort_ = {DO_KILL, JOB_ABORTING, .version = true};
    static const struct job_rule restart = {DO_KILL, JOB_RESTARTING, .version = true,
                                            .retry = true};
    static const struct job_rule terminate = {DO_KILL, JOB_TERMINATING, .version = true};
    static const struct job_rule complete = {DO_KILL, JOB_COMPLETING, .version = true};
    static const struct job_rule target = {DO_KILL_TARGET, JOB_RESTARTING, .retry = true};
    static const struct job_rule again = {DO_KILL, JOB_NONE, .version = true};
    static const struct job_rule target_again = {DO_KILL_TARGET, JOB_NONE};
    static const struct job_rule resume = {DO_KILL, JOB_RESTARTING, true, true, true};
    /* clang-format off */
    const struct job_rule active[] = {sync, sync, sync, abort_, restart, target, target, target, terminate, complete, sync};
    const struct job_rule restarting[] = {sync, sync, sync, abort_, again, target_again, target_again, target_again, terminate, complete, sync};
    const struct job_rule aborting[] = {sync, sync, sync, nothing, nothing, nothing, nothing, nothing, terminate, nothing, resume};
    const struct job_rule quiet[] = {sync, sync, sync, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing};
    const struct job_rule *const rows[JOB_PHASE_N] = {
        [JOB_NONE] = active, [JOB_PENDING] = active, [JOB_RUNNING] = active, [JOB_RESTARTING] = restarting,
        [JOB_ABORTING] = aborting, [JOB_ABORTED] = aborting, [JOB_COMPLETING] = quiet, [JOB_COMPLETED] = quiet,
        [JOB_TERMINATING] = quiet, [JOB_TERMINATED] = quiet, [JOB_FAILED] = quiet,
    };
    /* clang-format on */

    assert_int_equal(countof(active), JOB_ACTION_N);
    for (int phase = 0; phase < JOB_PHASE_N; phase++)
        for (int action = 0; action < JOB_ACTION_N; action++) {
            struct job_rule got = job_rule_of((enum job_phase)phase, (enum job_action)action);
            const struct job_rule *want = &rows[phase][action];
            scoped_str name = mem_printf("%s/%s", job_phase_text((enum job_phase)phase),
                                         job_action_text((enum job_action)action));

            check_int(name, got.verb, want->verb);
            check_int(name, got.to, want->to);
            check_int(name, got.version, want->version);
            check_int(name, got.retry, want->retry);
            check_int(name, got.resume, want->resume);
            if (got.to != JOB_NONE &&
                phase != JOB_NONE) /* a job without a phase becomes Pending before anything else */
                check(name, job_phase_edge((enum job_phase)phase, got.to));
        }
}

struct verdict_case {
    const char *name;
    struct job_counts counts;
    enum job_phase want;
};

/* covers: job.md ST-06 ST-07 ST-08 ST-12 ST-13 ST-14 ST-15 ST-16 ST-18 ST-19 ST-20 ST-21 ST-22
 * ST-23 ST-25 ST-26 ST-31 ST-32 ST-33 ST-45 */
static void verdicts_follow_the_counters(void **unused)
{
    /* clang-format off */
    static const struct verdict_case cases[] = {
        {"3 running pods reach minAvailable 3",
         {JOB_PENDING, .min_available = 3, .running = 3, .replicas = 3}, JOB_RUNNING},
        {"2 running pods do not reach minAvailable 3",
         {JOB_PENDING, .min_available = 3, .running = 2, .replicas = 3}, JOB_PENDING},
        {"failed pods count as started",     {JOB_PENDING, .min_available = 2, .running = 1, .failed = 1, .replicas = 2}, JOB_RUNNING},
        {"minAvailable 0 runs at once",      {JOB_PENDING, .replicas = 0}, JOB_RUNNING},
        {"all pods succeeded with minAvailable 2",
         {JOB_RUNNING, .replicas = 2, .succeeded = 2, .min_available = 2}, JOB_COMPLETED},
        {"all pods succeeded with minAvailable 0",
         {JOB_RUNNING, .replicas = 2, .succeeded = 2}, JOB_COMPLETED},
        {"a job with an absent pod still runs",
         {JOB_RUNNING, .replicas = 2, .succeeded = 1, .min_available = 2}, JOB_RUNNING},
        {"5 pending pods of 5 make it pending",
         {JOB_RUNNING, .replicas = 5, .pending = 5, .min_available = 3}, JOB_PENDING},
        {"3 pending pods and 2 running are pending",
         {JOB_RUNNING, .replicas = 5, .pending = 3, .running = 2, .min_available = 3}, JOB_PENDING},
        {"2 pending, 1 running and 2 ended pods run",
         {JOB_RUNNING, .replicas = 5, .pending = 2, .running = 1, .succeeded = 1, .failed = 1,
                                              .min_available = 3}, JOB_RUNNING},
        {"minSuccess may be reached early",  {JOB_RUNNING, .replicas = 5, .running = 2, .succeeded = 2, .min_success = {true, 2},
                                              .min_available = 5}, JOB_COMPLETED},
        {"minSuccess is missed at the end",  {JOB_RUNNING, .replicas = 4, .succeeded = 2, .failed = 2, .min_success = {true, 3},
                                              .min_available = 1}, JOB_FAILED},
        {"a task below its minimum fails the job",
         {JOB_RUNNING, .replicas = 4, .succeeded = 3, .failed = 1, .min_available = 4,
                                              .task_minimums = 4, .tasks_below_minimum = 1}, JOB_FAILED},
        {"it does not when minAvailable is below the sum",
         {JOB_RUNNING, .replicas = 4, .succeeded = 3, .failed = 1, .min_available = 3,
                                              .task_minimums = 4, .tasks_below_minimum = 1}, JOB_COMPLETED},
        {"fewer successes than minAvailable fail",
         {JOB_RUNNING, .replicas = 4, .succeeded = 1, .failed = 3, .min_available = 2,
                                              .task_minimums = 4}, JOB_FAILED},
        {"a job scaled to zero stays",       {JOB_RUNNING, .replicas = 0}, JOB_RUNNING},
        {"no restart is left",               {JOB_RESTARTING, .retry_count = 3, .max_retry = 3, .replicas = 1}, JOB_FAILED},
        {"resumes do not use up restarts",   {JOB_RESTARTING, .retry_count = 5, .resumes = 5, .max_retry = 3, .replicas = 1,
                                              .status_min_available = 1}, JOB_PENDING},
        {"2 of 4 pods terminate, the minimum is 3",
         {JOB_RESTARTING, .retry_count = 1, .max_retry = 3, .replicas = 4, .terminating = 2,
                                              .status_min_available = 3}, JOB_RESTARTING},
        {"1 of 4 pods terminates, the minimum is 3",
         {JOB_RESTARTING, .retry_count = 1, .max_retry = 3, .replicas = 4, .terminating = 1,
                                              .status_min_available = 3}, JOB_PENDING},
        {"aborting ends without living pods", {JOB_ABORTING, .succeeded = 1}, JOB_ABORTED},
        {"a pending pod keeps it aborting",  {JOB_ABORTING, .pending = 1}, JOB_ABORTING},
        {"terminating pods keep it completing", {JOB_COMPLETING, .terminating = 2}, JOB_COMPLETING},
        {"completing ends without living pods", {JOB_COMPLETING, .failed = 1}, JOB_COMPLETED},
        {"a pod in phase Unknown is alive",  {JOB_COMPLETING, .unknown = 1}, JOB_COMPLETING},
        {"terminating pods keep it terminating",
         {JOB_TERMINATING, .terminating = 2}, JOB_TERMINATING},
        {"terminating ends without living pods", {JOB_TERMINATING}, JOB_TERMINATED},
        {"terminating for a loss ends as failed",
         {JOB_TERMINATING, .must_fail = true}, JOB_FAILED},
        {"companions are stopped before the job ends",
         {JOB_RUNNING, .replicas = 3, .succeeded = 2, .running = 1, .min_available = 3,
                                              .companions = {1, 1, 1}}, JOB_RUNNING},
        {"companions need not succeed",
         {JOB_RUNNING, .replicas = 3, .succeeded = 2, .min_available = 3, .companions = {1, 1, 0}}, JOB_COMPLETED},
        {"a companion never makes up for a failure",
         {JOB_RUNNING, .replicas = 2, .failed = 1, .min_available = 1, .companions = {1, 1, 0}}, JOB_FAILED},
        {"an aborted job stays",             {JOB_ABORTED}, JOB_ABORTED},
        {"a completed job stays",            {JOB_COMPLETED, .replicas = 2, .failed = 2, .min_available = 2}, JOB_COMPLETED},
        {"a failed job stays",               {JOB_FAILED, .replicas = 1, .succeeded = 1}, JOB_FAILED},
        {"a terminated job stays",           {JOB_TERMINATED}, JOB_TERMINATED},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_verdict got = job_verdict_sync(&cases[i].counts);

        check_str(cases[i].name, job_phase_text(got.phase), job_phase_text(cases[i].want));
        check(cases[i].name, (got.reason != NULL) == (got.phase != cases[i].counts.phase));
    }
}

static void move(struct job_state *state, enum job_phase to, int64_t now_ms)
{
    job_phase_set(state, to, &(struct job_transition){"Because", "of a test", now_ms});
}

/* covers: job.md ST-46 */
static void a_phase_has_one_condition_and_the_newest_stands_last(void **unused)
{
    struct job_state state = {.running_ns = -1};

    move(&state, JOB_PENDING, 1000);
    move(&state, JOB_RUNNING, 2000);
    move(&state, JOB_PENDING, 3000);
    assert_int_equal(state.n_conditions, 2);
    assert_int_equal(state.conditions[1].phase, JOB_PENDING);
    assert_int_equal(state.conditions[1].at_ms, 3000);
    move(&state, JOB_RESTARTING, 4000);
    assert_int_equal(state.n_conditions, 3);
    assert_string_equal(state.reason, "Because");
    assert_string_equal(state.message, "of a test");
    job_state_release(&state);
}

/* covers: see 17.3 */
static void running_time_excludes_pending_and_is_kept(void **unused)
{
    struct job_state state = {.running_ns = -1};

    move(&state, JOB_PENDING, 1000);
    move(&state, JOB_RUNNING, 5000);
    move(&state, JOB_COMPLETED, 8000);
    assert_int_equal(state.running_ns, 3000000000);
    job_state_release(&state);
}

static void time_never_runs_backwards(void **unused)
{
    struct job_state state = {.running_ns = -1};

    move(&state, JOB_PENDING, 9000);
    move(&state, JOB_RUNNING, 4000);
    assert_int_equal(state.transition_ms, 9000);
    move(&state, JOB_FAILED, 5000);
    assert_int_equal(state.running_ns, 0);
    job_state_release(&state);
}

static void controlled_resources_are_a_small_map(void **unused)
{
    struct job_state state = {.running_ns = -1};

    assert_true(job_state_control(&state, "plugin-svc", "svc"));
    assert_false(job_state_control(&state, "plugin-svc", "svc"));
    assert_true(job_state_control(&state, "plugin-env", "env"));
    assert_true(job_state_control(&state, "plugin-svc", "other"));
    assert_string_equal(job_state_resource(&state, "plugin-svc"), "other");
    assert_true(job_state_drop(&state, "plugin-svc"));
    assert_false(job_state_drop(&state, "plugin-svc"));
    assert_null(job_state_resource(&state, "plugin-svc"));
    assert_string_equal(job_state_resource(&state, "plugin-env"), "env");
    job_state_release(&state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_phase_graph_is_that_of_the_specification),
        cmocka_unit_test(every_cell_of_the_rule_table),
        cmocka_unit_test(verdicts_follow_the_counters),
        cmocka_unit_test(a_phase_has_one_condition_and_the_newest_stands_last),
        cmocka_unit_test(running_time_excludes_pending_and_is_kept),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(controlled_resources_are_a_small_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
