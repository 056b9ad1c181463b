/*
 * The controller: watches flows, templates and jobs, keeps the list of runnable flows, and frees a
 * deleted flow when the last of its cluster calls has been answered.
 */
#include "flow/controller.h"

#include <string.h>

#include "api/types/kinds/jobflow/record.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/reuse_service.h"

void flow_make_runnable(struct flow *flow)
{
    struct flow_controller *controller = flow->controller;

    if (flow->runnable || flow->opening == FLOW_GONE)
        return;
    flow->runnable = true;
    STAILQ_INSERT_TAIL(&controller->runnable, flow, next_runnable);
    loop_post(controller->loop, &controller->run);
}

static void free_when_idle(struct flow *flow)
{
    if (flow->opening == FLOW_GONE && !flow->calls && !flow->runnable)
        flow_free(flow);
}

static void run(struct task *task)
{
    struct flow_controller *controller = container_of(task, struct flow_controller, run);
    struct flow *flow;

    if (!controller->draining)
        flow_commands_run(controller);
    flow = STAILQ_FIRST(&controller->runnable);
    STAILQ_INIT(&controller->runnable); /* flows that become runnable meanwhile run in the next
                                         * turn */
    while (flow) {
        struct flow *next = STAILQ_NEXT(flow, next_runnable);

        flow->runnable = false;
        if (flow->opening == FLOW_GONE)
            free_when_idle(flow);
        else if (!controller->draining)
            flow_sync(flow);
        flow = next;
    }
}

static void free_controller(struct flow_controller *controller)
{
    if (!controller->stopped || controller->calls)
        return;
    reuse_service_free(controller->reuse);
    flow_metrics_release(&controller->metrics);
    template_cache_free(controller->bodies);
    probes_free(controller->probes);
    mem_free(controller);
}

void flow_call_begun(struct flow *flow)
{
    flow->calls++;
    flow->controller->calls++;
}

bool flow_call_ended(struct flow *flow)
{
    struct flow_controller *controller = flow->controller;
    bool alive = flow->opening != FLOW_GONE;

    flow->calls--;
    controller->calls--;
    free_when_idle(flow);
    free_controller(controller);
    return alive;
}

static void forget(struct flow *flow)
{
    bool open = flow->opening == FLOW_OPEN;

    HASH_DEL(flow->controller->by_uid, flow);
    flow_opening_set(&flow->opening, FLOW_GONE);
    if (open)
        flow_release_model(flow);
    flow_stop_status_writes(flow);
    flow_stop_job_commands(flow);
    flow_commands_drop(&flow->answered);
    timer_stop(flow->controller->loop, &flow->retention.retry);
    free_when_idle(flow);
}

struct flow *flow_by_uid(struct flow_controller *controller, const char *uid)
{
    struct flow *flow;

    HASH_FIND_STR(controller->by_uid, uid, flow);
    return flow;
}

/* A finished flow whose jobs have all ended needs no model unless it is retried or deleted. */
static bool is_settled(const struct object *object)
{
    const struct jobflow_summary *summary = jobflow_summary_of(object);

    return summary && flow_phase_finished(summary->phase) && !summary->jobs_unfinished &&
           !object_deleting(object) && !jobflow_wants_retry(object);
}

static void on_flow(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object)
{
    struct flow_controller *controller = container_of(watcher, struct flow_controller, flows);
    struct flow *flow = flow_by_uid(controller, object_uid(object));

    if (change == CHANGE_DELETED) {
        if (flow)
            flow_commands_remove(flow, true);
        if (flow)
            forget(flow);
        return;
    }
    if (flow) {
        flow_object_changed(flow, object);
        return;
    }
    if (jobflow_is_record(object))
        return;
    flow = flow_new(controller, object);
    HASH_ADD_KEYPTR(hh, controller->by_uid, flow->uid, strlen(flow->uid), flow);
    flow->state.phase = jobflow_phase_of(object);
    flow->writer.written_phase = flow->state.phase;
    if (!is_settled(object))
        flow_open(flow);
    flow_make_runnable(flow);
}

static void on_template(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object)
{
    struct flow_controller *controller = container_of(watcher, struct flow_controller, templates);

    if (change == CHANGE_ADDED || (change == CHANGE_MODIFIED && old->body != object->body))
        flow_wake_waiters(controller, WAIT_FOR_TEMPLATE, object_namespace(object),
                          object_name(object));
    if (change == CHANGE_ADDED)
        template_pins_template_added(controller, object);
}

