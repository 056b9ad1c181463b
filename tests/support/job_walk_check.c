/*
 * Predicts the result of each step, compares it with the actual one, and checks what must hold
 * between steps.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_walk_internal.h"

/* Adds a possible cause. `until_ms`: the latest time of its answer; 0 = an answer is optional. */
static void add_cause(struct walk *walk, enum job_event event, int task, int code, int64_t since_ms,
                      int64_t until_ms)
{
    struct rule_answer answer;

    if (!rule_match(&walk->spec, event, task, code, &answer) || answer.timeout_s <= 0 ||
        walk->n_causes == (int)countof(walk->causes))
        return;
    walk->causes[walk->n_causes++] =
        (struct cause){event, answer.action, task, since_ms + answer.timeout_s * INT64_C(1000),
                       until_ms > 0 ? until_ms + answer.timeout_s * INT64_C(1000) + SLACK_MS : 0};
}

static int64_t finished_of(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    return status->containers.count > 0 ? status->containers.items[0].finished_ms : 0;
}

static int exit_code_of(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    return status->containers.count > 0 ? status->containers.items[0].exit_code : 0;
}

/* Returns whether the slot should have a pod and has none that runs or has succeeded. */
static bool slot_waits(const struct walk *walk, int task, int index)
{
    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];

        if (pod->task == task && pod->index == index &&
            (pod->phase == POD_RUNNING || pod->phase == POD_SUCCEEDED))
            return false;
    }
    return index < walk->spec.tasks[task].replicas && !walk->kept[task][index];
}

/* Collects the causes from the last snapshot of the pods. */
void walk_gather_causes(struct walk *walk)
{
    walk->n_causes = 0;
    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        const struct object *object = walk->sight.objects[i];

        if (pod->deleting || pod->version < walk->version)
            continue;
        if (pod->phase == POD_PENDING)
            add_cause(walk, EVENT_POD_PENDING, pod->task, 0,
                      walk->appeared_ms[pod->task][pod->index],
                      walk->appeared_ms[pod->task][pod->index]);
        if (pod->phase == POD_FAILED)
            add_cause(walk, EVENT_POD_FAILED, pod->task, exit_code_of(object), finished_of(object),
                      finished_of(object));
    }
    for (int t = 0; t < walk->spec.n_tasks; t++)
        for (int i = 0; i <= GEN_REPLICAS; i++) {
            if (walk->evicted_ms[t][i] > 0)
                add_cause(walk, EVENT_POD_EVICTED, t, 0, walk->evicted_ms[t][i],
                          walk->evicted_surely[t][i] && slot_waits(walk, t, i)
                              ? walk->evicted_ms[t][i]
                              : 0);
            if (walk->failed_ms[t][i] > 0)
                add_cause(walk, EVENT_POD_FAILED, t, walk->failed_code[t][i], walk->failed_ms[t][i],
                          0);
        }
}

static bool is_target(const struct walk *walk, enum job_action action, int task, int index,
                      const struct rule_pod *pod)
{
    int size = walk->spec.tasks[task].partition;

    if (pod->task != task)
        return false;
    if (action == ACT_RESTART_PARTITION)
        return size > 0 && pod->index / size == index / size;
    return action != ACT_RESTART_POD || pod->index == index;
}

/* Returns how many pods a targeted action would affect. */
static int targets_of(const struct walk *walk, enum job_action action, int task, int index)
{
    int found = 0;

    for (int i = 0; i < walk->sight.count; i++)
        found += !walk->sight.pods[i].deleting &&
                 is_target(walk, action, task, index, &walk->sight.pods[i]);
    return found;
}

/* Predicts the result of an action. `task` -1: the action has no target. `but_one`: one pod of the
 * snapshot no longer exists. */
void walk_expect_action(struct walk *walk, enum job_action action, const char *reason, int task,
                        int index, bool but_one)
{
    struct rule_effect effect = rule_effect(walk->phase, action);

    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    if (effect.to == JOB_NONE)
        return;
    if (effect.targeted && (task < 0 || targets_of(walk, action, task, index) - but_one <= 0))
        return;
    walk->expected = (struct expectation){EXPECT_ACTION, action, reason, task, index};
}

/* Returns whether one policy answers both events: then the pending successor pod replaces the
 * deadline that the eviction set (O-22). */
