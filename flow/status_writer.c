/*
 * Writes the status of a flow to the store.
 *
 * Changes are collected for a window of time and written together. One write is in flight at a
 * time, and a status that equals the stored one is not written.
 *
 * The window grows with the flow, because rendering n steps costs O(n): options.status_window_ms up
 * to a hundred steps, ten times that from a thousand steps on. Three changes do not wait for the
 * window: a new phase; the result of a job that has been removed; and the end of the last job of a
 * finished flow, because clients that waited for it read the status next.
 */
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/critical_path.h"

enum { WINDOW_DEFAULT_MS = 100, WINDOW_GROWTH_MAX = 10, RETRY_FIRST_MS = 5 };

static void submit(struct flow *flow);

static const struct object *job_of_step(void *ctx, uint32_t step)
{
    return flow_job_of(ctx, step);
}

static int64_t loop_took(void *ctx, uint32_t step)
{
    const struct flow *flow = ctx;

    return loop_times_took(&flow->loops, flow_graph_name(flow->model.graph, step));
}

/* Computes the critical path when the flow is over. It is kept then: jobs that go on do not make
 * the flow longer, jobs may be deleted, and the status is the same after a restart. */
static void update_critical_path(struct flow *flow)
{
    bool over = flow->opening == FLOW_OPEN && flow_phase_finished(flow->state.phase);
    const struct path_source source = {.job = job_of_step,
                                       .loop_took = loop_took,
                                       .ctx = flow,
                                       .flow_took_ms = flow->state.duration_ms};

    if (over && flow->critical_path)
        return;
    mem_free(flow->critical_path);
    flow->critical_path = over ? critical_path_text(&flow->model, &source) : NULL;
}

static struct blob *render(struct flow *flow)
{
    struct flow_status_view view = {
        .model = flow->opening == FLOW_OPEN ? &flow->model : NULL,
        .state = &flow->state,
        .removed = &flow->removed,
        .loops = &flow->loops,
        .generation = flow->object->meta->generation,
        .job = job_of_step,
        .ctx = flow,
    };

    flow_update_reason(flow);
    if (view.model)
        loop_times_close(&flow->loops, view.model, loop_mono_ns(flow->controller->loop) / 1000000);
    update_critical_path(flow);
    view.critical_path = flow->critical_path;
    return flow_status_render(&view);
}

/* Records an event and a metric when a terminal phase has been stored. */
static void announce_end(struct flow *flow)
{
    bool succeeded = flow->writer.written_phase == FLOW_SUCCEED;

    flow_metrics_flow_ended(&flow->controller->metrics, object_namespace(flow->object),
                            flow->writer.written_phase);
    if (succeeded)
        cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "Succeed",
                      FLOW_COMPONENT, "every step is done");
    else
        cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING, "Failed",
                      FLOW_COMPONENT, "%s",
                      flow->state.message ? flow->state.message : "a step failed");
}

static void stored(struct flow *flow, const struct object *result)
{
    struct status_writer *w = &flow->writer;
    enum flow_phase before = w->written_phase;

    w->failures = 0;
    w->overwritten = false;
    blob_unref(w->written);
    w->written = take(w->sent);
    w->written_phase = w->sent_phase;
    w->written_changes = w->sent_changes;
    w->written_revision = result->revision;
    if (flow->object->revision > result->revision &&
        !flow_same_status(flow->object->status,
                          w->written)) /* another client has written the status
                                                            * since */
        flow_rewrite_status(flow);
    flow_object_changed(flow, result);
    if (before != w->written_phase && flow_phase_finished(w->written_phase))
        announce_end(flow);
}

static void on_window(struct timer *timer);

