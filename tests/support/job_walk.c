/*
 * One job named j at a time. What happened during a step is collected by watchers of our own; the
 * state in between is read from the store, as anybody could.
 */
#include "tests/unit.h"

#include "tests/support/job_walk.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/types/pod.h"
#include "job/names.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_rules.h"
#include "tests/support/job_stage.h"

enum { STEPS = 22, PODS_MAX = 64, MOVES_MAX = 32, SLACK_MS = 100 };

/* A change of phase, as a watcher sees it. */
struct move {
    enum job_phase from, to;
    char reason[48];
    int64_t at_ms;
};

/* What a step may bring about: nothing by policies, this answer, or nobody can tell. */
struct expectation {
    enum { EXPECT_SYNC, EXPECT_ACTION, EXPECT_ANY } what;
    enum job_action action;
    const char *reason;
    int task, index; /* what a targeted action is about */
};

/* Something that a delayed policy may answer later. */
struct cause {
    enum job_event event;
    enum job_action action;
    int task;
    int64_t due_ms;
    int64_t late_ms; /* when it must have been answered, if nothing intervenes; 0 = it may be */
};

/* The pods of the job at a moment. */
struct sight {
    const struct walk *walk;
    struct rule_pod pods[PODS_MAX];
    struct object *objects[PODS_MAX];
    int count;
};

struct walk {
    struct stage *stage;
    struct cluster_watcher jobs, pods, services;
    struct dice dice;
    struct gen_job spec;
    bool strict, slow, hold, trace;
    char *violation;
    int step;

    /* the job, as its history went so far */
    char uid[64];
    enum job_phase phase;
    int32_t version, retries, resumes;
    int64_t finished_ms;
    unsigned rests; /* times it came to rest */
    unsigned services_made;
    bool resumed;      /* the present epoch began with a resume */
    bool meddled;      /* pods of a job at its end were deleted: what it counted stays */
    bool restarted;    /* the controller, since this job was made */
    bool full_kill;    /* in this step */
    bool user_deletes; /* the job, now */

    /* this step */
    struct expectation expected;
    struct move moves[MOVES_MAX];
    int n_moves, n_kills;
    struct cause causes[4 * PODS_MAX];
    int n_causes;
    struct rule_counts before;
    enum job_phase phase_before;

    struct sight sight; /* the pods before the step, later after it */

    /* causes that outlive their pod: by slot, when */
    int64_t evicted_ms[GEN_TASKS][GEN_REPLICAS + 1], failed_ms[GEN_TASKS][GEN_REPLICAS + 1];
    int64_t appeared_ms[GEN_TASKS][GEN_REPLICAS + 1];
    int failed_code[GEN_TASKS][GEN_REPLICAS + 1];
};

static void violated(struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);

static void violated(struct walk *walk, const char *format, ...)
{
    int len;
    va_list args;

    if (walk->violation[0])
        return;
    len = snprintf(walk->violation, WALK_TEXT, "step %d: ", walk->step);
    va_start(args, format);
    vsnprintf(walk->violation + len, (size_t)(WALK_TEXT - len), format, args);
    va_end(args);
}

static void tell(const struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);

static void tell(const struct walk *walk, const char *format, ...)
{
    va_list args;

    if (!walk->trace)
        return;
    printf("%3d %8lld  ", walk->step, (long long)(loop_wall_ms(walk->stage->loop) - 1800000000000));
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static int64_t now_ms(const struct walk *walk)
{
    return loop_wall_ms(walk->stage->loop);
}

static bool active(enum job_phase phase)
{
    return phase == JOB_PENDING || phase == JOB_RUNNING || phase == JOB_RESTARTING;
}

static bool at_rest(enum job_phase phase)
{
    return phase == JOB_ABORTED || job_phase_finished(phase);
}

/* ---- the pods ---- */

static int annotation_int(const struct object *object, const char *key)
{
    const char *text = meta_annotation(object->meta, key);

    return text ? (int)strtol(text, NULL, 10) : -1;
}

static bool read_pod(const struct walk *walk, const struct object *pod, struct rule_pod *out)
{
    const struct owner_ref *owner = meta_controller(pod->meta);
    const char *task = meta_annotation(pod->meta, ANNOTATION_TASK_SPEC);
    const struct pod_status *status = pod_status_of(pod);

    if (!owner || strcmp(owner->uid, walk->uid) != 0 || !task)
        return false;
    *out = (struct rule_pod){
        .task = task[0] - 'a',
        .index = annotation_int(pod, ANNOTATION_TASK_INDEX),
        .phase = status->phase,
        .deleting = object_deleting(pod),
        .marked = meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC) != NULL,
        .ready = status->phase == POD_SUCCEEDED ||
                 (status->phase == POD_RUNNING && status->containers.count > 0 &&
                  status->containers.items[0].ready),
        .version = annotation_int(pod, ANNOTATION_JOB_VERSION),
        .restarts = status->containers.count > 0 ? status->containers.items[0].restart_count : 0,
    };
    return true;
}

