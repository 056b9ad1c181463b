/*
 * Executes one random event per step and checks its result. There is one job named j at a time.
 * Watchers of the test record what it does, and the state between the steps is read from the store,
 * as any client could.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_walk_internal.h"

enum { STEPS = 22 };
/* Of seven walks one uses jobs of gen_job_group_restarts, and one uses those of
 * gen_job_lost_pods. */
enum { KINDS = 7, GROUP_RESTARTS_AT = 2, LOST_PODS_AT = 4 };

/* Returns the index of a random pod that satisfies `wanted`, or -1. */
static int pick_pod(struct walk *walk, bool (*wanted)(const struct rule_pod *pod))
{
    int from = walk->sight.count > 0 ? dice_roll(&walk->dice, walk->sight.count) : 0;

    for (int i = 0; i < walk->sight.count; i++) {
        int at = (from + i) % walk->sight.count;

        if (wanted(&walk->sight.pods[at]))
            return at;
    }
    return -1;
}

static bool is_alive(const struct rule_pod *pod)
{
    return !pod->deleting &&
           (pod->phase == POD_PENDING || pod->phase == POD_RUNNING || pod->phase == POD_UNKNOWN);
}
static bool is_pending(const struct rule_pod *pod)
{
    return !pod->deleting && pod->phase == POD_PENDING;
}
static bool is_running(const struct rule_pod *pod)
{
    return !pod->deleting && pod->phase == POD_RUNNING;
}
static bool is_there(const struct rule_pod *pod)
{
    return !pod->deleting;
}
static bool has_ended(const struct rule_pod *pod)
{
    return pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
}
static bool is_going(const struct rule_pod *pod)
{
    return pod->deleting;
}

static void pods_run(struct walk *walk)
{
    for (int i = 0; i < walk->sight.count; i++)
        if (is_pending(&walk->sight.pods[i]) &&
            dice_chance(&walk->dice, walk->lost_pods ? 40 : 80)) {
            walk->evicted_ms[walk->sight.pods[i].task][walk->sight.pods[i].index] = 0;
            walk->failed_ms[walk->sight.pods[i].task][walk->sight.pods[i].index] = 0;
            walk_tell(walk, "runs: %s", object_name(walk->sight.objects[i]));
            job_fixture_report(walk->fixture, object_name(walk->sight.objects[i]), POD_RUNNING, 0,
                               0);
        }
}

static void pod_succeeds(struct walk *walk)
{
    int at = pick_pod(walk, is_alive);
    const struct rule_pod *pod;

    if (at < 0)
        return;
    pod = &walk->sight.pods[at];
    walk_tell(walk, "succeeds: %s", object_name(walk->sight.objects[at]));
    walk->evicted_surely[pod->task][pod->index] = false;
    if (walk->before.succeeded_of[pod->task] + 1 == walk->spec.tasks[pod->task].replicas)
        walk_expect_event(walk, EVENT_TASK_COMPLETED, pod->task, pod->index, pod->version, 0,
                          false);
    job_fixture_report(walk->fixture, object_name(walk->sight.objects[at]), POD_SUCCEEDED, 0,
                       pod->restarts);
}

static void pod_fails(struct walk *walk)
{
    int at = pick_pod(walk, is_alive), code = 1 + dice_roll(&walk->dice, 3);
    const struct rule_pod *pod;

    if (at < 0)
        return;
    pod = &walk->sight.pods[at];
    walk_tell(walk, "fails: %s with %d", object_name(walk->sight.objects[at]), code);
    walk_expect_event(walk, EVENT_POD_FAILED, pod->task, pod->index, pod->version, code, false);
    job_fixture_report(walk->fixture, object_name(walk->sight.objects[at]), POD_FAILED, code,
                       pod->restarts);
}

static void pod_restarts(struct walk *walk)
{
    int at = pick_pod(walk, is_running), more = 1 + dice_roll(&walk->dice, 2);
    const struct rule_pod *pod;
    int limit;

    if (at < 0)
        return;
    pod = &walk->sight.pods[at];
    walk_tell(walk, "restarts: %s, %d", object_name(walk->sight.objects[at]), pod->restarts + more);
    limit = walk->spec.tasks[pod->task].max_retry;
    if (limit >= 0 && walk->before.restarts_of[pod->task] + more >= limit)
        walk_expect_event(walk, EVENT_TASK_FAILED, pod->task, pod->index, pod->version, 0, false);
    job_fixture_report(walk->fixture, object_name(walk->sight.objects[at]), POD_RUNNING, 0,
                       pod->restarts + more);
}

