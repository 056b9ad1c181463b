/*
 * Opening, updating and closing the in-memory state of a flow.
 *
 * A flow is opened from its object, its stored status and its jobs. Events of its object and its
 * jobs then update the model. flow_sync runs once a turn after such events: it decides the phase,
 * creates jobs and writes the status. A flow that is finished and stored, with no job left to end,
 * is closed: only its object stays in memory.
 */
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/critical_path.h"
#include "flow/model/iteration_budget.h"
#include "flow/model/step_probe.h"
#include "flow/results_wait.h"
#include "flow/reuse_steps.h"
#include "flow/status/restore_logs.h"

enum { RETRY_MAX_MS = 30000 };

struct flow *flow_new(struct flow_controller *controller, const struct object *object)
{
    size_t len = strlen(object_uid(object));
    struct flow *flow = mem_alloc(sizeof *flow + len + 1);

    memcpy(flow->uid, object_uid(object), len + 1);
    flow->controller = controller;
    STAILQ_INIT(&flow->answered);
    flow->object = object_ref(object);
    flow->writer.written = blob_ref(object->status);
    flow->writer.written_revision = object->revision;
    return flow;
}

static void unblock_all(struct flow *flow)
{
    for (uint32_t i = 0; flow->model.graph && i < flow->model.graph->steps; i++) {
        flow_unblock_step(flow, i);
        flow_backoff_stop(flow, i);
        flow_approval_stop(flow, i);
        flow_server_stop(flow, i);
    }
}

void flow_free(struct flow *flow)
{
    unblock_all(flow);
    flow_results_stop(flow);
    flow_stop_status_writes(flow);
    flow_stop_job_commands(flow);
    flow_stop_time_limits(flow);
    template_pins_stop(flow);
    timer_stop(flow->controller->loop, &flow->retention.retry);
    flow_model_release(&flow->model);
    flow_state_release(&flow->state);
    removed_entries_release(&flow->removed);
    loop_times_release(&flow->loops);
    mem_free(flow->critical_path);
    mem_free(flow->warned);
    object_unref(flow->object);
    mem_free(flow);
}

enum failure_policy flow_failure_policy(const struct flow *flow)
{
    if (flow->controller->options.upstream_compat)
        return FAILURE_STOP;
    return jobflow_aborted(flow->object) ? FAILURE_ABORT : jobflow_failure_policy(flow->object);
}

static bool flow_suspended(const struct flow *flow)
{
    return !flow->model.upstream && jobflow_spec_of(flow->object)->suspend;
}

bool flow_may_create(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && !object_deleting(flow->object) &&
           !flow_phase_finished(flow->state.phase) &&
           (flow_ending(flow) || (!jobflow_aborted(flow->object) && !flow->deadline_passed &&
                                  (!flow_model_has_failed(&flow->model) ||
                                   flow_failure_policy(flow) == FAILURE_CONTINUE)));
}

bool flow_creates_now(const struct flow *flow)
{
    return flow_may_create(flow) && !flow_suspended(flow);
}

bool flow_owns(const struct flow *flow, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);

    return owner && strcmp(owner->uid, flow->uid) == 0;
}

const struct object *flow_job_of(const struct flow *flow, uint32_t step)
{
    scoped(buf) struct buf name = {0};
    const struct object *job;

    flow_model_job_name(&flow->model, step, &name);
    job = cluster_get(flow->controller->cluster, &kind_job, object_namespace(flow->object),
                      name.data);
    return job && flow_owns(flow, job) ? job : NULL;
}

void flow_job_changed(struct flow *flow, uint32_t step, const struct object *job)
{
    const struct step before = flow->model.steps[step];
    enum job_phase phase = job_status_of(job)->phase;
    struct job_results *results = NULL;

    flow->model.tick = flow_tick(flow);
    if (phase == JOB_COMPLETED && flow->model.reuse)
        flow_reuse_job_completed(flow, step, job);
    if (before.revision < job->revision && flow_model_wants_results(&flow->model, step, phase)) {
        if (flow_model_depends_on_results(&flow->model, step, phase) &&
            !flow_results_are_whole(flow, job))
            return; /* the job is looked at again when its pods have been read */
        results = job_results_gather(flow->controller->cluster, job);
        flow_results_gathered(flow, job);
    }
    if (!flow_model_job_changed(&flow->model, step, job, results, flow_now_ms(flow)))
        return;
    if (before.state != STEP_STARTED || before.phase != flow->model.steps[step].phase)
        flow_add_job_command(flow, step);
    if (flow_model_prepare_failed(&flow->model, step))
        flow_renew_job_commands(flow);
    flow_unblock_step(flow, step);
    if (flow->model.counted)
        loop_times_job_changed(&flow->loops, &flow->model, step,
                               before.job != flow->model.steps[step].job,
                               loop_mono_ns(flow->controller->loop) / 1000000);
    if (flow->model.retrying && flow->model.counted)
        flow_backoff_update(flow, step);
    if (!flow->state.start_ms)
        flow->began_ms = flow_now_ms(flow);
    if (!flow->state.start_ms || job->meta->created_at_ms < flow->state.start_ms)
        flow->state.start_ms = job->meta->created_at_ms;
    flow_make_runnable(flow);
}

