/*
 * Plants bugs, one after the other, and shows that simulations of the whole program
 * (tests/support/sim) find each of them (SIM-08). How bugs are planted and searched for is in
 * tests/support/planted.h. JOBFLOW_TRACE=1 prints what found each bug.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "api/store/internal.h"
#include "flow/internal.h"
#include "job/commands.h"
#include "job/state/rules.h"
#include "job/state/verdicts.h"
#include "tests/support/planted.h"
#include "tests/support/sim.h"

/* wraps: clock_virtual_new clock_free runtime_sim_new machine_read kubelet_start */
/* wraps: store_open store_put store_delete store_commit_stop */
/* wraps: store_dir_open store_dir_take_reserve store_dir_give_reserve */
/* wraps: store_dir_move_reserve store_dir_has_room */
/* wraps: committer_start committer_send committer_wait committer_stop */
/* wraps: store_when_durable db_open db_revision_mark store_watch_deliver pod_status_blob */
/* wraps: loop_left_ms jobflow_aborted job_rule_of job_verdict_sync */
/* wraps: flow_restore_missing_jobs flow_decide_phase job_command_done */
/* wraps: kubelet_write_failed kubelet_delete_object */

enum { SEEDS = 2000, SOUND = 60, CIRCLES = 1000000 };

/* clang-format off */
#define BUGS(X)                                                                        \
    X(ANSWER_EARLY,     "what waits for the disk does not wait")                       \
    X(WEAK_SYNC,        "commits are not synced")                                      \
    X(REVISION_AGAIN,   "a restart gives revisions again")                             \
    X(WATCH_SKIPS,      "a watch misses the first change of a commit with several")    \
    X(UNSEEN_IS_ZERO,   "a pod whose end was not seen has succeeded")                    \
    X(TTL_AT_ONCE,      "the time to live is over at once")                            \
    X(ABORT_FORGOTTEN,  "a restart forgets that a flow was aborted")                   \
    X(END_IS_LEFT,      "a job that has ended is restarted")                           \
    X(ONE_MORE,         "there is one restart more than maxRetry")                     \
    X(STEPS_FORGOTTEN,  "a restart forgets steps that lost their job")                 \
    X(FAILS_ARE_FINE,   "a flow with a failed step has succeeded")                     \
    X(LOST_PODS_STAY,   "a lost pod that was being deleted stays")                     \
    X(COMMAND_STAYS,    "commands that were carried out stay")
/* clang-format on */

#define BUG_ENUM(name, text) BUG_##name,
enum bug { BUG_NONE, BUGS(BUG_ENUM) BUG_N };
#undef BUG_ENUM
#define BUG_TEXT(name, text) text,
static const char *const texts[BUG_N] = {"none", BUGS(BUG_TEXT)};
#undef BUG_TEXT

static enum bug planted;
static unsigned lives;     /* starts of the process in this simulation */
static unsigned decisions; /* about flows; a controller beyond CIRCLES never rests */

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(void, store_when_durable, struct store *store, struct task *task)
{
    if (planted == BUG_ANSWER_EARLY)
        loop_post(store->loop, task);
    else
        __real_store_when_durable(store, task);
}

WRAPPED(struct db *, db_open, const char *path, enum db_mode mode, struct error *err)
{
    lives++;
    return __real_db_open(path, planted == BUG_WEAK_SYNC ? DB_NORMAL : mode, err);
}

WRAPPED(int64_t, db_revision_mark, const struct db *db)
{
    return planted == BUG_REVISION_AGAIN ? 0 : __real_db_revision_mark(db);
}

WRAPPED(void, store_watch_deliver, struct store *store, uint64_t from)
{
    __real_store_watch_deliver(store,
                               from + (planted == BUG_WATCH_SKIPS && from + 1 < store->durable));
}

WRAPPED(struct blob *, pod_status_blob, const struct pod_status *status)
{
    struct pod_status bent = *status;

    if (planted == BUG_UNSEEN_IS_ZERO && status->reason &&
        (strcmp(status->reason, "SupervisorLost") == 0 ||
         strcmp(status->reason, "NodeRestarted") == 0))
        bent.phase = POD_SUCCEEDED;
    return __real_pod_status_blob(&bent);
}

WRAPPED(int64_t, loop_left_ms, const struct loop *loop, int64_t due_ms, int64_t whole_ms)
{
    return planted == BUG_TTL_AT_ONCE ? 0 : __real_loop_left_ms(loop, due_ms, whole_ms);
}

WRAPPED(bool, jobflow_aborted, const struct object *flow)
{
    return __real_jobflow_aborted(flow) && (planted != BUG_ABORT_FORGOTTEN || lives < 2);
}

WRAPPED(struct job_rule, job_rule_of, enum job_phase phase, enum job_action action)
{
    const bool left = planted == BUG_END_IS_LEFT && job_phase_finished(phase);

    return __real_job_rule_of(left ? JOB_RUNNING : phase, action);
}

WRAPPED(struct job_verdict, job_verdict_sync, const struct job_counts *given)
{
    struct job_counts counts = *given;

    counts.max_retry += planted == BUG_ONE_MORE;
    return __real_job_verdict_sync(&counts);
}

WRAPPED(void, flow_restore_missing_jobs, struct flow_model *m)
{
    __real_flow_restore_missing_jobs(m);
    for (uint32_t i = 0; planted == BUG_STEPS_FORGOTTEN && i < m->graph->steps; i++)
        if (m->steps[i].state == STEP_WAITING)
            m->steps[i].attempt = 0;
}

WRAPPED(enum flow_phase, flow_decide_phase, enum flow_phase now, unsigned facts)
{
    if (++decisions > CIRCLES)
        _exit(0); /* no correct simulation decides so often */
    if (planted == BUG_FAILS_ARE_FINE && facts & FACT_STEP_FAILED && !flow_phase_finished(now))
        return FLOW_SUCCEED;
    return __real_flow_decide_phase(now, facts);
}

struct kubelet_pod;
static const struct kubelet_pod *failed; /* the last pod that the kubelet wrote as failed */

WRAPPED(void, kubelet_write_failed, struct kubelet_pod *pod, const char *reason,
        const char *message)
{
    failed = pod;
    __real_kubelet_write_failed(pod, reason, message);
}

WRAPPED(void, kubelet_delete_object, struct kubelet_pod *pod)
{
    if (planted != BUG_LOST_PODS_STAY || pod != failed)
        __real_kubelet_delete_object(pod);
}

WRAPPED(void, job_command_done, struct job_run *run, const struct object *command)
{
    if (planted != BUG_COMMAND_STAYS)
        __real_job_command_done(run, command);
}

static bool find(size_t bug)
{
    char violation[SIM_TEXT];

    planted = (enum bug)bug;
    for (uint64_t seed = 1; seed <= (bug == BUG_NONE ? SOUND : SEEDS); seed++) {
        lives = decisions = 0;
        if (sim_run(seed, NULL, violation))
            continue;
        if (getenv("JOBFLOW_TRACE"))
            printf("%s: seed %llu: %s\n", texts[bug], (unsigned long long)seed, violation);
        return true;
    }
    return false;
}

/* covers: see reliability.md SIM-08 */
static void every_planted_bug_is_found(void **unused)
{
    planted_bugs_are_found(&(struct planted_bugs){texts, BUG_N, find});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_bug_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