static void see_pod(void *arg, const struct object *pod)
{
    struct sight *sight = arg;

    if (sight->count < PODS_MAX && read_pod(sight->walk, pod, &sight->pods[sight->count]))
        sight->objects[sight->count++] = object_ref(pod);
}

static void sight_release(struct sight *sight)
{
    while (sight->count > 0)
        object_unref(sight->objects[--sight->count]);
}

static void look(struct walk *walk, struct sight *sight, struct rule_counts *counts)
{
    sight_release(sight);
    sight->walk = walk;
    cluster_each(walk->stage->backend, &kind_pod, "default", see_pod, sight);
    rule_count(counts, sight->pods, sight->count);
}

static const struct object *job_of(const struct walk *walk)
{
    const struct object *job = stage_get(walk->stage, &kind_job, "j");

    return job && strcmp(object_uid(job), walk->uid) == 0 ? job : NULL;
}

/* ---- what watchers see ---- */

static bool enters_by_full_kill(const struct walk *walk, enum job_phase from, enum job_phase to)
{
    if (to == JOB_ABORTING || to == JOB_TERMINATING || to == JOB_COMPLETING)
        return true;
    if (from == JOB_RUNNING && (to == JOB_COMPLETED || to == JOB_FAILED))
        return true;
    return to == JOB_RESTARTING && (from == JOB_ABORTING || from == JOB_ABORTED);
}

/* The end of a job, by the numbers it was stored with (8.1, 8.3). */
static void ended(struct walk *walk, const struct job_status *now)
{
    int failures = now->retry_count - walk->resumes;
    struct rule_counts counts = {.succeeded = now->succeeded, .failed = now->failed};

    for (size_t i = 0; i < now->task_counts.count; i++)
        counts.succeeded_of[now->task_counts.items[i].key[0] - 'a'] =
            now->task_counts.items[i].by_phase[POD_SUCCEEDED];
    if (walk->phase == JOB_RESTARTING && failures < walk->spec.max_retry)
        violated(walk, "8.1: Failed after %d of %d failures", failures, walk->spec.max_retry);
    /* Pods beyond the replicas count again once the job has ended. */
    if (walk->phase == JOB_RUNNING &&
        now->succeeded + now->failed <= gen_job_replicas(&walk->spec) &&
        rule_verdict(&walk->spec, &counts, JOB_RUNNING, 0, 0) != now->phase)
        violated(walk, "8.3: %s with %d succeeded and %d failed", job_phase_text(now->phase),
                 now->succeeded, now->failed);
}