static bool waiting_moves_it(const struct walk *walk, int task, const struct rule_answer *answer)
{
    struct rule_answer waiting;

    return rule_match(&walk->spec, EVENT_POD_PENDING, task, 0, &waiting) &&
           waiting.action == answer->action && waiting.timeout_s == answer->timeout_s;
}

void walk_expect_event(struct walk *walk, enum job_event event, int task, int index, int version,
                       int exit_code, bool gone)
{
    struct rule_answer answer;

    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    if (version < walk->version || !rule_match(&walk->spec, event, task, exit_code, &answer))
        return;
    /* Returns whether the pod is still considered depends on the state of the job. */
    if (walk_at_rest(walk->phase)) {
        walk->expected.what = EXPECT_ANY;
        return;
    }
    if (answer.timeout_s > 0) {
        if (event == EVENT_POD_EVICTED && index >= 0) {
            walk->evicted_ms[task][index] = walk_now_ms(walk);
            walk->evicted_surely[task][index] = !waiting_moves_it(walk, task, &answer);
        }
        if (event == EVENT_POD_FAILED) {
            walk->failed_ms[task][index] = walk_now_ms(walk);
            walk->failed_code[task][index] = exit_code;
        }
        return;
    }
    walk_expect_action(walk, answer.action, job_event_text(event), task, index, gone);
}

static bool is_kill(enum job_phase to)
{
    return to == JOB_RESTARTING || to == JOB_ABORTING || to == JOB_TERMINATING ||
           to == JOB_COMPLETING;
}

static const struct cause *delay_that_explains(const struct walk *walk, const struct move *move)
{
    for (int i = 0; i < walk->n_causes; i++) {
        const struct cause *cause = &walk->causes[i];

        if (cause->due_ms <= walk_now_ms(walk) &&
            rule_effect(move->from, cause->action).to == move->to &&
            strcmp(move->reason, job_event_text(cause->event)) == 0)
            return cause;
    }
    return NULL;
}

/* A restart of a task cancels its other delayed actions (7.1, clean-up). Evictions are counted anew
 * from the restart on (note_restarts). */
static void task_was_restarted(struct walk *walk, int task)
{
    struct rule_answer answer;
    int kept = 0;

    for (int i = 0; i <= GEN_REPLICAS; i++) {
        if (rule_match(&walk->spec, EVENT_POD_FAILED, task, walk->failed_code[task][i], &answer) &&
            answer.action == ACT_RESTART_TASK)
            walk->failed_ms[task][i] = 0;
        if (rule_match(&walk->spec, EVENT_POD_EVICTED, task, 0, &answer) &&
            answer.action == ACT_RESTART_TASK)
            walk->evicted_ms[task][i] = 0;
    }
    for (int i = 0; i < walk->n_causes; i++)
        if (walk->causes[i].task != task || walk->causes[i].action != ACT_RESTART_TASK)
            walk->causes[kept++] = walk->causes[i];
    walk->n_causes = kept;
}

/* Checks INV-J6 and which policies applied. */
static void check_moves(struct walk *walk)
{
    const struct expectation *expected = &walk->expected;
    bool awaited = expected->what == EXPECT_ACTION;

    for (int i = 0; i < walk->n_moves; i++) {
        const struct move *move = &walk->moves[i];
        const struct cause *cause = is_kill(move->to) ? delay_that_explains(walk, move) : NULL;

        if (!is_kill(move->to))
            continue;
        walk->n_kills++;
        if (awaited && rule_effect(move->from, expected->action).to == move->to &&
            strcmp(move->reason, expected->reason) == 0) {
            awaited = false;
            if (expected->action == ACT_RESTART_TASK)
                task_was_restarted(walk, expected->task);
        } else if (cause && cause->action == ACT_RESTART_TASK) {
            task_was_restarted(walk, cause->task);
        } else if (expected->what != EXPECT_ANY && !cause) {
            walk_violated(walk, "J6: nothing asks for %s → %s (%s)", job_phase_text(move->from),
                          job_phase_text(move->to), move->reason);
        }
    }
    if (awaited)
        walk_violated(walk, "6: %s after %s did not happen", job_action_text(expected->action),
                      expected->reason);
}