static void job_removed(struct flow *flow, uint32_t step, const struct object *job)
{
    struct flow_model *m = &flow->model;
    struct job_results *results = NULL;

    if (m->steps[step].held) { /* its result is not recorded, but it has completed */
        flow_model_release_hold(m, step);
        flow_job_changed(flow, step, job);
    }
    if (!m->compact && !job_phase_finished(job_status_of(job)->phase))
        /* The results are gathered now, while the pods of the job still exist. */
        results = job_results_gather(flow->controller->cluster, job);
    if (!flow_model_job_removed(m, step, job, results, flow_may_create(flow), flow_now_ms(flow)))
        return;
    if (m->steps[step].backoff)
        flow_backoff_update(flow, step);
    if (m->steps[step].state == STEP_STARTED && !flow_phase_finished(flow->state.phase) &&
        m->steps[step].result_change > flow->writer.written_changes)
        flow_write_status_now(flow); /* the result is now only in the model */
    flow_make_runnable(flow);
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *job)
{
    struct flow_controller *controller = container_of(watcher, struct flow_controller, jobs);
    const struct owner_ref *owner = meta_controller(job->meta);
    struct flow *flow = owner ? flow_by_uid(controller, owner->uid) : NULL;
    uint32_t step;

    if (change == CHANGE_DELETED) {
        reuse_service_job_gone(controller, object_namespace(job), job->meta);
        flow_wake_waiters(controller, WAIT_FOR_JOB, object_namespace(job), object_name(job));
    }
    if (!flow) {
        reuse_service_job_ended(controller, job);
        return;
    }
    if (flow->opening == FLOW_CLOSED && change != CHANGE_DELETED &&
        !job_phase_finished(job_status_of(job)->phase))
        flow_open(flow);
    if (flow->opening != FLOW_OPEN)
        return;
    step = flow_model_step_of_job(&flow->model, job);
    if (step == STEP_NONE)
        return; /* the step of the job is no longer in the spec */
    if (change == CHANGE_DELETED)
        job_removed(flow, step, job);
    else
        flow_job_changed(flow, step, job);
    reuse_service_job_ended(controller, job);
}

static void on_command(struct cluster_watcher *watcher, enum cluster_change change,
                       const struct object *old, const struct object *command)
{
    if (change == CHANGE_ADDED)
        flow_command_arrived(container_of(watcher, struct flow_controller, commands), command);
}

struct flow_controller *flow_controller_start(struct cluster *cluster,
                                              const struct flow_options *options)
{
    struct flow_controller *controller = mem_alloc(sizeof *controller);
    const struct probe_limits limits = {.refused = options ? options->refused_addresses : NULL,
                                        .sockets = options ? options->sockets : NULL,
                                        .host_address = options ? options->host_address : NULL};

    STAILQ_INIT(&controller->runnable);
    STAILQ_INIT(&controller->arrived);
    controller->cluster = cluster;
    controller->loop = cluster->loop;
    if (options)
        controller->options = *options;
    controller->run.run = run;
    controller->bodies = template_cache_new();
    flow_metrics_init(&controller->metrics, controller);
    controller->probes = probes_new(cluster, &limits);
    reuse_service_start(controller);
    controller->templates = (struct cluster_watcher){on_template, &kind_job_template};
    controller->flows = (struct cluster_watcher){on_flow, &kind_job_flow};
    controller->jobs = (struct cluster_watcher){on_job, &kind_job};
    controller->commands = (struct cluster_watcher){on_command, &kind_command};
    cluster_watch(cluster, &controller->templates);
    cluster_watch(cluster, &controller->flows);
    cluster_watch(cluster, &controller->jobs);
    cluster_watch(cluster, &controller->commands);
    return controller;
}

void flow_controller_drain(struct flow_controller *controller)
{
    struct flow *flow, *next;

    controller->draining = true;
    HASH_ITER(hh, controller->by_uid, flow, next)
    {
        if (flow->opening == FLOW_OPEN && flow->writer.rendered_changes != flow->model.changes)
            flow_write_status_now(flow);
    }
}

void flow_controller_stop(struct flow_controller *controller)
{
    struct flow *flow, *next;

    if (!controller)
        return;
    cluster_unwatch(controller->cluster, &controller->commands);
    cluster_unwatch(controller->cluster, &controller->jobs);
    cluster_unwatch(controller->cluster, &controller->flows);
    cluster_unwatch(controller->cluster, &controller->templates);
    reuse_service_stop(controller);
    loop_cancel(controller->loop, &controller->run);
    flow_commands_drop(&controller->arrived);
    STAILQ_FOREACH(flow, &controller->runnable, next_runnable)
    {
        flow->runnable = false;
    }
    STAILQ_INIT(&controller->runnable);
    HASH_ITER(hh, controller->by_uid, flow, next) forget(flow);
    controller->stopped = true;
    free_controller(controller);
}
