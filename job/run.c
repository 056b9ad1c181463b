/*
 * Records of jobs: each is filled from the cache, follows the changes of its job, pods and
 * PodGroup, and is freed when nothing is left to do. The work item at the end of the file takes up
 * requests and syncs.
 */
#include "job/run.h"

#include <string.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/model/slot_annotations.h"
#include "job/pod_loss.h"

/* Requests of one job taken up before the other jobs have their turn. */
enum { REQUESTS_PER_TURN = 64 };

int64_t job_run_now_ms(const struct job_run *run)
{
    return loop_wall_ms(run->ctl->loop);
}

struct job_run *job_run_find(struct job_controller *ctl, const char *uid)
{
    struct job_run *run;

    HASH_FIND_STR(ctl->runs, uid, run);
    return run;
}

bool job_run_owns(const struct job_run *run, const struct object *object)
{
    const struct owner_ref *owner = meta_controller(object->meta);

    return owner && strcmp(owner->uid, run->uid) == 0;
}

void job_run_sync(struct job_run *run)
{
    run->sync_wanted = true;
    if (run->activity != JOB_WORKING && !run->gone)
        work_add(&run->work);
}

void job_run_wake(struct job_run *run)
{
    timer_stop(run->ctl->loop, &run->work.timer);
    job_run_sync(run);
}

/* Returns whether an event of a pod can have an action. If not, a sync is enough. */
static bool has_actions(const struct job_run *run)
{
    return run->model.compiled->has_policies || run->ctl->gang->whole;
}

/* Posts a request about an event of `pod`; `known` is its previous version. */
static void post_pod_event(struct job_run *run, enum job_event event, struct slot_id at,
                           const struct object *known, const struct object *pod,
                           const struct pod_facts *facts)
{
    struct job_request *request = job_request_of_pod(run, event, at, pod, facts);
    int64_t now_ms = job_run_now_ms(run), since_ms = job_event_since_ms(event, known, pod);

    request->cause_ms = since_ms > 0 && since_ms < now_ms ? since_ms : now_ms;
    request->replayed = run->activity == JOB_LOADING;
    job_request_post(run, request);
}

/* Did anything change that a plugin reads from a pod: its address or its metadata? */
static bool differs_for_plugins(const struct object *before, const struct object *after)
{
    const char *ip = before ? pod_status_of(before)->pod_ip : NULL;
    const char *now = after ? pod_status_of(after)->pod_ip : NULL;

    return !before || !after || before->meta != after->meta ||
           strcmp(ip ? ip : "", now ? now : "") != 0;
}

void job_run_pod(struct job_run *run, struct slot_id at, const struct object *pod,
                 const struct pod_facts *facts)
{
    struct job_slot *slot = job_model_slot(&run->model, at);
    struct object *before = slot ? object_ref(slot->pod) : NULL;
    struct pod_facts known = before ? slot->facts : (struct pod_facts){0};
    enum job_event event;

    /* Another pod has the name: the known one is gone, and its deletion was not reported. */
    if (pod && before && strcmp(object_uid(pod), object_uid(before)) != 0) {
        event = job_model_set_pod(&run->model, at, NULL, NULL);
        if (event != EVENT_OUT_OF_SYNC && has_actions(run))
            post_pod_event(run, event, at, before, before, &known);
        object_unref(before);
        before = NULL;
    }
    if (run->model.compiled->uses_pod_addresses && differs_for_plugins(before, pod)) {
        run->prepared = false;
        job_run_sync(run);
    }
    event = job_model_set_pod(&run->model, at, pod, facts);
    job_trouble_note(run, at, pod);
    if (event != EVENT_NONE)
        job_pod_loss(run, at, before, pod);
    if (event != EVENT_NONE && run->model.tasks[at.task].companion)
        job_companion_changed(run, at, before ? &known : NULL, pod ? facts : NULL,
                              pod ? meta_created_ms(pod->meta) : 0);
    if (event != EVENT_NONE) {
        run->counts_changed = true;
        if (!before || !pod || known.phase != facts->phase)
            job_pod_times_note(&run->times, pod, job_run_now_ms(run));
        if (event != EVENT_OUT_OF_SYNC && has_actions(run))
            post_pod_event(run, event, at, before, pod ? pod : before, pod ? facts : &known);
        job_run_sync(run);
    }
    object_unref(before);
}

