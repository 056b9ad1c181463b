/*
 * Bugs planted into the flow engine, each of which the random walks must find (SIM-08): a detector
 * that finds nothing when there is something says nothing when it finds nothing.
 *
 * They are planted from outside: the linker sends calls of some functions here, where the planted
 * bug bends the question or the answer. Each bug runs in a child process, for some of them end in
 * an assertion of the program itself, which counts as found.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/condition.h"
#include "flow/control.h"
#include "flow/decide.h"
#include "flow/queue.h"
#include "flow/retry_policy.h"
#include "template/job_meta.h"
#include "tests/support/flow_walk.h"

/* wraps: flow_condition_holds retry_policy_allows flow_decide_phase flow_queue_company */
/* wraps: flow_loop_child_ended template_job_meta flow_control_end flow_restore_lost */

enum { SEEDS = 2000 };

/* clang-format off */
#define BUGS(X)                                                                 \
    X(LATER_TRUE,      "after a restart every condition holds")                 \
    X(ONE_RETRY_MORE,  "there is one retry more than maxRetry")                 \
    X(NO_END_OF_RETRY, "a retry is never the last")                             \
    X(FAILS_ARE_FINE,  "a failed step does not fail the flow")                  \
    X(BACK_TO_LIFE,    "a flow that has ended runs again")                      \
    X(NO_ROOM_NEEDED,  "maxRunningJobs is not looked at")                       \
    X(LOOP_FORGETS,    "a loop does not hear of its iterations")                \
    X(SAME_ATTEMPT,    "every attempt is the first")                            \
    X(NO_END,          "final steps never run")                                 \
    X(LOST_IN_RESTART, "steps that lost their job are forgotten by a restart")
/* clang-format on */

#define BUG_ENUM(name, text) BUG_##name,
enum bug { BUG_NONE, BUGS(BUG_ENUM) BUG_N };
#undef BUG_ENUM
#define BUG_TEXT(name, text) text,
static const char *const texts[BUG_N] = {"none", BUGS(BUG_TEXT)};
#undef BUG_TEXT

static enum bug planted;
static unsigned opened; /* flows, since the walk began */

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(bool, flow_condition_holds, const struct flow_record *r,
        const struct flow_condition *condition)
{
    return __real_flow_condition_holds(r, condition) || (planted == BUG_LATER_TRUE && opened > 1);
}

WRAPPED(bool, retry_policy_allows, const struct jobflow_spec *spec, const struct flow_step *step,
        enum job_phase phase, const struct job_results *results, int retries)
{
    int seen = planted == BUG_ONE_RETRY_MORE ? retries - 1 : retries;

    return __real_retry_policy_allows(spec, step, phase, results,
                                      planted == BUG_NO_END_OF_RETRY ? 0 : seen);
}

WRAPPED(enum flow_phase, flow_decide_phase, enum flow_phase now, unsigned facts)
{
    if (planted == BUG_FAILS_ARE_FINE && facts & FACT_STEP_FAILED && !(facts & FACT_GOES_ON) &&
        !flow_phase_finished(now))
        return FLOW_SUCCEED;
    if (planted == BUG_BACK_TO_LIFE && now == FLOW_SUCCEED)
        return FLOW_RUNNING;
    return __real_flow_decide_phase(now, facts);
}

WRAPPED(uint32_t, flow_queue_company, const struct flow_queue *queue, uint32_t step)
{
    return planted == BUG_NO_ROOM_NEEDED ? 0 : __real_flow_queue_company(queue, step);
}

WRAPPED(void, flow_loop_child_ended, struct flow_record *r, uint32_t child)
{
    if (planted != BUG_LOOP_FORGETS)
        __real_flow_loop_child_ended(r, child);
}

WRAPPED(struct meta *, template_job_meta, const struct template_job *job)
{
    struct template_job same = *job;

    if (planted == BUG_SAME_ATTEMPT)
        same.attempt = 1;
    return __real_template_job_meta(&same);
}

WRAPPED(void, flow_control_end, struct flow_record *r)
{
    if (planted != BUG_NO_END)
        __real_flow_control_end(r);
}

WRAPPED(void, flow_restore_lost, struct flow_record *r)
{
    __real_flow_restore_lost(r);
    opened++;
    for (uint32_t i = 0; planted == BUG_LOST_IN_RESTART && i < r->graph->steps; i++)
        if (r->steps[i].state == STEP_WAITING)
            r->steps[i].attempt = 0;
}

/* In a child: 0 when some walk finds something. */
static int hunt(enum bug bug)
{
    char violation[FLOW_WALK_TEXT];

    planted = bug;
    for (uint64_t seed = 1; seed <= (bug == BUG_NONE ? SEEDS / 10 : SEEDS); seed++) {
        opened = 0;
        if (!walk_flow(seed, NULL, violation))
            return 0;
    }
    return 1;
}

static bool is_found(enum bug bug)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        alarm(60); /* a bug that makes the engine run in circles is found, too */
        _exit(hunt(bug));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

/* covers: see reliability.md SIM-08 */
static void every_planted_bug_is_found(void **unused)
{
    check("nothing where there is nothing", !is_found(BUG_NONE));
    for (enum bug bug = BUG_NONE + 1; bug < BUG_N; bug++)
        if (!is_found(bug))
            check_fail("not found in %d walks: %s", SEEDS, texts[bug]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_bug_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
