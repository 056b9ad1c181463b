/*
 * The life of a flow: opened from its object and its jobs, kept current, closed when nothing can
 * change any more. flow_sync is the one place where decisions follow from what is known.
 */
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/budget.h"
#include "flow/model/critical_path.h"
#include "flow/model/step_probe.h"

struct flow *flow_new(struct flow_controller *controller, const struct object *object)
{
    size_t len = strlen(object_uid(object));
    struct flow *flow = mem_alloc(sizeof *flow + len + 1);

    memcpy(flow->uid, object_uid(object), len + 1);
    flow->controller = controller;
    flow->object = object_ref(object);
    flow->publisher.written = blob_ref(object->status);
    flow->publisher.written_revision = object->revision;
    return flow;
}

static void unblock_all(struct flow *flow)
{
    for (uint32_t i = 0; flow->record.graph && i < flow->record.graph->steps; i++) {
        flow_unblock_step(flow, i);
        flow_backoff_stop(flow, i);
    }
}

void flow_free(struct flow *flow)
{
    unblock_all(flow);
    flow_publish_stop(flow);
    flow_orders_stop(flow);
    flow_finish_stop(flow);
    flow_pin_stop(flow);
    timer_stop(flow->controller->loop, &flow->retain_retry);
    flow_record_release(&flow->record);
    flow_state_release(&flow->state);
    kept_entries_release(&flow->removed);
    mem_free(flow->path);
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
    return !flow->record.upstream && jobflow_spec_of(flow->object)->suspend;
}

bool flow_goes_on(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && !flow->gone && !object_deleting(flow->object) &&
           !flow_phase_finished(flow->state.phase) &&
           (flow_ending(flow) || (!jobflow_aborted(flow->object) && !flow->deadline_passed &&
                                  (!flow_record_failed(&flow->record) ||
                                   flow_failure_policy(flow) == FAILURE_CONTINUE)));
}

bool flow_creates(const struct flow *flow)
{
    return flow_goes_on(flow) && !flow_suspended(flow);
}

/* ---- jobs ---- */

const struct object *flow_job_of(const struct flow *flow, uint32_t step)
{
    scoped(buf) struct buf name = {0};
    const struct object *job;
    const struct owner_ref *owner;

    flow_record_job_name(&flow->record, step, &name);
    job = cluster_get(flow->controller->cluster, &kind_job, object_namespace(flow->object),
                      name.data);
    owner = job ? meta_controller(job->meta) : NULL;
    return owner && strcmp(owner->uid, flow->uid) == 0 ? job : NULL;
}

void flow_see_job(struct flow *flow, uint32_t step, const struct object *job)
{
    const struct step before = flow->record.steps[step];
    enum job_phase phase = job_status_of(job)->phase;
    struct job_results *results = NULL;

    flow->record.tick = flow_tick(flow);
    if (before.revision < job->revision && flow_record_wants_results(&flow->record, step, phase))
        results = job_results_gather(flow->controller->cluster, job);
    if (!flow_record_see_job(&flow->record, step, job, results, flow_now_ms(flow)))
        return;
    if (before.state != STEP_STARTED || before.phase != flow->record.steps[step].phase)
        flow_order_step(flow, step);
    flow_unblock_step(flow, step);
    if (flow->record.retrying && flow->record.settled)
        flow_backoff_follow(flow, step);
    if (!flow->state.start_ms)
        flow->began_ms = flow_now_ms(flow);
    if (!flow->state.start_ms || job->meta->created_at_ms < flow->state.start_ms)
        flow->state.start_ms = job->meta->created_at_ms;
    flow_make_runnable(flow);
}

static void visit_job(void *arg, const struct object *job)
{
    struct flow *flow = arg;
    const struct owner_ref *owner = meta_controller(job->meta);
    uint32_t step = flow_record_step_of(&flow->record, job);

    if (owner && strcmp(owner->uid, flow->uid) == 0 && step != STEP_NONE)
        flow_see_job(flow, step, job);
}