/* Checks that a restart of all pods also runs those again that had succeeded. */
static void check_kept(struct walk *walk)
{
    const struct expectation *expected = &walk->expected;

    for (int t = 0; t < walk->spec.n_tasks; t++)
        for (int i = 0; i < walk->spec.tasks[t].replicas; i++) {
            const struct rule_pod slot = {.task = t, .index = i};

            if (walk->kept[t][i] &&
                is_target(walk, expected->action, expected->task, expected->index, &slot))
                walk_violated(walk, "O-61: %s leaves the success of %s-%d",
                              job_action_text(expected->action), gen_task_name(t), i);
        }
}

/* Checks that a targeted restart affects its target only. */
static void check_target(struct walk *walk)
{
    const struct expectation *expected = &walk->expected;

    if (expected->what != EXPECT_ACTION || walk->n_kills != 1 || !walk_active(walk->phase) ||
        !rule_effect(walk->moves[0].from, expected->action).targeted || walk->full_kill ||
        strcmp(walk->moves[0].reason, expected->reason) != 0)
        return;
    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        const char *name = object_name(walk->sight.objects[i]);
        const struct object *now = job_fixture_get(walk->fixture, &kind_pod, name);
        bool stays = now && !object_deleting(now) &&
                     strcmp(object_uid(now), object_uid(walk->sight.objects[i])) == 0;
        bool aimed = is_target(walk, expected->action, expected->task, expected->index, pod);

        if (!pod->deleting && stays == aimed && pod->index < walk->spec.tasks[pod->task].replicas)
            walk_violated(walk, "6: %s of %s-%d %s %s", job_action_text(expected->action),
                          gen_task_name(expected->task), expected->index,
                          aimed ? "leaves" : "takes", name);
    }
    check_kept(walk);
}

static void check_delays(struct walk *walk)
{
    if (walk->phase != JOB_PENDING && walk->phase != JOB_RUNNING)
        return;
    walk_gather_causes(walk);
    for (int i = 0; i < walk->n_causes; i++) {
        const struct cause *cause = &walk->causes[i];

        if (cause->late_ms > 0 && !walk->slow && cause->late_ms < walk_now_ms(walk) &&
            rule_effect(walk->phase, cause->action).to != JOB_NONE &&
            cause->action != ACT_RESTART_PARTITION)
            walk_violated(walk, "7: %s after %s is overdue by %lld ms",
                          job_action_text(cause->action), job_event_text(cause->event),
                          (long long)(walk_now_ms(walk) - cause->due_ms));
    }
}

/* Checks the counters of the status (INV-J10). */
static void check_status(struct walk *walk, const struct job_status *status,
                         const struct rule_counts *counts)
{
    const struct {
        const char *name;
        int got, want;
    } rows[] = {
        {"pending", status->pending, counts->pending},
        {"running", status->running, counts->running},
        {"succeeded", status->succeeded, counts->succeeded},
        {"failed", status->failed, counts->failed},
        {"unknown", status->unknown, counts->unknown},
        {"terminating", status->terminating, counts->terminating},
    };
    const struct job_condition *last = status->conditions.count > 0
                                           ? &status->conditions.items[status->conditions.count - 1]
                                           : NULL;
    int of_tasks = 0;

    if (walk->pods_deleted_at_end)
        return;
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].got != rows[i].want)
            walk_violated(walk, "J10: %s is %d, not %d, while %s", rows[i].name, rows[i].got,
                          rows[i].want, job_phase_text(status->phase));
    for (size_t t = 0; t < status->task_counts.count; t++)
        for (int p = 0; p < POD_PHASE_N; p++)
            of_tasks += status->task_counts.items[t].by_phase[p];
    if (of_tasks !=
        counts->pending + counts->running + counts->succeeded + counts->failed + counts->unknown)
        walk_violated(walk, "J10: the tasks' counts add up to %d", of_tasks);
    if (!last || last->phase != status->phase)
        walk_violated(walk, "2.1: the newest condition is not of phase %s",
                      job_phase_text(status->phase));
}