static void post_job_event(struct job_run *run, enum job_event event, int64_t since_ms)
{
    struct job_request *request = mem_alloc(sizeof *request);
    int64_t now_ms = job_run_now_ms(run);

    *request = (struct job_request){
        .event = event,
        .partition = -1,
        .version = run->model.state.version,
        .cause_ms = since_ms > 0 && since_ms < now_ms ? since_ms : now_ms,
    };
    job_request_post(run, request);
}

/* Another client wrote the status. The stored status is the truth: take it over. */
static void adopt_state(struct job_run *run)
{
    job_state_load(&run->model.state, job_status_of(run->model.job));
    job_slot_annotations_configure(&run->model);
    job_slot_annotations_reload_restarts(&run->model);
    job_model_new_epoch(&run->model);
    run->prepared = false;
    run->counts_changed = true;
    run->delays = DELAYS_URGENT;
    job_run_sync(run);
}

void job_run_job(struct job_run *run, const struct object *job)
{
    const struct object *known = run->model.job;
    /* While a write is in flight its answer tells whether the new status is this controller's. */
    bool foreign = run->write == WRITE_NONE && job->status != known->status;

    if (job->revision <= known->revision)
        return;
    if (run->paused) {
        run->paused = false;
        job_run_sync(run);
    }
    if (job_queue_priority(job->meta) != job_queue_priority(known->meta)) {
        job_podgroup_recheck(&run->podgroup);
        job_run_sync(run);
    }
    if (job->body == known->body) {
        bool other_lifetime = job_lifetime_differs(run, job);

        job_model_set_job(&run->model, job);
        if (other_lifetime)
            job_run_sync(run);
        if (foreign)
            adopt_state(run);
        if (object_deleting(job))
            job_delayed_cancel_all(run);
        return;
    }
    job_model_set_spec(&run->model, job, job_compiled_spec_get(run->ctl->cache, job));
    if (foreign)
        adopt_state(run);
    run->prepared = false;
    job_podgroup_recheck(&run->podgroup);
    run->counts_changed = true;
    if (run->model.compiled->has_policies)
        post_job_event(run, EVENT_JOB_UPDATED, 0);
    job_run_wake(run);
}

/* Returns when the gang became unschedulable, from its conditions. Stored times have whole seconds;
 * the end of that second is returned, so that no delayed action comes early. */
static int64_t group_since_ms(const struct job_run *run)
{
    const struct podgroup_status *status = podgroup_status_of(run->model.group);
    int64_t since = 0;

    for (size_t i = 0; i < status->conditions.count; i++)
        if (status->conditions.items[i].at_ms > since)
            since = status->conditions.items[i].at_ms;
    return since > 0 ? since + 999 - since % 1000 : 0;
}

/* The status of another gang than Volcano's says nothing to a job. */
static enum podgroup_phase phase_of_group(const struct job_run *run, const struct object *group)
{
    return group && run->ctl->gang->admits ? podgroup_status_of(group)->phase : PODGROUP_NONE;
}

void job_run_group(struct job_run *run, const struct object *group)
{
    struct object *known = run->model.group;
    enum podgroup_phase before = phase_of_group(run, known), after = phase_of_group(run, group);

    if (group && known && strcmp(object_uid(group), object_uid(known)) == 0 &&
        group->revision <= known->revision)
        return;
    if (!group || !known || group->body != known->body)
        job_podgroup_recheck(&run->podgroup);
    if (run->podgroup == GROUP_REMOVED &&
        (!group || !known || strcmp(object_uid(group), object_uid(known)) != 0))
        job_podgroup_set(&run->podgroup, GROUP_UNCHECKED);
    run->model.group = object_ref(group);
    object_unref(known);
    if (after == PODGROUP_UNKNOWN && before != after && run->model.compiled->has_policies)
        post_job_event(run, EVENT_UNKNOWN, run->activity == JOB_LOADING ? group_since_ms(run) : 0);
    job_run_sync(run);
}