/* INV-J2, INV-J3, INV-J4: edges, versions and retries, whoever interferes. */
static void phase_moved(struct walk *walk, const struct job_status *now)
{
    bool restarting = now->phase == JOB_RESTARTING;
    int32_t versions = now->version - walk->version, retries = now->retry_count - walk->retries;
    bool full = enters_by_full_kill(walk, walk->phase, now->phase);

    tell(walk, "  %s → %s (%s) version %d, retries %d", job_phase_text(walk->phase),
         job_phase_text(now->phase), now->reason ? now->reason : "", now->version,
         now->retry_count);
    if (!rule_edge(walk->phase, now->phase))
        violated(walk, "J3: %s to %s is no edge", job_phase_text(walk->phase),
                 job_phase_text(now->phase));
    if (retries != restarting)
        violated(walk, "J2: %d retries on the way to %s", retries, job_phase_text(now->phase));
    if (full ? versions != 1 : versions != 0 && !(restarting && versions == 1))
        violated(walk, "J4: version %d to %d on the way from %s to %s", walk->version, now->version,
                 job_phase_text(walk->phase), job_phase_text(now->phase));
    if (now->phase == JOB_COMPLETED || now->phase == JOB_FAILED)
        ended(walk, now);
    if (restarting && (walk->phase == JOB_ABORTING || walk->phase == JOB_ABORTED))
        walk->resumes++;
    if (versions == 1) {
        walk->resumed = restarting && full;
        walk->full_kill = true;
        memset(walk->evicted_ms, 0, sizeof walk->evicted_ms);
        memset(walk->failed_ms, 0, sizeof walk->failed_ms);
    }
    walk->rests += at_rest(now->phase);
    walk->meddled &= !active(now->phase);
    if (job_phase_finished(now->phase))
        walk->finished_ms = walk->strict ? now_ms(walk) : now->transition_ms;
    if (walk->n_moves < MOVES_MAX) {
        struct move *move = &walk->moves[walk->n_moves++];

        *move = (struct move){.from = walk->phase, .to = now->phase, .at_ms = now_ms(walk)};
        snprintf(move->reason, sizeof move->reason, "%s", now->reason ? now->reason : "");
    }
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct walk *walk = container_of(watcher, struct walk, jobs);
    const struct job_status *now = job_status_of(job);

    if (change == CHANGE_DELETED) {
        if (strcmp(object_uid(job), walk->uid) == 0 && walk->spec.ttl_s >= 0 &&
            !walk->user_deletes && job_phase_finished(now->phase) &&
            now_ms(walk) < walk->finished_ms + walk->spec.ttl_s * 1000)
            violated(walk, "J9: deleted %lld ms after its end, ttl %d s",
                     (long long)(now_ms(walk) - walk->finished_ms), walk->spec.ttl_s);
        return;
    }
    if (change == CHANGE_ADDED) {
        snprintf(walk->uid, sizeof walk->uid, "%s", object_uid(job));
        walk->phase = JOB_NONE;
        walk->version = walk->retries = walk->resumes = 0;
        walk->rests = walk->services_made = 0;
        walk->resumed = walk->meddled = walk->restarted = false;
        memset(walk->evicted_ms, 0, sizeof walk->evicted_ms);
        memset(walk->failed_ms, 0, sizeof walk->failed_ms);
        return;
    }
    tell(walk, "  status: %d pending, %d running, %d succeeded, %d failed, %d terminating",
         now->pending, now->running, now->succeeded, now->failed, now->terminating);
    if (now->phase != walk->phase)
        phase_moved(walk, now);
    else if (now->retry_count != walk->retries)
        violated(walk, "J2: retries %d to %d while %s", walk->retries, now->retry_count,
                 job_phase_text(now->phase));
    else if (now->version != walk->version &&
             (walk->phase != JOB_RESTARTING || now->version != walk->version + 1))
        violated(walk, "J4: version %d to %d while %s", walk->version, now->version,
                 job_phase_text(now->phase));
    walk->phase = now->phase;
    walk->version = now->version;
    walk->retries = now->retry_count;
    if (walk->retries - walk->resumes > walk->spec.max_retry)
        violated(walk, "J2: %d retries, maxRetry %d", walk->retries - walk->resumes,
                 walk->spec.max_retry);
}

static bool gang_admitted(struct walk *walk)
{
    char name[96];
    const struct object *group;

    snprintf(name, sizeof name, "j-%s", walk->uid);
    group = stage_get(walk->stage, &kind_pod_group, name);
    return group && !object_deleting(group) && podgroup_status_of(group)->phase >= PODGROUP_INQUEUE;
}

/* INV-J1, INV-J5: a pod appears only where and when it may. */
static void pod_appeared(struct walk *walk, const struct object *pod)
{
    struct sight now = {0};
    struct rule_pod facts;
    struct rule_counts counts;

    if (!walk->strict || !read_pod(walk, pod, &facts))
        return;
    tell(walk, "  + %s version %d", object_name(pod), facts.version);
    walk->appeared_ms[facts.task][facts.index] = now_ms(walk);
    if (!active(walk->phase))
        violated(walk, "J3: pod %s made while %s", object_name(pod), job_phase_text(walk->phase));
    if (facts.index >= walk->spec.tasks[facts.task].replicas)
        violated(walk, "J1: pod %s beyond %d replicas", object_name(pod),
                 walk->spec.tasks[facts.task].replicas);
    if (facts.version != walk->version)
        violated(walk, "J4: pod %s of version %d made in version %d", object_name(pod),
                 facts.version, walk->version);
    if (!gang_admitted(walk))
        violated(walk, "J5: pod %s made before the gang is admitted", object_name(pod));
    look(walk, &now, &counts);
    sight_release(&now);
    if (!rule_unlocked(&walk->spec, &counts, facts.task) &&
        !rule_unlocked(&walk->spec, &walk->before, facts.task))
        violated(walk, "J5: pod %s made before what its task depends on", object_name(pod));
}

/* Pods that ended stay when the job ends: whoever marks one breaks 10.1. */
static void pod_marked(struct walk *walk, const struct object *pod)
{
    struct rule_pod facts;

    if (!walk->strict || !read_pod(walk, pod, &facts) || facts.deleting)
        return;
    if (!active(walk->phase) && (facts.phase == POD_SUCCEEDED || facts.phase == POD_FAILED))
        violated(walk, "10.1: finished pod %s marked while %s", object_name(pod),
                 job_phase_text(walk->phase));
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct walk *walk = container_of(watcher, struct walk, pods);

    if (change == CHANGE_ADDED)
        pod_appeared(walk, pod);
    if (change == CHANGE_MODIFIED && !meta_annotation(old->meta, ANNOTATION_OUT_OF_SYNC) &&
        meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC))
        pod_marked(walk, pod);
    if (change == CHANGE_DELETED)
        tell(walk, "  - %s", object_name(pod));
}