static void pod_is_unknown(struct walk *walk)
{
    int at = pick_pod(walk, is_running);

    if (at < 0)
        return;
    walk_tell(walk, "unknown: %s", object_name(walk->sight.objects[at]));
    job_fixture_report(walk->fixture, object_name(walk->sight.objects[at]), POD_UNKNOWN, 0,
                       walk->sight.pods[at].restarts);
}

static void expect_eviction(struct walk *walk, const struct rule_pod *pod, bool counted)
{
    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    if (!pod->marked)
        walk_expect_event(walk, EVENT_POD_EVICTED, pod->task, pod->index, pod->version, 0, counted);
}

static void pod_is_deleted(struct walk *walk)
{
    int at = pick_pod(walk, is_there);
    const struct rule_pod *pod;
    bool keeps;

    if (at < 0)
        return;
    pod = &walk->sight.pods[at];
    keeps = walk->spec.keep_succeeded && pod->phase == POD_SUCCEEDED && !pod->marked;
    if (keeps && !walk_active(walk->phase)) /* a finished job keeps no record of its slots */
        return;
    walk_tell(walk, "deleted: %s", object_name(walk->sight.objects[at]));
    walk->kept[pod->task][pod->index] = keeps && pod->index < walk->spec.tasks[pod->task].replicas;
    if (keeps)
        walk->expected = (struct expectation){.what = EXPECT_SYNC};
    else if (!walk->slow || has_ended(&walk->sight.pods[at])) /* an ended pod is deleted without
                                                               * a grace period */
        expect_eviction(walk, &walk->sight.pods[at], true);
    walk->pods_deleted_at_end |= !walk_active(walk->phase);
    job_fixture_delete(walk->fixture, &kind_pod, object_name(walk->sight.objects[at]));
}

static void pod_goes(struct walk *walk)
{
    int at = pick_pod(walk, is_going);

    if (at < 0)
        return;
    walk_tell(walk, "gone: %s", object_name(walk->sight.objects[at]));
    expect_eviction(walk, &walk->sight.pods[at], false);
    job_fixture_let_one_go(walk->fixture, object_name(walk->sight.objects[at]));
}

/* Ends a pod under deletion. This counts as one eviction, when the pod is gone (O-16). */
static void pod_ends_on_its_way_out(struct walk *walk)
{
    int at = pick_pod(walk, is_going);

    if (at < 0 || has_ended(&walk->sight.pods[at]))
        return;
    walk_tell(walk, "ends, being deleted: %s", object_name(walk->sight.objects[at]));
    job_fixture_report(walk->fixture, object_name(walk->sight.objects[at]), POD_FAILED, 143,
                       walk->sight.pods[at].restarts);
}

static void command_comes(struct walk *walk)
{
    static const enum job_action actions[] = {
        ACT_ABORT_JOB,  ACT_RESUME_JOB,   ACT_RESUME_JOB,  ACT_RESTART_JOB, ACT_TERMINATE_JOB,
        ACT_RESUME_JOB, ACT_RESTART_TASK, ACT_RESTART_POD, ACT_ABORT_JOB,   ACT_COMPLETE_JOB};
    enum job_action action = actions[dice_roll(&walk->dice, countof(actions))];
    int at = pick_pod(walk, is_there);
    const char *aim = at >= 0 ? object_name(walk->sight.objects[at]) : "j-a-0";
    int task = at >= 0 ? walk->sight.pods[at].task : 0,
        index = at >= 0 ? walk->sight.pods[at].index : 0;
    scoped_str yaml = mem_printf(
        "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c%d, namespace: "
        "default, annotations: {volcano.sh/task-spec: %s, volcano.sh/pod-name: %s}}, action: %s, "
        "target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s}}",
        walk->step, gen_task_name(task), aim, job_action_text(action), walk->uid);

    walk_tell(walk, "command: %s at %s", job_action_text(action), aim);
    walk_expect_action(walk, action, job_action_text(action), task, index, false);
    if (at < 0 && walk->expected.what == EXPECT_ACTION && action == ACT_RESTART_POD)
        walk->expected.what = EXPECT_SYNC;
    job_fixture_apply(walk->fixture, yaml);
}