static void visit_job(void *arg, const struct object *job)
{
    struct flow *flow = arg;
    uint32_t step = flow_model_step_of_job(&flow->model, job);

    if (flow_owns(flow, job) && step != STEP_NONE)
        flow_job_changed(flow, step, job);
}

static void gather_jobs(struct flow *flow)
{
    cluster_each_owned(flow->controller->cluster, &kind_job, flow->uid, visit_job, flow);
}

int64_t flow_retry_delay_ms(unsigned failures, int64_t first_ms)
{
    int64_t delay_ms = first_ms;

    for (unsigned i = 0; i < failures && delay_ms < RETRY_MAX_MS; i++)
        delay_ms *= 2;
    return delay_ms < RETRY_MAX_MS ? delay_ms : RETRY_MAX_MS;
}

bool flow_same_text(const struct blob *a, const struct blob *b)
{
    return a == b || (a && b && a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

bool flow_same_status(const struct blob *a, const struct blob *b)
{
    scoped(json) json_t *one = NULL, *other = NULL;

    if (flow_same_text(a, b))
        return true;
    if (!a || !b || a->len != b->len)
        return false;
    one = json_read(a->text, a->len);
    other = json_read(b->text, b->len);
    return one && other && json_equal(one, other);
}

void flow_set_reason(struct flow *flow, const char *reason, const char *message)
{
    char *kept_reason = mem_strdup(reason), *kept_message = mem_strdup(message);

    mem_free(flow->state.reason);
    mem_free(flow->state.message);
    flow->state.reason = kept_reason;
    flow->state.message = kept_message;
}

static void refuse(struct flow *flow, const struct error *err)
{
    flow_opening_set(&flow->opening, FLOW_UNUSABLE);
    flow_set_reason(flow, "InvalidFlow", err->message);
    log_warn("flow cannot be run", kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)), kv_str("field", err->field),
             kv_str("reason", err->message));
}

/* With order: criticalPath, ranks steps by the longest path that starts at them. A path is as long
 * as the running estimates of its templates; a template without an estimate counts 1 s. */
static void rank_steps(struct flow *flow)
{
    struct flow_model *m = &flow->model;
    const struct flow_scheduling *scheduling = m->graph->spec->scheduling;
    double *weights;

    if (m->upstream || !scheduling || scheduling->order != ORDER_CRITICAL_PATH)
        return;
    weights = mem_array(m->graph->steps + 1, sizeof *weights);
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        const struct flow_step *step = flow_graph_step(m->graph, i);
        const struct object *template =
            flow_step_is_inline(step)
                ? template_inline(flow->controller->bodies, flow->object, step)
                : cluster_get(flow->controller->cluster, &kind_job_template,
                              object_namespace(flow->object), flow_step_template(step));
        int64_t estimate_ns = template ? job_spec_of(template)->running_estimate_ns : -1;

        weights[i] = !flow_step_makes_jobs(step) ? 0
                     : estimate_ns >= 0          ? (double)estimate_ns / 1e9
                                                 : 1;
    }
    ready_queue_rank(&m->ready_queue, weights);
    mem_free(weights);
}

/* Whether the status was written for the present spec. */
static bool is_of_this_spec(const struct flow *flow, const json_t *status)
{
    return json_integer_value(json_object_get(status, "observedGeneration")) ==
           flow->object->meta->generation;
}

/* In a cluster the jobs of a gang are created together. Which of them fit is decided for each PodGroup
 * by itself. */
static void warn_unenforced_gangs(struct flow *flow)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow->object);

    if (flow->controller->options.gangs_unenforced && spec->gangs.count > 0)
        cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING, "GangNotEnforced",
                      FLOW_COMPONENT,
                      "the jobs of gang %s are created together, but start as each of them fits",
                      spec->gangs.items[0].name);
}

/* In a cluster every step runs, because this process cannot see its files. */
static void warn_ignored_cache(struct flow *flow)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow->object);

    for (size_t i = 0; flow->controller->options.files_unseen && i < spec->steps.count; i++)
        if (spec->steps.items[i].cache) {
            cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING, "CacheIgnored",
                          FLOW_COMPONENT,
                          "the files of steps cannot be seen from here: every step runs");
            return;
        }
}