/* Takes over a pod that exists when the record of its job is made. */
static void load_pod(void *arg, const struct object *pod)
{
    struct job_run *run = arg;
    struct pod_facts facts;
    struct slot_id at;

    if (job_pod_facts(pod, &facts) && job_model_locate(&run->model, pod, &at))
        job_run_pod(run, at, pod, &facts);
}

static void load_podgroup(struct job_run *run)
{
    const struct job_gang_form *gang = run->ctl->gang;
    const struct object *job = run->model.job;
    scoped_str name = gang->kind ? gang->name(job) : NULL;
    const char *names[] = {name, object_name(job)}; /* the second is what old versions used */

    for (size_t i = 0; gang->kind && i < (gang->admits ? countof(names) : 1); i++) {
        const struct object *group =
            cluster_get(run->ctl->cluster, gang->kind, object_namespace(job), names[i]);

        if (group && job_run_owns(run, group)) {
            job_run_group(run, group);
            return;
        }
    }
}

static int32_t stored_in_phase(const struct job_status *stored, const char *task,
                               enum pod_phase phase)
{
    for (size_t i = 0; i < stored->task_counts.count; i++)
        if (strcmp(stored->task_counts.items[i].key, task) == 0)
            return stored->task_counts.items[i].by_phase[phase];
    return 0;
}

static int32_t stored_pods_of(const struct job_status *stored, const char *task)
{
    int32_t sum = 0;

    for (int p = 0; p < POD_PHASE_N; p++)
        sum += stored_in_phase(stored, task, (enum pod_phase)p);
    return sum;
}

/* Pods that the stored counters have and the cache has not were lost while no controller ran: raise
 * PodEvicted for each (O-15). */
static void report_lost_pods(struct job_run *run)
{
    struct job_model *model = &run->model;
    const struct job_status *stored = job_status_of(model->job);

    if (!has_actions(run) ||
        (model->state.phase != JOB_PENDING && model->state.phase != JOB_RUNNING))
        return;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        const struct job_task_model *task = &model->tasks[t];
        int32_t lost = stored_pods_of(stored, model->compiled->spec->tasks.items[t].name) -
                       (task->replicas - task->vacant);

        for (int32_t i = 0; lost > 0 && i < task->replicas; i++)
            if (task->slots[i].class == SLOT_EMPTY) {
                post_pod_event(run, EVENT_POD_EVICTED, (struct slot_id){t, i}, NULL, NULL, NULL);
                lost--;
            }
    }
}

/* A cluster collects finished pods. Volcano's controller does not record which pods have succeeded:
 * as many vacant slots of a task as its counters have successes without a pod count as succeeded, the
 * lowest first. */
static void keep_collected_pods(struct job_run *run)
{
    struct job_model *model = &run->model;
    const struct job_status *stored = job_status_of(model->job);

    if (!run->ctl->options.keep_succeeded || !model->keeps_succeeded ||
        (model->state.phase != JOB_PENDING && model->state.phase != JOB_RUNNING))
        return;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        const struct job_task_model *task = &model->tasks[t];
        int32_t lost =
            stored_in_phase(stored, model->compiled->spec->tasks.items[t].name, POD_SUCCEEDED) -
            task->by_class[SLOT_SUCCEEDED];

        if (job_slot_annotations_name_successes(model, t))
            continue;
        for (int32_t i = 0; lost > 0 && i < task->replicas; i++)
            if (task->slots[i].class == SLOT_EMPTY) {
                job_model_keep_success(model, (struct slot_id){t, i});
                lost--;
            }
    }
}

static void work_on_job(struct work *work);

struct job_run *job_run_get(struct job_controller *ctl, const struct object *job)
{
    const struct job_model_options options = {.local_pods = ctl->options.local_pods,
                                              .own_network = ctl->options.own_network,
                                              .keeps_succeeded = ctl->options.keep_succeeded,
                                              .gang = ctl->gang};
    struct job_run *run = job_run_find(ctl, object_uid(job));
    size_t uid_len = strlen(object_uid(job));