static void gather_jobs(struct flow *flow)
{
    cluster_each_owned(flow->controller->cluster, &kind_job, flow->uid, visit_job, flow);
}

/* ---- open, respecify, close ---- */

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
    flow->opening = FLOW_UNUSABLE;
    flow_set_reason(flow, "InvalidFlow", err->message);
    log_warn("flow cannot be run", kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)), kv_str("field", err->field),
             kv_str("reason", err->message));
}

/* The paths ahead, by what the templates say that their jobs take. */
static void rank_steps(struct flow *flow)
{
    struct flow_record *r = &flow->record;
    const struct flow_scheduling *scheduling = r->graph->spec->scheduling;
    double *weights;

    if (r->upstream || !scheduling || !scheduling->order ||
        strcmp(scheduling->order, "criticalPath") != 0)
        return;
    weights = mem_array(r->graph->steps + 1, sizeof *weights);
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        const struct object *template_ = cluster_get(
            flow->controller->cluster, &kind_job_template, object_namespace(flow->object),
            flow_step_template(flow_graph_step(r->graph, i)));
        int64_t estimate_ns = template_ ? job_spec_of(template_)->running_estimate_ns : -1;

        weights[i] = r->steps[i].jobless && flow_graph_step(r->graph, i)->choice ? 0
                     : estimate_ns >= 0 ? (double)estimate_ns / 1e9
                                        : 1;
    }
    flow_queue_rank(&r->queue, weights);
    mem_free(weights);
}

void flow_open(struct flow *flow)
{
    scoped(json) json_t *status = flow->object->status ? object_status_json(flow->object) : NULL;
    struct error err = {0};
    uint32_t *extra = flow_budget_stored(jobflow_spec_of(flow->object), status);
    bool usable = flow_record_init(&flow->record, flow->object,
                                   flow->controller->options.upstream_compat, extra, &err);

    mem_free(extra);
    flow->record.tick = flow_tick(flow);
    flow->build++;
    flow->opening = FLOW_OPEN;
    flow_state_release(&flow->state);
    kept_entries_release(&flow->removed);
    flow_restore(&flow->record, &flow->state, &flow->removed, status,
                 flow->object->meta->generation);
    mem_free(flow->path);
    flow->path = flow_path_stored(status);
    flow->publisher.written_phase = flow->state.phase;
    if (!usable) {
        refuse(flow, &err);
    } else {
        rank_steps(flow);
        flow->record.closed = flow_phase_finished(flow->state.phase) || flow_end_restore(flow);
        gather_jobs(flow);
        flow_probe_restore(flow);
        flow_restore_lost(&flow->record);
        flow_record_recount(&flow->record);
        flow_backoff_follow_all(flow);
        flow_pin_follow(flow);
        flow->path_may_grow = flow_record_unfinished(&flow->record) > 0;
    }
    flow->deadline_passed = flow_deadline_hit(flow);
    flow->publisher.dirty = true;
    flow_make_runnable(flow);
}

/* Steps that are no longer in the spec leave their history behind. */
static void keep_removed(struct flow *flow, struct flow_record *old)
{
    for (uint32_t i = 0; i < old->graph->steps; i++) {
        struct step *step = &old->steps[i];

        if (!step->detail || old->compact ||
            flow_graph_find(flow->record.graph, flow_graph_name(old->graph, i)) != STEP_NONE)
            continue;
        step_detail_freeze(step->detail, step->attempt);
        if (step->detail->kept_status)
            kept_entries_add(&flow->removed, take(step->detail->kept_status));
    }
}

/* A record of the spec as it is now, with what the one before knew. False leaves none. */
static bool rebuild(struct flow *flow, const uint32_t *extra, struct error *err)
{
    struct flow_record old;
    bool usable;

    unblock_all(flow);
    old = flow->record;
    memset(&flow->record, 0, sizeof flow->record);
    flow->build++;
    usable = flow_record_init(&flow->record, flow->object, old.upstream, extra, err);
    if (usable) {
        keep_removed(flow, &old);
        flow_record_move(&flow->record, &old);
        rank_steps(flow);
    }
    flow_record_release(&old);
    return usable;
}