static void job_is_scaled(struct walk *walk)
{
    scoped(buf) struct buf was = {0}, patch = {0};

    if (walk->spec.keep_succeeded && !walk_active(walk->phase))
        return;
    gen_job_scale_patch(&walk->spec, &was);
    gen_job_rescale(&walk->spec, &walk->dice);
    gen_job_scale_patch(&walk->spec, &patch);
    if (strcmp(was.data, patch.data) == 0)
        return;
    walk_tell(walk, "scaled: %s", patch.data);
    for (int t = 0; t < walk->spec.n_tasks; t++)
        for (int i = walk->spec.tasks[t].replicas; i <= GEN_REPLICAS; i++) {
            walk->kept[t][i] = walk->evicted_surely[t][i] = false;
            walk->slot_restarts[t][i] = SLOT_ANEW;
        }
    walk_expect_event(walk, EVENT_JOB_UPDATED, -1, -1, walk->version, 0, false);
    job_fixture_patch(walk->fixture, &kind_job, "j", patch.data);
}

static void gang_is_unknown(struct walk *walk)
{
    if (!walk_gang_admitted(walk))
        return;
    walk_tell(walk, "the gang is unknown");
    walk_expect_event(walk, EVENT_UNKNOWN, -1, -1, walk->version, 0, false);
    job_fixture_group_phase(walk->fixture, PODGROUP_UNKNOWN);
    job_fixture_group_phase(walk->fixture, PODGROUP_RUNNING);
}

static void gang_is_admitted(struct walk *walk)
{
    if (!walk->hold || job_fixture_count(walk->fixture, &kind_pod_group) == 0)
        return;
    walk_tell(walk, "the gang is admitted");
    job_fixture_group_phase(walk->fixture, PODGROUP_INQUEUE);
}

static bool all_succeeded(const struct walk *walk)
{
    for (int t = 0; t < walk->spec.n_tasks; t++)
        if (walk->before.succeeded_of[t] > 0 &&
            walk->before.succeeded_of[t] >= walk->spec.tasks[t].replicas)
            return true;
    return false;
}

/* Advances the time in pieces shorter than any timeout, so that the cause and the effect of an
 * answer are seen one after the other. */
static void time_passes(struct walk *walk)
{
    int pieces = 1 + dice_roll(&walk->dice, 9);

    walk_tell(walk, "%d times 900 ms pass", pieces);
    for (int i = 0; i < pieces && !walk->violation[0]; i++) {
        job_fixture_advance(walk->fixture, 900);
        if (i + 1 < pieces) {
            walk_end_step(walk);
            walk_begin_step(walk);
            if (walk->lost_pods && dice_chance(&walk->dice, 30) && !all_succeeded(walk)) {
                walk->restarted = true;
                job_fixture_restart(walk->fixture);
            }
        }
    }
}

/* Restarts the controller, sometimes with a change while none runs. */
static void controller_restarts(struct walk *walk)
{
    walk_tell(walk, "the controller restarts");
    walk_gather_causes(walk); /* the new process computes deadlines from what is stored */
    walk->restarted = true;
    job_fixture_stop_controller(walk->fixture);
    if (dice_chance(&walk->dice, 50))
        pod_fails(walk);
    job_fixture_start_controller(walk->fixture);
    /* A task that is complete because it was scaled down is seen as complete now. */
    if (all_succeeded(walk))
        walk->expected.what = EXPECT_ANY;
}

static void job_is_made(struct walk *walk)
{
    scoped(buf) struct buf manifest = {0};

    gen_job_roll(&walk->spec, &walk->dice);
    if (walk->group_restarts)
        gen_job_group_restarts(&walk->spec, &walk->dice);
    if (walk->lost_pods)
        gen_job_lost_pods(&walk->spec, &walk->dice);
    walk->spec.keep_succeeded &= walk->strict; /* a lost write may lose a success */
    gen_job_manifest(&walk->spec, &manifest);
    walk_tell(walk, "made: %s", manifest.data);
    job_fixture_apply(walk->fixture, manifest.data);
}

static void job_is_deleted(struct walk *walk)
{
    if (!dice_chance(&walk->dice, 30))
        return;
    walk_tell(walk, "the job is deleted");
    walk->user_deletes = true;
    job_fixture_delete(walk->fixture, &kind_job, "j");
    if (walk->slow)
        job_fixture_let_go(walk->fixture);
    walk->user_deletes = false;
}

/* The events that may happen, and how often each of them does. */