/* INV-J7: made once, and again only after a rest that took them away. */
static void service_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *service)
{
    struct walk *walk = container_of(watcher, struct walk, services);

    if (change == CHANGE_ADDED && strcmp(object_name(service), "j") == 0 && walk->strict &&
        ++walk->services_made > walk->rests + 1)
        violated(walk, "J7: the service was made again");
}

/* ---- what delayed policies may answer ---- */

/* `until_ms`: the latest time it may have come about, for records have whole seconds; 0 = it may be
 * void. */
static void add_cause(struct walk *walk, enum job_event event, int task, int code, int64_t since_ms,
                      int64_t until_ms)
{
    struct rule_answer answer;

    if (!rule_match(&walk->spec, event, task, code, &answer) || answer.timeout_s <= 0 ||
        walk->n_causes == (int)countof(walk->causes))
        return;
    walk->causes[walk->n_causes++] =
        (struct cause){event, answer.action, task, since_ms + answer.timeout_s * 1000,
                       until_ms > 0 ? until_ms + answer.timeout_s * 1000 + SLACK_MS : 0};
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

/* From the pods as they were seen last. */
static void gather_causes(struct walk *walk)
{
    walk->n_causes = 0;
    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        const struct object *object = walk->sight.objects[i];

        if (pod->deleting || pod->version < walk->version)
            continue;
        if (pod->phase == POD_PENDING)
            add_cause(walk, EVENT_POD_PENDING, pod->task, 0,
                      walk->restarted ? object->meta->created_at_ms
                                      : walk->appeared_ms[pod->task][pod->index],
                      object->meta->created_at_ms + 1000);
        if (pod->phase == POD_FAILED)
            add_cause(walk, EVENT_POD_FAILED, pod->task, exit_code_of(object), finished_of(object),
                      finished_of(object) + (walk->restarted ? 1000 : 1));
    }
    for (int t = 0; t < walk->spec.n_tasks; t++)
        for (int i = 0; i <= GEN_REPLICAS; i++) {
            if (walk->evicted_ms[t][i] > 0)
                add_cause(walk, EVENT_POD_EVICTED, t, 0, walk->evicted_ms[t][i], 0);
            if (walk->failed_ms[t][i] > 0)
                add_cause(walk, EVENT_POD_FAILED, t, walk->failed_code[t][i], walk->failed_ms[t][i],
                          0);
        }
}

/* ---- predictions ---- */

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

/* Pods a targeted action would find. */
static int targets_of(const struct walk *walk, enum job_action action, int task, int index)
{
    int found = 0;

    for (int i = 0; i < walk->sight.count; i++)
        found += !walk->sight.pods[i].deleting &&
                 is_target(walk, action, task, index, &walk->sight.pods[i]);
    return found;
}

/* `task` -1: nothing to aim at. `but_one`: a target that is gone already. */
static void expect_action(struct walk *walk, enum job_action action, const char *reason, int task,
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

static void expect_event(struct walk *walk, enum job_event event, int task, int index, int version,
                         int exit_code, bool gone)
{
    struct rule_answer answer;

    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    if (version < walk->version || !rule_match(&walk->spec, event, task, exit_code, &answer))
        return;
    if (at_rest(walk->phase)) { /* whether it is still looked at depends on what is left of it */
        walk->expected.what = EXPECT_ANY;
        return;
    }
    if (answer.timeout_s > 0) {
        if (event == EVENT_POD_EVICTED && index >= 0)
            walk->evicted_ms[task][index] = now_ms(walk);
        if (event == EVENT_POD_FAILED) {
            walk->failed_ms[task][index] = now_ms(walk);
            walk->failed_code[task][index] = exit_code;
        }
        return;
    }
    expect_action(walk, answer.action, job_event_text(event), task, index, gone);
}

/* ---- after a step ---- */

static bool is_kill(enum job_phase to)
{
    return to == JOB_RESTARTING || to == JOB_ABORTING || to == JOB_TERMINATING ||
           to == JOB_COMPLETING;
}

static const struct cause *delay_that_explains(const struct walk *walk, const struct move *move)
{
    for (int i = 0; i < walk->n_causes; i++) {
        const struct cause *cause = &walk->causes[i];

        if (cause->due_ms <= now_ms(walk) &&
            rule_effect(move->from, cause->action).to == move->to &&
            strcmp(move->reason, job_event_text(cause->event)) == 0)
            return cause;
    }
    return NULL;
}

/* A task was restarted: what else would restart it later is done (7.1, clean-up). */
static void task_was_restarted(struct walk *walk, int task)
{
    struct rule_answer answer;

    for (int i = 0; i <= GEN_REPLICAS; i++)
        if (rule_match(&walk->spec, EVENT_POD_FAILED, task, walk->failed_code[task][i], &answer) &&
            answer.action == ACT_RESTART_TASK)
            walk->failed_ms[task][i] = 0;
}

/* INV-J6, and the answers of policies. */
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
            violated(walk, "J6: nothing asks for %s → %s (%s)", job_phase_text(move->from),
                     job_phase_text(move->to), move->reason);
        }
    }
    if (awaited)
        violated(walk, "6: %s after %s did not happen", job_action_text(expected->action),
                 expected->reason);
}