static void respecify(struct flow *flow)
{
    uint32_t *extra = flow_budget_kept(jobflow_spec_of(flow->object), flow->record.graph);
    struct error err = {0};

    if (rebuild(flow, extra, &err)) {
        flow_record_forget_handled(&flow->record); /* by steps that are gone, perhaps */
        gather_jobs(flow);
        flow_probe_restore(flow);
        flow_record_recount(&flow->record);
        flow_backoff_follow_all(flow);
        flow_pin_follow(flow);
    } else {
        refuse(flow, &err);
    }
    mem_free(extra);
    flow->retained_done = false;
    flow_publish_now(flow);
    flow_make_runnable(flow);
}

void flow_renew_budgets(struct flow *flow)
{
    uint32_t *extra = flow_budget_renewed(&flow->record);
    struct flow_graph *graph =
        extra ? flow_graph_new_expanded(jobflow_spec_of(flow->object), extra, NULL) : NULL;

    if (graph) /* else its iterations would have the names of other steps */
        rebuild(flow, extra, NULL);
    flow_graph_free(graph);
    mem_free(extra);
}

void flow_close(struct flow *flow)
{
    unblock_all(flow);
    flow_pin_stop(flow);
    flow_record_release(&flow->record);
    flow->opening = FLOW_CLOSED;
}

static bool same_text(const struct blob *a, const struct blob *b)
{
    return a == b || (a && b && a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

void flow_object_changed(struct flow *flow, const struct object *object)
{
    struct object *before = flow->object;
    bool respecified = !same_text(before->body, object->body);
    bool marked = object_deleting(object) && !object_deleting(before);
    bool annotated = before->meta != object->meta; /* perhaps: policy, retry */
    bool asked = annotated && jobflow_wants_retry(object);

    if (object->revision <= before->revision)
        return;
    flow->object = object_ref(object);
    if (!flow->publisher.flying && object->revision != flow->publisher.written_revision &&
        !same_text(object->status, flow->publisher.written))
        flow_publish_again(flow);
    if ((flow->opening == FLOW_CLOSED && (marked || asked)) ||
        (flow->opening == FLOW_UNUSABLE && respecified))
        flow_open(flow);
    else if (flow->opening == FLOW_OPEN && respecified)
        respecify(flow);
    if (respecified) {
        flow->retained_done = false;
        flow_finish_stop(flow); /* the times may be others now */
    }
    if (respecified || marked || annotated)
        flow_make_runnable(flow);
    object_unref(before);
}

/* ---- decide ---- */

static unsigned facts_of(const struct flow *flow)
{
    const struct flow_record *r = &flow->record;
    unsigned facts = 0;

    if (object_deleting(flow->object))
        facts |= FACT_DELETING;
    if (flow_phase_finished(flow->state.phase))
        facts |= FACT_FINISHED;
    if (jobflow_aborted(flow->object) && !flow->controller->options.upstream_compat)
        facts |= FACT_ABORTED;
    if (flow->opening == FLOW_UNUSABLE)
        return facts | FACT_UNUSABLE;
    if (flow_retry_may_begin(flow))
        facts |= FACT_RETRY;
    if (flow_record_failed(r))
        facts |= FACT_STEP_FAILED;
    if (flow_record_active(r) && flow_failure_policy(flow) == FAILURE_CONTINUE)
        facts |= FACT_GOES_ON;
    if (flow_record_all_done(r) && (r->graph->steps || !r->upstream))
        facts |= FACT_ALL_DONE;
    if (flow->deadline_passed)
        facts |= FACT_DEADLINE;
    if (flow->state.phase == FLOW_RUNNING || flow_record_ran(r))
        facts |= FACT_STARTED;
    return facts;
}

/* Clients written for upstream see Running before a terminal phase whenever a job ran: it is
 * written first. */
static bool running_comes_first(const struct flow *flow, enum flow_phase next)
{
    return flow_phase_finished(next) && !flow_phase_finished(flow->state.phase) &&
           flow->publisher.written_phase != FLOW_RUNNING && flow_record_ran(&flow->record);
}

/* Nothing starts any more, whatever it waits for. */
static void forget_blocks(struct flow *flow)
{
    struct flow_record *r = &flow->record;

    for (uint32_t i = step_set_next(&r->blocked, 0); i != STEP_NONE;
         i = step_set_next(&r->blocked, i + 1)) {
        flow_unblock_step(flow, i);
        flow_record_set_state(r, i, STEP_WAITING);
    }
}

static void enter_phase(struct flow *flow, enum flow_phase next)
{
    if (flow->state.phase == next)
        return;
    log_info("flow phase changed", kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)),
             kv_str("from", flow_phase_text(flow->state.phase)),
             kv_str("to", flow_phase_text(next)));
    flow->state.phase = next;
    flow->state.since_ms = flow_now_ms(flow);
    if (flow->opening == FLOW_OPEN && (flow_phase_finished(next) || !flow_ending(flow)))
        flow_set_reason(flow, NULL, NULL); /* while it ends it keeps that of its end */
    if (next == FLOW_FAILED)
        flow_blame(flow);
    if (flow_phase_finished(next)) {
        flow->state.completion_ms = flow->state.since_ms < flow->state.start_ms
                                        ? flow->state.start_ms /* the wall was set back */
                                        : flow->state.since_ms;
        flow_record_close(&flow->record);
        forget_blocks(flow);
    }
    if (flow_phase_finished(next) || next == FLOW_TERMINATING)
        flow_probe_rest(flow);
    flow_publish_now(flow);
}