static void check_pods(struct walk *walk, const struct rule_counts *counts)
{
    bool admitted = walk_gang_admitted(walk);
    int32_t failures = walk_failures(walk);

    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        bool finished = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
        bool spared = finished && (!walk_active(walk->phase) ||
                                   (walk->resumed && pod->phase == POD_SUCCEEDED) ||
                                   failures >= walk->spec.max_retry);

        if (pod->deleting)
            continue;
        if (!walk_active(walk->phase) && !finished)
            walk_violated(walk, "10: pod %s lives on while %s", object_name(walk->sight.objects[i]),
                          job_phase_text(walk->phase));
        if (walk_active(walk->phase) && pod->index >= walk->spec.tasks[pod->task].replicas)
            walk_violated(walk, "J1: pod %s is beyond %d replicas",
                          object_name(walk->sight.objects[i]),
                          walk->spec.tasks[pod->task].replicas);
        if (pod->version < walk->version && !spared)
            walk_violated(walk, "J4: pod %s of version %d lives on in version %d",
                          object_name(walk->sight.objects[i]), pod->version, walk->version);
        if (pod->marked && !finished)
            walk_violated(walk, "10: pod %s is marked and not deleted",
                          object_name(walk->sight.objects[i]));
    }
    for (int t = 0; walk_active(walk->phase) && admitted && t < walk->spec.n_tasks; t++)
        if (rule_unlocked(&walk->spec, counts, t) &&
            counts->known_of[t] < walk->spec.tasks[t].replicas)
            walk_violated(walk, "9: task %s has %d pods of %d", gen_task_name(t),
                          counts->known_of[t], walk->spec.tasks[t].replicas);
}

/* Checks everything that must hold when nothing is in flight. */
void walk_check_state(struct walk *walk)
{
    const struct object *job = walk_job_of(walk);
    const struct job_status *status;
    struct rule_counts counts;
    enum job_phase verdict;

    walk_look(walk, &walk->sight, &counts);
    if (!job) { /* a deleted job leaves no objects (INV-J8) */
        if (walk->sight.count > 0 || job_fixture_count(walk->fixture, &kind_pod_group) > 0 ||
            job_fixture_count(walk->fixture, &kind_service) > 0)
            if (!walk->slow)
                walk_violated(walk, "J8: the deleted job left something behind");
        return;
    }
    if (object_deleting(job))
        return;
    status = job_status_of(job);
    if (walk->spec.ttl_s >= 0 && job_phase_finished(status->phase) &&
        walk_now_ms(walk) > walk->finished_ms + walk->spec.ttl_s * INT64_C(1000) + 1000)
        walk_violated(walk, "J9: still there %lld ms after its end, ttl %d s",
                      (long long)(walk_now_ms(walk) - walk->finished_ms), walk->spec.ttl_s);
    check_status(walk, status, &counts);
    check_pods(walk, &counts);
    verdict =
        rule_verdict(&walk->spec, &counts, status->phase, walk_worst(walk), status->min_available);
    if (verdict != status->phase)
        walk_violated(walk, "8.3: %s should be %s", job_phase_text(status->phase),
                      job_phase_text(verdict));
    if (!walk_active(status->phase) && job_fixture_count(walk->fixture, &kind_pod_group) > 0)
        walk_violated(walk, "10: the PodGroup is still there while %s",
                      job_phase_text(status->phase));
}

void walk_begin_step(struct walk *walk)
{
    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    walk->n_moves = walk->n_kills = 0;
    walk->full_kill = false;
    walk_look(walk, &walk->sight, &walk->before);
    walk_gather_causes(walk);
}

/* Handles a restart of pods of a task: the delay of the ladder may be armed for any of its slots
 * (O-28), and evictions may have been answered. */
static void note_restarts(struct walk *walk)
{
    if (walk->n_kills > 0)
        memset(walk->evicted_surely, 0, sizeof walk->evicted_surely);
    for (int i = 0; i < walk->n_moves; i++)
        if (walk->moves[i].to == JOB_RESTARTING && !walk->full_kill)
            for (int t = 0; t < walk->spec.n_tasks; t++)
                for (int r = 0; r <= GEN_REPLICAS; r++)
                    if (walk->evicted_ms[t][r] == 0)
                        walk->evicted_ms[t][r] = walk->moves[i].at_ms;
}

void walk_end_step(struct walk *walk)
{
    if (!walk->strict)
        return;
    for (int known = 0; known != walk->n_moves;) { /* the controller stores the counters a little
                                                    * later */
        known = walk->n_moves;
        job_fixture_settle(walk->fixture);
    }
    check_moves(walk);
    check_target(walk);
    walk_check_state(walk);
    note_restarts(walk);
    if (walk_job_of(walk))
        check_delays(walk);
}