/* A targeted restart takes its target and nothing else. */
static void check_target(struct walk *walk)
{
    const struct expectation *expected = &walk->expected;

    if (expected->what != EXPECT_ACTION || walk->n_kills != 1 || !active(walk->phase) ||
        !rule_effect(walk->moves[0].from, expected->action).targeted || walk->full_kill ||
        strcmp(walk->moves[0].reason, expected->reason) != 0)
        return;
    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        const char *name = object_name(walk->sight.objects[i]);
        const struct object *now = stage_get(walk->stage, &kind_pod, name);
        bool stays = now && !object_deleting(now) &&
                     strcmp(object_uid(now), object_uid(walk->sight.objects[i])) == 0;
        bool aimed = is_target(walk, expected->action, expected->task, expected->index, pod);

        if (!pod->deleting && stays == aimed && pod->index < walk->spec.tasks[pod->task].replicas)
            violated(walk, "6: %s of %s-%d %s %s", job_action_text(expected->action),
                     gen_task_name(expected->task), expected->index, aimed ? "leaves" : "takes",
                     name);
    }
}

static void check_delays(struct walk *walk)
{
    if (walk->phase != JOB_PENDING && walk->phase != JOB_RUNNING)
        return;
    gather_causes(walk);
    for (int i = 0; i < walk->n_causes; i++) {
        const struct cause *cause = &walk->causes[i];

        if (cause->late_ms > 0 && !walk->slow && cause->late_ms < now_ms(walk) &&
            rule_effect(walk->phase, cause->action).to != JOB_NONE &&
            cause->action != ACT_RESTART_PARTITION)
            violated(walk, "7: %s after %s is overdue by %lld ms", job_action_text(cause->action),
                     job_event_text(cause->event), (long long)(now_ms(walk) - cause->due_ms));
    }
}

/* INV-J10. */
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

    if (walk->meddled)
        return;
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].got != rows[i].want)
            violated(walk, "J10: %s is %d, not %d, while %s", rows[i].name, rows[i].got,
                     rows[i].want, job_phase_text(status->phase));
    for (size_t t = 0; t < status->task_counts.count; t++)
        for (int p = 0; p < POD_PHASE_N; p++)
            of_tasks += status->task_counts.items[t].by_phase[p];
    if (of_tasks !=
        counts->pending + counts->running + counts->succeeded + counts->failed + counts->unknown)
        violated(walk, "J10: the tasks' counts add up to %d", of_tasks);
    if (!last || last->phase != status->phase)
        violated(walk, "2.1: the newest condition is not of phase %s",
                 job_phase_text(status->phase));
}

static void check_pods(struct walk *walk, const struct rule_counts *counts)
{
    bool admitted = gang_admitted(walk);
    int32_t failures = walk->retries - walk->resumes;

    for (int i = 0; i < walk->sight.count; i++) {
        const struct rule_pod *pod = &walk->sight.pods[i];
        bool finished = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
        bool spared =
            finished && (!active(walk->phase) || (walk->resumed && pod->phase == POD_SUCCEEDED) ||
                         failures >= walk->spec.max_retry);

        if (pod->deleting)
            continue;
        if (!active(walk->phase) && !finished)
            violated(walk, "10: pod %s lives on while %s", object_name(walk->sight.objects[i]),
                     job_phase_text(walk->phase));
        if (active(walk->phase) && pod->index >= walk->spec.tasks[pod->task].replicas)
            violated(walk, "J1: pod %s is beyond %d replicas", object_name(walk->sight.objects[i]),
                     walk->spec.tasks[pod->task].replicas);
        if (pod->version < walk->version && !spared)
            violated(walk, "J4: pod %s of version %d lives on in version %d",
                     object_name(walk->sight.objects[i]), pod->version, walk->version);
        if (pod->marked && !finished)
            violated(walk, "10: pod %s is marked and not deleted",
                     object_name(walk->sight.objects[i]));
    }
    for (int t = 0; active(walk->phase) && admitted && t < walk->spec.n_tasks; t++)
        if (rule_unlocked(&walk->spec, counts, t) &&
            counts->known_of[t] < walk->spec.tasks[t].replicas)
            violated(walk, "9: task %s has %d pods of %d", gen_task_name(t), counts->known_of[t],
                     walk->spec.tasks[t].replicas);
}