void flow_open(struct flow *flow)
{
    scoped(json) json_t *status = flow->object->status ? object_status_json(flow->object) : NULL;
    struct error err = {0};
    uint32_t *extra = iteration_budget_stored(jobflow_spec_of(flow->object), status);
    const struct flow_model_options options = {flow->controller->options.upstream_compat, extra,
                                               flow_reuse_scope(flow->controller, flow->object)};
    bool usable = flow_model_init(&flow->model, flow->object, &options, &err);

    mem_free(extra);
    flow->model.tick = flow_tick(flow);
    flow->build++;
    flow_opening_set(&flow->opening, FLOW_OPEN);
    flow_state_release(&flow->state);
    removed_entries_release(&flow->removed);
    flow_restore(&flow->model, &flow->state, &flow->removed, status,
                 flow->object->meta->generation);
    loop_times_release(&flow->loops);
    loop_times_restore(&flow->loops, status);
    mem_free(flow->critical_path);
    flow->critical_path = critical_path_stored(status);
    flow->writer.written_phase = flow->state.phase;
    if (!usable) {
        refuse(flow, &err);
    } else {
        rank_steps(flow);
        if (!flow->state.start_ms && !flow->controller->reuse)
            warn_ignored_cache(flow);
        if (!flow->state.start_ms)
            warn_unenforced_gangs(flow);
        flow->model.retries_ended =
            flow_phase_finished(flow->state.phase) || flow_restore_ending(flow);
        gather_jobs(flow);
        if (!is_of_this_spec(flow, status))
            flow_reopen_ending(flow);
        flow_probing_restore(flow);
        flow_restore_logs(flow->controller->cluster, flow->uid, &flow->model);
        flow_restore_missing_jobs(&flow->model);
        flow_model_recount(&flow->model);
        if (flow->model.retries_ended)
            flow_model_end_retries(&flow->model);
        flow_backoff_update_all(flow);
        template_pins_start(flow);
    }
    flow->deadline_passed = flow_deadline_hit(flow);
    status_write_want(&flow->writer.state);
    flow_make_runnable(flow);
}

/* Keeps the status entries of steps that are no longer in the spec. */
static void keep_removed(struct flow *flow, struct flow_model *old)
{
    for (uint32_t i = 0; i < old->graph->steps; i++) {
        struct step *step = &old->steps[i];

        if (!step->history || old->compact ||
            flow_graph_find(flow->model.graph, flow_graph_name(old->graph, i)) != STEP_NONE)
            continue;
        step_history_freeze(step->history, step->attempt);
        if (step->history->kept_status)
            removed_entries_add(&flow->removed, take(step->history->kept_status));
    }
}

/* Replaces the model by one for the present spec, which takes over what the old one knew. False
 * when the spec is unusable: the flow then has no model. */
static bool rebuild(struct flow *flow, const uint32_t *extra, struct error *err)
{
    struct flow_model old;
    bool usable;

    unblock_all(flow);
    old = flow->model;
    memset(&flow->model, 0, sizeof flow->model);
    flow->build++;
    usable =
        flow_model_init(&flow->model, flow->object,
                        &(struct flow_model_options){
                            old.upstream, extra, flow_reuse_scope(flow->controller, flow->object)},
                        err);
    if (usable) {
        keep_removed(flow, &old);
        flow_model_take_over(&flow->model, &old);
        rank_steps(flow);
    }
    flow_model_release(&old);
    return usable;
}

static void spec_changed(struct flow *flow)
{
    uint32_t *extra = iteration_budget_kept(jobflow_spec_of(flow->object), flow->model.graph);
    struct error err = {0};

    if (rebuild(flow, extra, &err)) {
        bool was_ending = flow_reopen_ending(flow);

        flow_model_clear_handled(&flow->model); /* the handling steps may be gone */
        gather_jobs(flow);
        flow_probing_restore(flow);
        flow_model_recount(&flow->model);
        if (was_ending)
            flow_decide_ending(flow);
        flow_backoff_update_all(flow);
        template_pins_start(flow);
    } else {
        refuse(flow, &err);
    }
    mem_free(extra);
    flow->retention.done = false;
    flow_write_status_now(flow);
    flow_make_runnable(flow);
}

void flow_renew_iteration_budgets(struct flow *flow)
{
    uint32_t *extra = iteration_budget_renewed(&flow->model);
    struct flow_graph *graph =
        extra ? flow_graph_new_expanded(jobflow_spec_of(flow->object), extra, NULL) : NULL;

    if (graph) /* unusable when names of new iterations collide with those of other steps */
        rebuild(flow, extra, NULL);
    flow_graph_free(graph);
    mem_free(extra);
}