/* Nothing of a finished flow can change any more, and all of it is stored. */
static bool settled(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && flow_phase_finished(flow->publisher.written_phase) &&
           flow->state.phase == flow->publisher.written_phase && !object_deleting(flow->object) &&
           !flow_record_unfinished(&flow->record) && !flow->calls && !flow->publisher.dirty &&
           flow->retained_done && !flow_retry_wanted(flow);
}

/* A failed flow's last job has ended: nothing more is to be gathered. */
static bool last_job_ended(const struct flow *flow)
{
    return flow_phase_finished(flow->state.phase) && flow->publisher.noted_at_work &&
           !flow_record_unfinished(&flow->record);
}

static void publish_changes(struct flow *flow)
{
    if (!flow->publisher.dirty && flow->publisher.noted_changes == flow->record.changes)
        return;
    if (last_job_ended(flow))
        flow_publish_now(flow);
    else
        flow_publish_soon(flow);
}

static void sync_flow(struct flow *flow)
{
    enum flow_phase next;

    if (flow->opening == FLOW_CLOSED) {
        flow_retain(flow);
        flow_follow_ttl(flow);
        return;
    }
    if (flow->opening == FLOW_OPEN)
        flow_probe_steps(flow);
    flow_retry_note(flow);
    if (flow->backoffs_held && !flow->publisher.flying)
        flow_backoff_follow_all(flow);
    flow_follow_deadline(flow);
    next = flow_end(flow, flow_decide_phase(flow->state.phase, facts_of(flow)));
    if (flow->state.phase == FLOW_FAILED && next == FLOW_RUNNING)
        flow_retry_begin(flow);
    else if (flow_creates(flow) && !flow_phase_finished(flow->publisher.written_phase))
        flow_create_ready(flow); /* of a retried flow: once it is stored that it runs again */
    if (flow->opening == FLOW_OPEN && running_comes_first(flow, next))
        next = FLOW_RUNNING;
    flow_tell_skipped(flow);
    enter_phase(flow, next);
    publish_changes(flow);
    flow_give_orders(flow);
    flow_retain(flow);
    flow_follow_ttl(flow);
    if (settled(flow))
        flow_close(flow);
}

void flow_sync(struct flow *flow)
{
    struct flow_controller *controller = flow->controller;
    int64_t began_ns = loop_mono_ns(controller->loop);

    flow->record.tick = flow_tick(flow);
    sync_flow(flow);
    metric_observe(controller->figures.sync,
                   (double)(loop_mono_ns(controller->loop) - began_ns) / 1e9);
}
