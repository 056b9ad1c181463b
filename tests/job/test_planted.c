/*
 * Bugs planted into the job controller, each of which the random walks must find (SIM-08). How bugs are
 * planted and searched for is in tests/support/planted.h.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "job/commands.h"
#include "job/delayed.h"
#include "job/model/event.h"
#include "job/model/slot_annotations.h"
#include "job/objects/podgroup.h"
#include "job/run.h"
#include "job/state/rules.h"
#include "job/state/verdicts.h"
#include "job/ttl.h"
#include "tests/support/job_walk.h"
#include "tests/support/planted.h"

/* wraps: job_rule_of job_verdict_sync job_podgroup_admitted job_model_next_vacant */
/* wraps: job_event_of job_policy_match job_pod_facts job_event_since_ms */
/* wraps: job_delayed_still_valid job_delayed_on_event job_model_new_epoch */
/* wraps: job_status_blob job_partition_of job_command_done job_ttl_update */
/* wraps: job_delayed_cancel_covered job_delayed_annotations_load job_slot_annotations_load */
/* wraps: job_slot_annotations_count_restart job_model_forget_success */

enum { SEEDS = 2000 };

/* clang-format off */
#define BUGS(X)                                                                    \
    X(NO_EPOCH,         "a restart of the job opens no epoch")                     \
    X(NOT_COUNTED,      "restarts are not counted")                                \
    X(END_IS_LEFT,      "a finished job is restarted")                             \
    X(ONE_MORE,         "there is one restart more than maxRetry")                 \
    X(RESUME_FAILS,     "a resume counts as a failure")                            \
    X(NO_MIN_SUCCESS,   "minSuccess is forgotten")                                 \
    X(NO_TASK_MINIMUM,  "minimums of tasks are forgotten")                         \
    X(GANG_IGNORED,     "pods are made before the gang is admitted")               \
    X(ORDER_IGNORED,    "pods are made before what their task depends on")         \
    X(OWN_EVICTIONS,    "own deletions count as evictions")                        \
    X(TWO_EVENTS,       "a pod that ends while it is deleted has failed, too")     \
    X(JOB_FIRST,        "policies of the job come before those of the task")       \
    X(OLD_EVENTS,       "events of earlier epochs count")                          \
    X(NO_EXIT_CODE,     "exit codes are not looked at")                            \
    X(UNCHECKED_DELAY,  "a delayed action does not look at its cause again")       \
    X(DELAY_ANEW,       "delays begin anew with the process")                      \
    X(DELAY_FORGOTTEN,  "what was armed is forgotten with the process")            \
    X(SPARED_UNCOUNTED, "pods that are spared are not counted")                    \
    X(EARLY_END,        "a job seems to have ended before it did")                 \
    X(WRONG_PARTITION,  "every pod is of the first partition")                     \
    X(COMMAND_STAYS,    "executed Commands stay")                                  \
    X(TTL_FORGOTTEN,    "the time to live is forgotten")                           \
    X(NOBODY_DOOMED,    "who must go is not asked again when an epoch begins")      \
    X(LEVEL_LEFT,       "an action leaves delayed ones of its level")              \
    X(SUCCESS_LOST,     "successes that are kept are forgotten with the process")  \
    X(SUCCESS_STAYS,    "a kept success outlives the restart of its task")         \
    X(SLOT_UNCOUNTED,   "restarts of slots are not counted")
/* clang-format on */

#define BUG_ENUM(name, text) BUG_##name,
enum bug { BUG_NONE, BUGS(BUG_ENUM) BUG_N };
#undef BUG_ENUM
#define BUG_TEXT(name, text) text,
static const char *const texts[BUG_N] = {"none", BUGS(BUG_TEXT)};
#undef BUG_TEXT

static enum bug planted;

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(struct job_rule, job_rule_of, enum job_phase phase, enum job_action action)
{
    struct job_rule rule = __real_job_rule_of(phase, action);

    if (planted == BUG_NO_EPOCH && action == ACT_RESTART_JOB)
        rule.version = false;
    if (planted == BUG_NOT_COUNTED)
        rule.retry = false;
    if (planted == BUG_END_IS_LEFT && job_phase_finished(phase))
        rule = __real_job_rule_of(JOB_RUNNING, action);
    return rule;
}

WRAPPED(struct job_verdict, job_verdict_sync, const struct job_counts *given)
{
    struct job_counts counts = *given;

    counts.max_retry += planted == BUG_ONE_MORE;
    if (planted == BUG_RESUME_FAILS)
        counts.resumes = 0;
    if (planted == BUG_NO_MIN_SUCCESS)
        counts.min_success.set = false;
    if (planted == BUG_NO_TASK_MINIMUM)
        counts.tasks_below_minimum = 0;
    return __real_job_verdict_sync(&counts);
}

WRAPPED(bool, job_podgroup_admitted, const struct job_model *model)
{
    return planted == BUG_GANG_IGNORED || __real_job_podgroup_admitted(model);
}

