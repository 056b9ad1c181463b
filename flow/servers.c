/*
 * Steps that serve others: their readiness comes from the pods of their job, and their job is completed
 * by a Command when the steps that depend on them have ended, or can never begin.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/serving.h"

enum { AGAIN_MS = 1000 };

struct step_server {
    struct flow *flow;
    uint32_t step;
    char *uid;                  /* uid of the job */
    struct probe_target *probe; /* follows its pods; NULL once they are ready */
    bool completing;            /* the Command is sent */
    struct timer again;         /* after a Command that failed */
};

struct complete_call {
    struct cluster_call call;
    struct flow *flow;
    uint32_t step, build;
};

static void look_again(struct flow *flow, uint32_t step)
{
    step_set_add(&flow->model.servers, step);
    flow_make_runnable(flow);
}

static void on_ready(void *ctx)
{
    const struct step_server *server = ctx;

    server->flow->model.tick = flow_tick(server->flow);
    flow_model_server_ready(&server->flow->model, server->step);
    look_again(server->flow, server->step);
}

static void on_again(struct timer *timer)
{
    const struct step_server *server = container_of(timer, struct step_server, again);

    look_again(server->flow, server->step);
}

void flow_server_stop(struct flow *flow, uint32_t step)
{
    struct step_server *server = take(flow->model.steps[step].server);

    if (!server)
        return;
    timer_stop(flow->controller->loop, &server->again);
    probe_target_free(server->probe);
    mem_free(server->uid);
    mem_free(server);
}

static struct step_server *start(struct flow *flow, uint32_t step, const struct object *job)
{
    struct step_server *server = mem_alloc(sizeof *server);

    server->flow = flow;
    server->step = step;
    server->uid = mem_strdup(object_uid(job));
    server->again.fire = on_again;
    flow->model.steps[step].server = server;
    return server;
}

static void on_completed(struct cluster_call *call, const struct object *result,
                         const struct error *err)
{
    struct complete_call *complete = container_of(call, struct complete_call, call);
    struct flow *flow = complete->flow;
    const uint32_t step = complete->step, build = complete->build;
    struct step_server *server;

    mem_free(complete);
    if (!flow_call_ended(flow) || flow->opening != FLOW_OPEN || build != flow->build || !err ||
        err->code == ERR_EXISTS || err->code == ERR_NOT_FOUND)
        return; /* a Command that exists will be carried out */
    log_warn("job of a step that served others not completed",
             kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
    server = flow->model.steps[step].server;
    if (!server)
        return;
    server->completing = false;
    timer_start(flow->controller->loop, &server->again, AGAIN_MS);
}

static void complete(struct flow *flow, uint32_t step, const struct object *job)
{
    struct complete_call *call = mem_alloc(sizeof *call);

    call->call.done = on_completed;
    call->flow = flow;
    call->step = step;
    call->build = flow->build;
    flow->model.steps[step].server->completing = true;
    flow_call_begun(flow);
    cluster_create(flow->controller->cluster, &call->call,
                   flow_command_to_job(job, "CompleteJob", "DependentsEnded",
                                       "the steps that depend on it have ended"));
}

static bool can_be_completed(enum job_phase phase)
{
    return phase == JOB_NONE || phase == JOB_PENDING || phase == JOB_RUNNING ||
           phase == JOB_RESTARTING;
}

static void follow(struct flow *flow, struct step_server *server, const struct object *job)
{
    if (flow->model.steps[server->step].ready)
        probe_target_free(take(server->probe));
    else if (server->probe)
        probe_target_job_changed(server->probe, job);
    else
        server->probe = probe_target_new(flow->controller->probes, &flow->probes, &probe_readiness,
                                         job, on_ready, server);
}

static void evaluate(struct flow *flow, uint32_t step)
{
    struct step *s = &flow->model.steps[step];
    const bool runs = s->state == STEP_STARTED && !job_phase_finished((enum job_phase)s->phase);
    const struct object *job = runs ? flow_job_of(flow, step) : NULL;

    if (s->server && (!job || strcmp(s->server->uid, object_uid(job)) != 0))
        flow_server_stop(flow, step);
    if (!job)
        return;
    follow(flow, s->server ? s->server : start(flow, step, job), job);
    if (!s->server->completing && can_be_completed((enum job_phase)s->phase) &&
        flow_model_users_ended(&flow->model, step, flow->closed))
        complete(flow, step, job);
}

void flow_servers_run(struct flow *flow)
{
    struct flow_model *m = &flow->model;
    /* When nothing else is active, a step that waits waits for one that has failed. */
    const bool closed = !flow_may_create(flow) || !flow_model_active_beside_servers(m);

    if (!m->has_servers)
        return;
    if (closed != flow->closed)
        flow_model_look_at_servers(m);
    flow->closed = closed;
    step_set_each(&m->servers, step)
    {
        step_set_remove(&m->servers, step);
        evaluate(flow, step);
    }
}