    if (run)
        return run;
    run = mem_alloc(sizeof *run + uid_len + 1);
    run->ctl = ctl;
    ctl->records++;
    memcpy(run->uid, object_uid(job), uid_len + 1);
    work_init(&run->work, ctl->loop, work_on_job);
    job_model_init(&run->model, job, job_compiled_spec_get(ctl->cache, job), &options);
    HASH_ADD_KEYPTR(hh, ctl->runs, run->uid, uid_len, run);
    if (run->model.state.phase != JOB_NONE) { /* a job without a phase has made nothing yet */
        run->activity = JOB_LOADING;
        cluster_each_owned(ctl->cluster, &kind_pod, run->uid, load_pod, run);
        load_podgroup(run);
        keep_collected_pods(run);
        report_lost_pods(run);
        job_delayed_annotations_load(run);
        run->activity = JOB_IDLE;
        run->counts_changed = true; /* the last process may have ended before it wrote them */
    }
    job_run_sync(run);
    return run;
}

static void run_free(struct job_run *run)
{
    struct job_controller *ctl = run->ctl;
    struct job_request *request;

    while ((request = job_request_take(run)))
        job_request_abandon(run, request);
    job_request_abandon(run, run->deciding);
    job_request_abandon(run, run->target.request);
    job_delayed_cancel_all(run);
    timer_stop(run->ctl->loop, &run->lifetime);
    job_trouble_stop(run);
    job_wait_end(run);
    job_companions_release(run);
    job_status_unmark_stale(run);
    mem_free(run->decided.message);
    work_stop(&run->work);
    if (!run->gone)
        HASH_DEL(run->ctl->runs, run);
    job_model_release(&run->model);
    mem_free(run);
    if (--ctl->records == 0 && ctl->stopping)
        job_controller_release(ctl);
}

static bool is_writing(const struct job_run *run)
{
    return run->ops > 0 || run->write != WRITE_NONE || job_podgroup_writing(run->podgroup);
}

void job_run_drop(struct job_run *run)
{
    if (run->gone)
        return;
    job_delayed_cancel_all(run);
    job_wait_end(run);
    job_status_unmark_stale(run);
    timer_stop(run->ctl->loop, &run->lifetime);
    job_trouble_stop(run);
    work_stop(&run->work);
    HASH_DEL(run->ctl->runs, run);
    run->gone = true;
    job_run_free_if_done(run);
}

/* The job has finished, everything of it is removed and its status is stored: the record can be
 * made again whenever it is needed. */
static bool is_done(const struct job_run *run)
{
    struct job_counts counts = job_model_counts(&run->model);

    return job_phase_at_rest(counts.phase) && job_counts_alive(&counts) == 0 && !run->model.group &&
           !run->first && !run->sync_wanted && !run->held && !run->stale.le_prev &&
           !job_run_holding(run) && !job_plugin_objects_recorded(run);
}

void job_run_free_if_done(struct job_run *run)
{
    if (run->activity == JOB_WORKING || is_writing(run))
        return;
    if (run->gone || is_done(run))
        run_free(run);
}

/* Every job starts as Pending, before anything else is decided. */
static void enter_pending(struct job_run *run)
{
    run->model.state.min_available = run->model.compiled->spec->min_available;
    job_change_phase(run, JOB_PENDING, "", NULL, NULL);
}

static void work_on_job(struct work *work)
{
    struct job_run *run = container_of(work, struct job_run, work);
    int left = REQUESTS_PER_TURN;

    run->paused = run->paused && job_run_holding(run);
    if (run->held && !job_run_holding(run)) {
        run->held = false;
        run->sync_wanted = true;
    }
    run->activity = JOB_WORKING;
    while (!run->paused && run->write == WRITE_NONE && !run->target.request) {
        if (run->model.state.phase == JOB_NONE && !object_deleting(run->model.job)) {
            enter_pending(run);
        } else if (run->first && left > 0) {
            left--;
            job_execute(run, job_request_take(run));
        } else if (run->first) {
            work_add(&run->work);
            break;
        } else if (run->sync_wanted) {
            run->sync_wanted = false;
            if (job_sync(run)) {
                run->sync_wanted = true;
                work_add(&run->work);
                break;
            }
        } else {
            break;
        }
    }
    run->activity = JOB_IDLE;
    job_run_free_if_done(run);
}