WRAPPED(bool, job_model_next_vacant, struct job_model *model, uint32_t task, struct slot_id *out)
{
    for (uint32_t t = 0; planted == BUG_ORDER_IGNORED && t < model->compiled->spec->tasks.count;
         t++) {
        const struct job_task_model *locked = &model->tasks[t];

        for (int32_t i = 0; !locked->unlocked && i < locked->replicas; i++)
            if (!locked->slots[i].pod && locked->slots[i].op == SLOT_IDLE) {
                *out = (struct slot_id){t, i};
                return true;
            }
    }
    return __real_job_model_next_vacant(model, task, out);
}

WRAPPED(enum job_event, job_event_of, const struct pod_facts *before, const struct pod_facts *after,
        const struct task_facts *task)
{
    if (planted == BUG_OWN_EVICTIONS && before && !after)
        return EVENT_POD_EVICTED;
    if (planted == BUG_TWO_EVENTS && before && after && after->deleting &&
        after->phase == POD_FAILED && before->phase != POD_FAILED && !after->marked)
        return EVENT_POD_FAILED;
    return __real_job_event_of(before, after, task);
}

WRAPPED(struct job_policy_result, job_policy_match, const struct job_policy_input *what,
        int32_t status_version, struct job_policy_rows task, struct job_policy_rows job)
{
    if (planted == BUG_JOB_FIRST)
        return __real_job_policy_match(what, status_version, job, task);
    return __real_job_policy_match(what, planted == BUG_OLD_EVENTS ? 0 : status_version, task, job);
}

WRAPPED(bool, job_pod_facts, const struct object *pod, struct pod_facts *out)
{
    bool known = __real_job_pod_facts(pod, out);

    if (known && planted == BUG_NO_EXIT_CODE)
        out->exit_code = 0;
    return known;
}

WRAPPED(bool, job_delayed_still_valid, const struct job_run *run, const struct job_request *expired)
{
    return planted == BUG_UNCHECKED_DELAY || __real_job_delayed_still_valid(run, expired);
}

WRAPPED(int64_t, job_event_since_ms, enum job_event event, const struct object *known,
        const struct object *pod)
{
    return planted == BUG_DELAY_ANEW ? 0 : __real_job_event_since_ms(event, known, pod);
}

WRAPPED(void, job_delayed_annotations_load, struct job_run *run)
{
    if (planted != BUG_DELAY_FORGOTTEN && planted != BUG_DELAY_ANEW)
        __real_job_delayed_annotations_load(run);
}

WRAPPED(void, job_delayed_on_event, struct job_run *run, const struct job_request *request)
{
    if (planted != BUG_UNCHECKED_DELAY)
        __real_job_delayed_on_event(run, request);
}

WRAPPED(void, job_delayed_cancel_covered, struct job_run *run, enum job_action action,
        const struct job_request *cause)
{
    if (planted != BUG_LEVEL_LEFT || action == ACT_ABORT_JOB)
        __real_job_delayed_cancel_covered(run, action, cause);
}

WRAPPED(struct blob *, job_status_blob, const struct job_status *given)
{
    struct job_status status = *given;

    if (planted == BUG_SPARED_UNCOUNTED && job_phase_finished(status.phase))
        status.succeeded = status.failed = 0;
    if (planted == BUG_EARLY_END)
        status.transition_ms -= 2000;
    return __real_job_status_blob(&status);
}

WRAPPED(int32_t, job_partition_of, int32_t index, int32_t size)
{
    return planted == BUG_WRONG_PARTITION ? 0 : __real_job_partition_of(index, size);
}

WRAPPED(void, job_command_done, struct job_run *run, const struct object *command)
{
    if (planted != BUG_COMMAND_STAYS)
        __real_job_command_done(run, command);
}

WRAPPED(void, job_ttl_update, struct job_ttl *ttl, const struct object *job)
{
    if (planted != BUG_TTL_FORGOTTEN)
        __real_job_ttl_update(ttl, job);
}

WRAPPED(void, job_model_new_epoch, struct job_model *model)
{
    if (planted != BUG_NOBODY_DOOMED)
        __real_job_model_new_epoch(model);
}

WRAPPED(void, job_slot_annotations_load, struct job_model *model)
{
    if (planted != BUG_SUCCESS_LOST) {
        __real_job_slot_annotations_load(model);
        return;
    }
    job_slot_annotations_configure(model);
    job_slot_annotations_reload_restarts(model);
}

WRAPPED(void, job_model_forget_success, struct job_model *model, struct slot_id at)
{
    if (planted != BUG_SUCCESS_STAYS)
        __real_job_model_forget_success(model, at);
}

WRAPPED(void, job_slot_annotations_count_restart, struct job_model *model, uint32_t task,
        int32_t from, int32_t to)
{
    if (planted != BUG_SLOT_UNCOUNTED)
        __real_job_slot_annotations_count_restart(model, task, from, to);
}

static bool find(size_t bug)
{
    const struct walk_options quiet = {0};
    char violation[WALK_TEXT];

    planted = (enum bug)bug;
    for (uint64_t seed = 1; seed <= (bug == BUG_NONE ? SEEDS / 10 : SEEDS); seed++)
        if (!walk_job(seed, &quiet, violation)) {
            printf("  %-60s seed %llu, %s\n", texts[bug], (unsigned long long)seed, violation);
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