/* Everything that must hold when nothing is on its way. */
static void check_state(struct walk *walk)
{
    const struct object *job = job_of(walk);
    const struct job_status *status;
    struct rule_counts counts;
    enum job_phase verdict;

    look(walk, &walk->sight, &counts);
    if (!job) { /* INV-J8 */
        if (walk->sight.count > 0 || stage_count(walk->stage, &kind_pod_group) > 0 ||
            stage_count(walk->stage, &kind_service) > 0)
            if (!walk->slow)
                violated(walk, "J8: the deleted job left something behind");
        return;
    }
    if (object_deleting(job))
        return;
    status = job_status_of(job);
    if (walk->spec.ttl_s >= 0 && job_phase_finished(status->phase) &&
        now_ms(walk) > walk->finished_ms + walk->spec.ttl_s * 1000 + 1000)
        violated(walk, "J9: still there %lld ms after its end, ttl %d s",
                 (long long)(now_ms(walk) - walk->finished_ms), walk->spec.ttl_s);
    check_status(walk, status, &counts);
    check_pods(walk, &counts);
    verdict = rule_verdict(&walk->spec, &counts, status->phase, walk->retries - walk->resumes,
                           status->min_available);
    if (verdict != status->phase)
        violated(walk, "8.3: %s should be %s", job_phase_text(status->phase),
                 job_phase_text(verdict));
    if (!active(status->phase) && stage_count(walk->stage, &kind_pod_group) > 0)
        violated(walk, "10: the PodGroup is still there while %s", job_phase_text(status->phase));
}

/* ---- a step ---- */

static void begin_step(struct walk *walk)
{
    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    walk->n_moves = walk->n_kills = 0;
    walk->full_kill = false;
    walk->phase_before = walk->phase;
    look(walk, &walk->sight, &walk->before);
    gather_causes(walk);
}

/* After a restart of pods of a task the ladder may be armed for any of its slots (O-28). */
static void note_restarts(struct walk *walk)
{
    for (int i = 0; i < walk->n_moves; i++)
        if (walk->moves[i].to == JOB_RESTARTING && !walk->full_kill)
            for (int t = 0; t < walk->spec.n_tasks; t++)
                for (int r = 0; r <= GEN_REPLICAS; r++)
                    if (walk->evicted_ms[t][r] == 0)
                        walk->evicted_ms[t][r] = walk->moves[i].at_ms;
}

static void end_step(struct walk *walk)
{
    if (!walk->strict)
        return;
    for (int known = 0; known != walk->n_moves;) { /* the counters follow a little later */
        known = walk->n_moves;
        stage_settle(walk->stage);
    }
    check_moves(walk);
    check_target(walk);
    check_state(walk);
    note_restarts(walk);
    if (job_of(walk))
        check_delays(walk);
}

/* ---- things that happen ---- */

/* A pod that satisfies `wanted`, or -1. */
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
        if (is_pending(&walk->sight.pods[i]) && dice_chance(&walk->dice, 80)) {
            walk->evicted_ms[walk->sight.pods[i].task][walk->sight.pods[i].index] = 0;
            walk->failed_ms[walk->sight.pods[i].task][walk->sight.pods[i].index] = 0;
            tell(walk, "runs: %s", object_name(walk->sight.objects[i]));
            stage_report(walk->stage, object_name(walk->sight.objects[i]), POD_RUNNING, 0, 0);
        }
}

static void pod_succeeds(struct walk *walk)
{
    int at = pick_pod(walk, is_alive);
    const struct rule_pod *pod = walk->sight.pods + at;

    if (at < 0)
        return;
    tell(walk, "succeeds: %s", object_name(walk->sight.objects[at]));
    if (walk->before.succeeded_of[pod->task] + 1 == walk->spec.tasks[pod->task].replicas)
        expect_event(walk, EVENT_TASK_COMPLETED, pod->task, pod->index, pod->version, 0, false);
    stage_report(walk->stage, object_name(walk->sight.objects[at]), POD_SUCCEEDED, 0,
                 pod->restarts);
}

static void pod_fails(struct walk *walk)
{
    int at = pick_pod(walk, is_alive), code = 1 + dice_roll(&walk->dice, 3);
    const struct rule_pod *pod = walk->sight.pods + at;

    if (at < 0)
        return;
    tell(walk, "fails: %s with %d", object_name(walk->sight.objects[at]), code);
    expect_event(walk, EVENT_POD_FAILED, pod->task, pod->index, pod->version, code, false);
    stage_report(walk->stage, object_name(walk->sight.objects[at]), POD_FAILED, code,
                 pod->restarts);
}