/* The write changed nothing in memory, so a later one renders the model as it is then. */
static void not_stored(struct flow *flow, const struct error *err)
{
    struct status_writer *w = &flow->writer;

    blob_unref(take(w->sent));
    w->rendered_changes = w->written_changes;
    if (err->code == ERR_NOT_FOUND) /* the flow is deleted: its event follows */
        return;
    if (err->code != ERR_CONFLICT && err->code != ERR_STORAGE) /* the store logs its own errors */
        log_warn("flow status not written", kv_str("namespace", object_namespace(flow->object)),
                 kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
    if (w->state == STATUS_DUE)
        status_write_set(&w->state, STATUS_WAITING);
    status_write_want(&w->state);
    w->window.fire = on_window; /* the first write of this process may have been sent at once */
    timer_start(flow->controller->loop, &w->window,
                flow_retry_delay_ms(w->failures++, RETRY_FIRST_MS));
}

static void on_done(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct flow *flow = container_of(call, struct flow, writer.call);
    struct status_writer *w = &flow->writer;

    status_write_set(&w->state, w->state == STATUS_SENT         ? STATUS_STORED
                                : w->state == STATUS_SENT_AGAIN ? STATUS_WAITING
                                                                : STATUS_DUE);
    if (!flow_call_ended(flow))
        return;
    if (err)
        not_stored(flow, err);
    else
        stored(flow, result);
    if (w->state == STATUS_DUE)
        submit(flow);
    else if (w->state == STATUS_WAITING && !timer_armed(&w->window))
        flow_write_status_soon(flow);
    flow_make_runnable(flow);
}

/* Returns the newest accepted version of the flow, which the write must be based on. */
static const struct object *newest(const struct flow *flow)
{
    const struct object *known =
        cluster_get(flow->controller->cluster, &kind_job_flow, object_namespace(flow->object),
                    object_name(flow->object));

    return known && strcmp(object_uid(known), flow->uid) == 0 ? known : flow->object;
}

static void submit(struct flow *flow)
{
    struct status_writer *w = &flow->writer;
    struct blob *status;

    timer_stop(flow->controller->loop, &w->window);
    w->rendered_changes = flow->model.changes;
    w->rendered_while_running = flow_model_unfinished(&flow->model) > 0;
    status = flow->opening == FLOW_CLOSED ? blob_ref(w->written) : render(flow);
    if (!w->overwritten && flow_same_status(status, w->written)) {
        blob_unref(status);
        status_write_set(&w->state, STATUS_STORED);
        w->written_changes = w->rendered_changes;
        flow_make_runnable(flow);
        return;
    }
    status_write_set(&w->state, STATUS_SENT);
    w->sent = blob_ref(status);
    w->sent_phase = flow->state.phase;
    w->sent_changes = w->rendered_changes;
    w->call.done = on_done;
    flow_call_begun(flow);
    cluster_update_status(flow->controller->cluster, &w->call, newest(flow), status);
}

static void on_window(struct timer *timer)
{
    submit(container_of(timer, struct flow, writer.window));
}

static int64_t window_ms(const struct flow *flow)
{
    int64_t window = flow->controller->options.status_window_ms;
    uint32_t steps = flow->model.graph ? flow->model.graph->steps : 0;
    uint32_t growth = 1 + steps / 100;

    if (window <= 0)
        window = WINDOW_DEFAULT_MS;
    return window * (growth < WINDOW_GROWTH_MAX ? growth : WINDOW_GROWTH_MAX);
}

void flow_write_status_soon(struct flow *flow)
{
    struct status_writer *w = &flow->writer;

    status_write_want(&w->state);
    w->window.fire = on_window;
    if (!status_write_in_flight(w->state) && !timer_armed(&w->window))
        timer_start(flow->controller->loop, &w->window, window_ms(flow));
}

/* Returns whether a write has failed and `window` runs until it is tried again. */
static bool waits_to_retry(const struct status_writer *w)
{
    return w->failures > 0 && timer_armed(&w->window);
}

void flow_write_status_now(struct flow *flow)
{
    enum status_write *state = &flow->writer.state;
    bool in_flight = status_write_in_flight(*state);

    if (*state != STATUS_SENT_DUE && *state != STATUS_DUE)
        status_write_set(state, in_flight ? STATUS_SENT_DUE : STATUS_DUE);
    if (!in_flight && !waits_to_retry(&flow->writer))
        submit(flow);
}

void flow_rewrite_status(struct flow *flow)
{
    if (!flow->writer.written)
        return;
    flow->writer.overwritten = true;
    flow_write_status_soon(flow);
}

void flow_stop_status_writes(struct flow *flow)
{
    timer_stop(flow->controller->loop, &flow->writer.window);
    blob_unref(take(flow->writer.written));
    blob_unref(take(flow->writer.sent));
}