void flow_release_model(struct flow *flow)
{
    unblock_all(flow);
    flow_results_stop(flow);
    template_pins_stop(flow);
    flow_model_release(&flow->model);
}

void flow_close(struct flow *flow)
{
    flow_release_model(flow);
    flow_opening_set(&flow->opening, FLOW_CLOSED);
}

void flow_object_changed(struct flow *flow, const struct object *object)
{
    struct object *before = flow->object;
    bool new_spec = !flow_same_text(before->body, object->body);
    bool marked = object_deleting(object) && !object_deleting(before);
    bool annotated = before->meta != object->meta; /* perhaps: failure policy, retry, abort */
    bool asked = annotated && jobflow_wants_retry(object);

    if (object->revision <= before->revision)
        return;
    flow->object = object_ref(object);
    if (!status_write_in_flight(flow->writer.state) &&
        object->revision != flow->writer.written_revision &&
        !flow_same_status(object->status, flow->writer.written))
        flow_rewrite_status(flow);
    if ((flow->opening == FLOW_CLOSED && (marked || asked)) ||
        (flow->opening == FLOW_UNUSABLE && new_spec))
        flow_open(flow);
    else if (flow->opening == FLOW_OPEN && new_spec)
        spec_changed(flow);
    if (new_spec) {
        flow->retention.done = false;
        flow_stop_time_limits(flow); /* restarted with the new times by the next sync */
    }
    if (annotated && flow->opening == FLOW_OPEN)
        flow_model_read_policy(&flow->model, object);
    if (new_spec || marked || annotated)
        flow_make_runnable(flow);
    object_unref(before);
}

/* Returns whether a finished flow may be closed: no job can change any more, and everything is
 * stored. */
static bool settled(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && flow_phase_finished(flow->writer.written_phase) &&
           flow->state.phase == flow->writer.written_phase && !object_deleting(flow->object) &&
           !flow_model_unfinished(&flow->model) && !flow->calls &&
           !status_write_wanted(flow->writer.state) && flow->retention.done &&
           STAILQ_EMPTY(&flow->answered) && !flow_retry_wanted(flow);
}

/* Returns whether the last job of a finished flow has ended since the last status was rendered. No
 * further change will come, so there is no reason to wait for one. */
static bool last_job_ended(const struct flow *flow)
{
    return flow_phase_finished(flow->state.phase) && flow->writer.rendered_while_running &&
           !flow_model_unfinished(&flow->model);
}

static void publish_changes(struct flow *flow)
{
    if (!status_write_wanted(flow->writer.state) &&
        flow->writer.rendered_changes == flow->model.changes)
        return;
    if (last_job_ended(flow))
        flow_write_status_now(flow);
    else
        flow_write_status_soon(flow);
}

static void start_steps(struct flow *flow)
{
    flow_create_ready(flow);
    flow_approvals_ask(flow);
}

static void sync_flow(struct flow *flow)
{
    enum flow_phase next;

    if (flow->opening != FLOW_OPEN)
        flow_commands_remove(flow, true); /* a flow without model shows no effect */
    if (flow->opening == FLOW_CLOSED) {
        flow_apply_retain_policy(flow);
        flow_update_ttl(flow);
        return;
    }
    if (flow->opening == FLOW_OPEN)
        flow_probing_run(flow);
    flow_retry_dismiss(flow);
    if (flow_retry_wanted(flow))
        flow_retry_prepare(flow);
    if (flow->backoffs_held && !status_write_in_flight(flow->writer.state))
        flow_backoff_update_all(flow);
    flow_update_deadline(flow);
    next = flow_next_phase(flow);
    if (flow_phase_finished(flow->state.phase) && next == FLOW_RUNNING)
        flow_retry_begin(flow);
    else if (flow_creates_now(flow) && !flow_phase_finished(flow->writer.written_phase))
        start_steps(flow); /* a retried flow waits until its Running is stored */
    flow_announce_skipped(flow);
    flow_enter_phase(flow, next);
    publish_changes(flow);
    flow_send_job_commands(flow);
    if (flow->opening == FLOW_OPEN)
        flow_servers_run(flow);
    flow_commands_remove(flow, false);
    flow_apply_retain_policy(flow);
    flow_update_ttl(flow);
    if (settled(flow))
        flow_close(flow);
}

void flow_sync(struct flow *flow)
{
    struct flow_controller *controller = flow->controller;
    int64_t began_ns = loop_mono_ns(controller->loop);

    flow->model.tick = flow_tick(flow);
    sync_flow(flow);
    metric_observe(controller->metrics.sync,
                   (double)(loop_mono_ns(controller->loop) - began_ns) / 1e9);
}
