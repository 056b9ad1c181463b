/*
 * Records the history of the job as watchers see it, and checks what must hold of every change.
 */
#include "tests/unit.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/types/kinds/pod/pod.h"
#include "job/model/names.h"
#include "tests/support/job_walk_internal.h"

void walk_violated(struct walk *walk, const char *format, ...)
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

void walk_tell(const struct walk *walk, const char *format, ...)
{
    va_list args;

    if (!walk->trace)
        return;
    printf("%3d %8lld  ", walk->step,
           (long long)(loop_wall_ms(walk->fixture->loop) - 1800000000000));
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

int64_t walk_now_ms(const struct walk *walk)
{
    return loop_wall_ms(walk->fixture->loop);
}

bool walk_active(enum job_phase phase)
{
    return phase == JOB_PENDING || phase == JOB_RUNNING || phase == JOB_RESTARTING;
}

bool walk_at_rest(enum job_phase phase)
{
    return phase == JOB_ABORTED || job_phase_finished(phase);
}

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

void walk_sight_release(struct sight *sight)
{
    while (sight->count > 0)
        object_unref(sight->objects[--sight->count]);
}

void walk_look(struct walk *walk, struct sight *sight, struct rule_counts *counts)
{
    walk_sight_release(sight);
    sight->walk = walk;
    cluster_each(walk->fixture->backend, &kind_pod, "default", see_pod, sight);
    rule_count(counts, sight->pods, sight->count);
    walk_count_kept(sight, counts);
}

const struct object *walk_job_of(const struct walk *walk)
{
    const struct object *job = job_fixture_get(walk->fixture, &kind_job, "j");

    return job && strcmp(object_uid(job), walk->uid) == 0 ? job : NULL;
}

static bool enters_by_full_kill(const struct walk *walk, enum job_phase from, enum job_phase to)
{
    if (to == JOB_ABORTING || to == JOB_TERMINATING || to == JOB_COMPLETING)
        return true;
    if (from == JOB_RUNNING && (to == JOB_COMPLETED || to == JOB_FAILED))
        return true;
    return to == JOB_RESTARTING && (from == JOB_ABORTING || from == JOB_ABORTED);
}

/* Checks the end of a job against the counters stored with it (8.1, 8.3). */
static void ended(struct walk *walk, const struct job_status *now)
{
    int failures = walk_worst(walk);
    struct rule_counts counts = {.succeeded = now->succeeded, .failed = now->failed};

    for (size_t i = 0; i < now->task_counts.count; i++)
        counts.succeeded_of[now->task_counts.items[i].key[0] - 'a'] =
            now->task_counts.items[i].by_phase[POD_SUCCEEDED];
    if (walk->phase == JOB_RESTARTING && failures < walk->spec.max_retry)
        walk_violated(walk, "8.1: Failed after %d of %d failures", failures, walk->spec.max_retry);
    /* Pods beyond the replicas count again once the job has ended. */
    if (walk->phase == JOB_RUNNING &&
        now->succeeded + now->failed <= gen_job_replicas(&walk->spec) &&
        rule_verdict(&walk->spec, &counts, JOB_RUNNING, 0, 0) != now->phase)
        walk_violated(walk, "8.3: %s with %d succeeded and %d failed", job_phase_text(now->phase),
                      now->succeeded, now->failed);
}

/* Checks a change of phase, of the version and of the retries: allowed with any other writers
 * (INV-J2, INV-J3, INV-J4). */
static void check_time(struct walk *walk, const struct job_status *now)
{
    /* Checks that a pod appears only where and when it may (INV-J1, INV-J5). */
    enum { SEEN_MS = 1000 };
    int64_t late_ms = walk_now_ms(walk) - now->transition_ms;

    if (walk->strict && (late_ms < 0 || (late_ms > SEEN_MS && !walk->restarted)))
        walk_violated(walk, "O-63: %s began %lld ms before it was seen", job_phase_text(now->phase),
                      (long long)late_ms);
}

/* INV-J2, INV-J3, INV-J4: allowed changes of phase, versions and retries, with any other writers.
 */
static void phase_moved(struct walk *walk, const struct job_status *now)
{
    bool restarting = now->phase == JOB_RESTARTING;
    int32_t versions = now->version - walk->version, retries = now->retry_count - walk->retries;
    bool full = enters_by_full_kill(walk, walk->phase, now->phase);

    walk_tell(walk, "  %s → %s (%s) version %d, retries %d", job_phase_text(walk->phase),
              job_phase_text(now->phase), now->reason ? now->reason : "", now->version,
              now->retry_count);
    if (!rule_edge(walk->phase, now->phase))
        walk_violated(walk, "J3: %s to %s is no edge", job_phase_text(walk->phase),
                      job_phase_text(now->phase));
    if (retries != restarting)
        walk_violated(walk, "J2: %d retries on the way to %s", retries, job_phase_text(now->phase));
    if (full ? versions != 1 : versions != 0 && !(restarting && versions == 1))
        walk_violated(walk, "J4: version %d to %d on the way from %s to %s", walk->version,
                      now->version, job_phase_text(walk->phase), job_phase_text(now->phase));
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
    walk->rests += walk_at_rest(now->phase);
    walk->pods_deleted_at_end &= !walk_active(now->phase);
    check_time(walk, now);
    if (job_phase_finished(now->phase))
        walk->finished_ms = now->transition_ms;
    if (walk->n_moves < MOVES_MAX) {
        struct move *move = &walk->moves[walk->n_moves++];

        *move = (struct move){.from = walk->phase, .to = now->phase, .at_ms = walk_now_ms(walk)};
        snprintf(move->reason, sizeof move->reason, "%s", now->reason ? now->reason : "");
    }
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct walk *walk = container_of(watcher, struct walk, jobs);
    const struct job_status *now = job_status_of(job);
    bool new_epoch, restarted;

    if (change == CHANGE_DELETED) {
        if (strcmp(object_uid(job), walk->uid) == 0 && walk->spec.ttl_s >= 0 &&
            !walk->user_deletes && job_phase_finished(now->phase) &&
            walk_now_ms(walk) < walk->finished_ms + walk->spec.ttl_s * INT64_C(1000))
            walk_violated(walk, "J9: deleted %lld ms after its end, ttl %d s",
                          (long long)(walk_now_ms(walk) - walk->finished_ms), walk->spec.ttl_s);
        return;
    }
    if (change == CHANGE_ADDED) {
        snprintf(walk->uid, sizeof walk->uid, "%s", object_uid(job));
        walk->phase = JOB_NONE;
        walk->version = walk->retries = walk->resumes = 0;
        walk->rests = walk->services_made = 0;
        walk_notes_clear(walk);
        walk->resumed = walk->pods_deleted_at_end = false;
        memset(walk->evicted_ms, 0, sizeof walk->evicted_ms);
        memset(walk->failed_ms, 0, sizeof walk->failed_ms);
        return;
    }
    walk_tell(walk, "  status: %d pending, %d running, %d succeeded, %d failed, %d terminating",
              now->pending, now->running, now->succeeded, now->failed, now->terminating);
    if (now->phase != walk->phase)
        phase_moved(walk, now);
    else if (now->retry_count != walk->retries)
        walk_violated(walk, "J2: retries %d to %d while %s", walk->retries, now->retry_count,
                      job_phase_text(now->phase));
    else if (now->version != walk->version &&
             (walk->phase != JOB_RESTARTING || now->version != walk->version + 1))
        walk_violated(walk, "J4: version %d to %d while %s", walk->version, now->version,
                      job_phase_text(now->phase));
    new_epoch = now->version != walk->version;
    restarted = new_epoch || (now->phase == JOB_RESTARTING && walk->phase != JOB_RESTARTING);
    walk->version = now->version;
    walk->retries = now->retry_count;
    if (restarted)
        walk_notes_restarted(walk, now, new_epoch);
    walk->phase = now->phase;
    if (walk_worst(walk) > walk->spec.max_retry)
        walk_violated(walk, "J2: %d retries, maxRetry %d", walk_worst(walk), walk->spec.max_retry);
}

bool walk_gang_admitted(struct walk *walk)
{
    char name[96];
    const struct object *group;

    snprintf(name, sizeof name, "j-%s", walk->uid);
    group = job_fixture_get(walk->fixture, &kind_pod_group, name);
    return group && !object_deleting(group) && podgroup_status_of(group)->phase >= PODGROUP_INQUEUE;
}

/* Checks that the Service is created once, and again only after a phase that removes it
 * (INV-J7). */
static void pod_appeared(struct walk *walk, const struct object *pod)
{
    struct sight now = {0};
    struct rule_pod facts;
    struct rule_counts counts;

    if (!walk->strict || !read_pod(walk, pod, &facts))
        return;
    walk_tell(walk, "  + %s version %d", object_name(pod), facts.version);
    walk->appeared_ms[facts.task][facts.index] = walk_now_ms(walk);
    if (!walk_active(walk->phase))
        walk_violated(walk, "J3: pod %s made while %s", object_name(pod),
                      job_phase_text(walk->phase));
    if (walk->kept[facts.task][facts.index])
        walk_violated(walk, "O-61: %s had succeeded and runs again", object_name(pod));
    if (facts.index >= walk->spec.tasks[facts.task].replicas)
        walk_violated(walk, "J1: pod %s beyond %d replicas", object_name(pod),
                      walk->spec.tasks[facts.task].replicas);
    if (facts.version != walk->version)
        walk_violated(walk, "J4: pod %s of version %d made in version %d", object_name(pod),
                      facts.version, walk->version);
    if (!walk_gang_admitted(walk))
        walk_violated(walk, "J5: pod %s made before the gang is admitted", object_name(pod));
    walk_look(walk, &now, &counts);
    walk_sight_release(&now);
    if (!rule_unlocked(&walk->spec, &counts, facts.task) &&
        !rule_unlocked(&walk->spec, &walk->before, facts.task))
        walk_violated(walk, "J5: pod %s made before what its task depends on", object_name(pod));
}

/* Checks deletions of pods: ended pods stay when the job ends (10.1). */
static void pod_marked(struct walk *walk, const struct object *pod)
{
    struct rule_pod facts;

    if (!walk->strict || !read_pod(walk, pod, &facts) || facts.deleting)
        return;
    if (!walk_active(walk->phase) && (facts.phase == POD_SUCCEEDED || facts.phase == POD_FAILED))
        walk_violated(walk, "10.1: finished pod %s marked while %s", object_name(pod),
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
        walk_tell(walk, "  - %s", object_name(pod));
}

/* INV-J7: the Service is created once, and again only after a phase that removes it. */
static void service_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *service)
{
    struct walk *walk = container_of(watcher, struct walk, services);

    if (change == CHANGE_ADDED && strcmp(object_name(service), "j") == 0 && walk->strict &&
        ++walk->services_made > walk->rests + 1)
        walk_violated(walk, "J7: the service was made again");
}

void walk_watch(struct walk *walk)
{
    walk->jobs = (struct cluster_watcher){job_changed, &kind_job};
    walk->pods = (struct cluster_watcher){pod_changed, &kind_pod};
    walk->services = (struct cluster_watcher){service_changed, &kind_service};
    cluster_watch(walk->fixture->backend, &walk->jobs);
    cluster_watch(walk->fixture->backend, &walk->pods);
    cluster_watch(walk->fixture->backend, &walk->services);
}

void walk_unwatch(struct walk *walk)
{
    cluster_unwatch(walk->fixture->backend, &walk->services);
    cluster_unwatch(walk->fixture->backend, &walk->pods);
    cluster_unwatch(walk->fixture->backend, &walk->jobs);
}