static void pod_restarts(struct walk *walk)
{
    int at = pick_pod(walk, is_running), more = 1 + dice_roll(&walk->dice, 2);
    const struct rule_pod *pod = &walk->sight.pods[at];
    int limit;

    if (at < 0)
        return;
    tell(walk, "restarts: %s, %d", object_name(walk->sight.objects[at]), pod->restarts + more);
    limit = walk->spec.tasks[pod->task].max_retry;
    if (limit >= 0 && walk->before.restarts_of[pod->task] + more >= limit)
        expect_event(walk, EVENT_TASK_FAILED, pod->task, pod->index, pod->version, 0, false);
    stage_report(walk->stage, object_name(walk->sight.objects[at]), POD_RUNNING, 0,
                 pod->restarts + more);
}

static void pod_is_unknown(struct walk *walk)
{
    int at = pick_pod(walk, is_running);

    if (at < 0)
        return;
    tell(walk, "unknown: %s", object_name(walk->sight.objects[at]));
    stage_report(walk->stage, object_name(walk->sight.objects[at]), POD_UNKNOWN, 0,
                 walk->sight.pods[at].restarts);
}

static void expect_eviction(struct walk *walk, const struct rule_pod *pod, bool counted)
{
    walk->expected = (struct expectation){.what = EXPECT_SYNC};
    if (!pod->marked)
        expect_event(walk, EVENT_POD_EVICTED, pod->task, pod->index, pod->version, 0, counted);
}

static void pod_is_deleted(struct walk *walk)
{
    int at = pick_pod(walk, is_there);

    if (at < 0)
        return;
    tell(walk, "deleted: %s", object_name(walk->sight.objects[at]));
    if (!walk->slow || has_ended(&walk->sight.pods[at])) /* no grace for what runs no more */
        expect_eviction(walk, &walk->sight.pods[at], true);
    walk->meddled |= !active(walk->phase);
    stage_delete(walk->stage, &kind_pod, object_name(walk->sight.objects[at]));
}

static void pod_goes(struct walk *walk)
{
    int at = pick_pod(walk, is_going);

    if (at < 0)
        return;
    tell(walk, "gone: %s", object_name(walk->sight.objects[at]));
    expect_eviction(walk, &walk->sight.pods[at], false);
    stage_let_one_go(walk->stage, object_name(walk->sight.objects[at]));
}