static const struct {
    int weight;
    void (*happens)(struct walk *walk);
    bool restarts; /* after a restart the gang is Unknown only for a moment */
} happenings[] = {
    {22, pods_run},     {16, pod_succeeds},           {14, pod_fails},
    {6, pod_restarts},  {2, pod_is_unknown},          {9, pod_is_deleted},
    {10, pod_goes},     {4, pod_ends_on_its_way_out}, {10, command_comes},
    {7, job_is_scaled}, {3, gang_is_unknown},         {10, gang_is_admitted},
    {12, time_passes},  {6, controller_restarts},     {3, job_is_deleted},
};

static void something_happens(struct walk *walk)
{
    int total = 0, at;

    for (size_t i = 0; i < countof(happenings); i++)
        total += happenings[i].weight;
    at = dice_roll(&walk->dice, total);
    for (size_t i = 0; i < countof(happenings); i++) {
        at -= happenings[i].weight;
        if (at < 0) {
            happenings[i].happens(walk);
            return;
        }
    }
}

static void add_fault(struct walk *walk)
{
    static const enum error_code codes[] = {ERR_CONFLICT, ERR_INTERNAL, ERR_TIMEOUT, ERR_TOO_MANY};
    struct dice *dice = &walk->dice;

    const struct faulty_rule rule = {
        .ops = FAULTY_ANY,
        .skip = dice_roll(dice, 6),
        .times = 1,
        .way = (enum faulty_way)dice_roll(dice, 3),
        .code = codes[dice_roll(dice, countof(codes))],
        .delay_ms = 1 + dice_roll(dice, 200),
    };

    faulty_plan(walk->fixture->cluster, &rule);
    walk_tell(walk, "fault after %d writes: %s", rule.skip,
              rule.way == FAULTY_REFUSE ? "refused"
              : rule.way == FAULTY_LOSE ? "answer lost"
                                        : "late");
}

static void take_step(struct walk *walk)
{
    walk_begin_step(walk);
    if (!walk->strict) {
        faulty_clear(walk->fixture->cluster);
        for (int n = dice_roll(&walk->dice, 4); n > 0; n--)
            add_fault(walk);
    }
    if (!walk_job_of(walk))
        job_is_made(walk);
    else
        something_happens(walk);
    job_fixture_settle(walk->fixture);
    walk_end_step(walk);
}

/* Ends the faults and waits until nothing changes any more; then every invariant must hold. */
static void come_to_rest(struct walk *walk)
{
    faulty_clear(walk->fixture->cluster);
    for (int i = 0; i < 5; i++) {
        job_fixture_let_go(walk->fixture);
        job_fixture_advance(walk->fixture, 60000);
    }
    job_fixture_let_go(walk->fixture);
    walk_check_state(walk);
}

/* Checks that the controller, also after a restart, does not change a finished job (O-31). */
static void check_quiet(struct walk *walk)
{
    unsigned writes;

    if (!walk_job_of(walk) || !walk_at_rest(walk->phase))
        return;
    job_fixture_let_go(walk->fixture);
    if (job_fixture_count(walk->fixture, &kind_command) > 0)
        walk_violated(walk, "18: a Command is still there");
    writes = walk->fixture->job_writes;
    job_fixture_restart(walk->fixture);
    job_fixture_settle(walk->fixture);
    if (walk_job_of(walk) && walk->fixture->job_writes != writes)
        walk_violated(walk, "O-31: a job at rest is written again");
}

bool walk_job(uint64_t seed, const struct walk_options *options, char violation[WALK_TEXT])
{
    struct walk walk = {.dice = {seed * 7919 + 1},
                        .violation = violation,
                        .trace = options->trace,
                        .group_restarts = seed % KINDS == GROUP_RESTARTS_AT,
                        .lost_pods = seed % KINDS == LOST_PODS_AT};
    struct job_fixture_options how;

    violation[0] = '\0';
    walk.strict = dice_chance(&walk.dice, 70);
    walk.slow = dice_chance(&walk.dice, 40);
    walk.hold = dice_chance(&walk.dice, 20);
    how = (struct job_fixture_options){.slow_deletion = walk.slow, .hold_groups = walk.hold};
    walk.fixture = job_fixture_new(&how);
    walk_watch(&walk);
    for (; walk.step < STEPS && !violation[0]; walk.step++)
        take_step(&walk);
    if (!violation[0])
        come_to_rest(&walk);
    if (!violation[0])
        check_quiet(&walk);
    walk_sight_release(&walk.sight);
    walk_unwatch(&walk);
    job_fixture_free(walk.fixture);
    return !violation[0];
}