/* A pod that was told to end, and does: still one eviction, when it is gone (O-16). */
static void pod_ends_on_its_way_out(struct walk *walk)
{
    int at = pick_pod(walk, is_going);

    if (at < 0 || has_ended(&walk->sight.pods[at]))
        return;
    tell(walk, "ends, being deleted: %s", object_name(walk->sight.objects[at]));
    stage_report(walk->stage, object_name(walk->sight.objects[at]), POD_FAILED, 143,
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

    tell(walk, "command: %s at %s", job_action_text(action), aim);
    expect_action(walk, action, job_action_text(action), task, index, false);
    if (at < 0 && walk->expected.what == EXPECT_ACTION && action == ACT_RESTART_POD)
        walk->expected.what = EXPECT_SYNC;
    stage_apply(walk->stage, yaml);
}

static void job_is_scaled(struct walk *walk)
{
    struct gen_job was = walk->spec;
    scoped(buf) struct buf patch = {0};

    gen_job_rescale(&walk->spec, &walk->dice);
    if (memcmp(&was, &walk->spec, sizeof was) == 0)
        return;
    gen_job_scale_patch(&walk->spec, &patch);
    tell(walk, "scaled: %s", patch.data);
    expect_event(walk, EVENT_JOB_UPDATED, -1, -1, walk->version, 0, false);
    stage_patch(walk->stage, &kind_job, "j", patch.data);
}

static void gang_is_unknown(struct walk *walk)
{
    if (!gang_admitted(walk))
        return;
    tell(walk, "the gang is unknown");
    expect_event(walk, EVENT_UNKNOWN, -1, -1, walk->version, 0, false);
    stage_group_phase(walk->stage, PODGROUP_UNKNOWN);
    stage_group_phase(walk->stage, PODGROUP_RUNNING);
}

static void gang_is_admitted(struct walk *walk)
{
    if (!walk->hold || stage_count(walk->stage, &kind_pod_group) == 0)
        return;
    tell(walk, "the gang is admitted");
    stage_group_phase(walk->stage, PODGROUP_INQUEUE);
}

/* In pieces shorter than any timeout, so that one answer is not the cause of the next unseen. */
static void time_passes(struct walk *walk)
{
    int pieces = 1 + dice_roll(&walk->dice, 9);

    tell(walk, "%d times 900 ms pass", pieces);
    for (int i = 0; i < pieces && !walk->violation[0]; i++) {
        stage_advance(walk->stage, 900);
        if (i + 1 < pieces) {
            end_step(walk);
            begin_step(walk);
        }
    }
}

static bool all_succeeded(const struct walk *walk)
{
    for (int t = 0; t < walk->spec.n_tasks; t++)
        if (walk->before.succeeded_of[t] > 0 &&
            walk->before.succeeded_of[t] >= walk->spec.tasks[t].replicas)
            return true;
    return false;
}

/* Also with something that happens while nobody looks. */
static void controller_restarts(struct walk *walk)
{
    tell(walk, "the controller restarts");
    walk->restarted = true;
    gather_causes(walk); /* deadlines follow from the records now */
    stage_stop_controller(walk->stage);
    if (dice_chance(&walk->dice, 50))
        pod_fails(walk);
    stage_start_controller(walk->stage);
    /* A task that was completed by scaling is seen to be complete now. */
    if (all_succeeded(walk))
        walk->expected.what = EXPECT_ANY;
}

static void job_is_made(struct walk *walk)
{
    scoped(buf) struct buf manifest = {0};

    gen_job_roll(&walk->spec, &walk->dice);
    gen_job_manifest(&walk->spec, &manifest);
    tell(walk, "made: %s", manifest.data);
    stage_apply(walk->stage, manifest.data);
}

static void job_is_deleted(struct walk *walk)
{
    if (!dice_chance(&walk->dice, 30))
        return;
    tell(walk, "the job is deleted");
    walk->user_deletes = true;
    stage_delete(walk->stage, &kind_job, "j");
    if (walk->slow)
        stage_let_go(walk->stage);
    walk->user_deletes = false;
}

/* ---- a walk ---- */

static const struct {
    int weight;
    void (*happens)(struct walk *walk);
    bool restarts; /* the gang is Unknown for a moment only */
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

    faulty_plan(walk->stage->cluster, &rule);
    tell(walk, "fault after %d writes: %s", rule.skip,
         rule.way == FAULTY_REFUSE ? "refused"
         : rule.way == FAULTY_LOSE ? "answer lost"
                                   : "late");
}

static void take_step(struct walk *walk)
{
    begin_step(walk);
    if (!walk->strict) {
        faulty_clear(walk->stage->cluster);
        for (int n = dice_roll(&walk->dice, 4); n > 0; n--)
            add_fault(walk);
    }
    if (!job_of(walk))
        job_is_made(walk);
    else
        something_happens(walk);
    stage_settle(walk->stage);
    end_step(walk);
}

/* The faults are over: everything comes to an end of its own, and then all must hold. */
static void come_to_rest(struct walk *walk)
{
    faulty_clear(walk->stage->cluster);
    for (int i = 0; i < 5; i++) {
        stage_let_go(walk->stage);
        stage_advance(walk->stage, 60000);
    }
    stage_let_go(walk->stage);
    check_state(walk);
}

/* A job at rest is left alone, by a new process, too (O-31). */
static void check_quiet(struct walk *walk)
{
    unsigned writes;

    if (!job_of(walk) || !at_rest(walk->phase))
        return;
    stage_let_go(walk->stage);
    if (stage_count(walk->stage, &kind_command) > 0)
        violated(walk, "18: a Command is still there");
    writes = walk->stage->job_writes;
    stage_restart(walk->stage);
    stage_settle(walk->stage);
    if (job_of(walk) && walk->stage->job_writes != writes)
        violated(walk, "O-31: a job at rest is written again");
}

bool walk_job(uint64_t seed, const struct walk_options *options, char violation[WALK_TEXT])
{
    struct walk walk = {.dice = {seed * 7919 + 1}, .violation = violation, .trace = options->trace};
    struct stage_options how;

    violation[0] = '\0';
    walk.strict = dice_chance(&walk.dice, 70);
    walk.slow = dice_chance(&walk.dice, 40);
    walk.hold = dice_chance(&walk.dice, 20);
    how = (struct stage_options){.slow_deletion = walk.slow, .hold_groups = walk.hold};
    walk.stage = stage_new(&how);
    walk.jobs = (struct cluster_watcher){job_changed, &kind_job};
    walk.pods = (struct cluster_watcher){pod_changed, &kind_pod};
    walk.services = (struct cluster_watcher){service_changed, &kind_service};
    cluster_watch(walk.stage->backend, &walk.jobs);
    cluster_watch(walk.stage->backend, &walk.pods);
    cluster_watch(walk.stage->backend, &walk.services);
    for (; walk.step < STEPS && !violation[0]; walk.step++)
        take_step(&walk);
    if (!violation[0])
        come_to_rest(&walk);
    if (!violation[0])
        check_quiet(&walk);
    sight_release(&walk.sight);
    cluster_unwatch(walk.stage->backend, &walk.services);
    cluster_unwatch(walk.stage->backend, &walk.pods);
    cluster_unwatch(walk.stage->backend, &walk.jobs);
    stage_free(walk.stage);
    return !violation[0];
}
