/*
 * Probes of containers: startup, liveness, readiness.
 *
 *   running ──► startup passes ──► liveness fails  ─► the container is ended; its restart policy
 *                             │                       decides whether it runs again
 *                             └──► readiness passes ─► ready, fails ─► not ready
 *
 * HTTP, gRPC and TCP probes are sent from here to the pod's own address (SEC-13); the container's
 * shim runs exec probes. Each run of a container starts with fresh probes. When a probe changes
 * something, the last status is written again, and kubelet_write_report asks this file which
 * containers are ready.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"
#include "node/kubelet/probe_rule.h"
#include "node/runtime/handler.h"
#include "probes/attempt.h"

#define COMPONENT "kubelet"
#define PROBES_N  POST_START_HOOK /* number of probes; they come first in enum handler_use */

enum { WHY_MAX = 256, GRACE_DEFAULT_S = 30, MS_PER_S = 1000 };

/* One probe of one container. */
struct probe {
    struct container_probes *container;
    enum handler_use use;
    struct handler handler; /* how the probe is made; kind HANDLER_NONE: there is no probe */
    struct probe_rule rule;
    struct probe_streak streak;
    struct timer next;
    struct probe_attempt attempt;
    uint64_t exec_id;  /* id of the exec that is under way, or 0 */
    char why[WHY_MAX]; /* message of the last failure */
};

/* One container with probes. */
struct container_probes {
    struct pod_probes *of_pod;
    const struct pod_container *spec;
    size_t index; /* index of the container, init containers first */
    bool running;
    int32_t run; /* restart count of the current run */
    int64_t started_ms;
    struct probe probes[PROBES_N];
};

/* All probes of one pod. */
struct pod_probes {
    struct kubelet_pod *pod;
    struct arena *arena;
    struct blob *last; /* the status of the pod written last */
    bool all_ready;    /* without regard to probes, the runtime says that all containers run */
    size_t n;
    struct container_probes containers[];
};

static struct loop *loop_of(const struct probe *probe)
{
    return probe->container->of_pod->pod->kubelet->cluster->loop;
}

static void cancel(struct probe *probe)
{
    timer_stop(loop_of(probe), &probe->next);
    if (probe->handler.kind == HANDLER_HTTP || probe->handler.kind == HANDLER_GRPC)
        probe_http_cancel(&probe->attempt);
    if (probe->handler.kind == HANDLER_TCP)
        probe_tcp_cancel(&probe->attempt);
    probe->exec_id = 0;
}

static bool address_of(const struct probe *probe, struct probe_address *out)
{
    const char *ip = probe->container->of_pod->pod->address_text;

    if (!probe_address_of(*ip ? ip : HOST_IP, probe->handler.port, NULL, out, NULL))
        return false;
    out->sockets = &probe->container->of_pod->pod->kubelet->sockets;
    return true;
}

static struct probe_http_client *client_of(const struct probe *probe)
{
    struct kubelet *k = probe->container->of_pod->pod->kubelet;

    if (!k->http)
        k->http = probe_http_client_new(k->cluster->loop);
    return k->http;
}

static bool send_http(struct probe *probe)
{
    struct probe_http http = probe->handler.http;
    struct probe_address address;

    http.timeout_s = (int32_t)(probe->rule.timeout_ms / MS_PER_S);
    if (!address_of(probe, &address))
        return false;
    snprintf(probe->why, sizeof probe->why, "GET %s%s: no answer of 200 to 399 within %ds",
             address.text, http.path ? http.path : "/", (int)http.timeout_s);
    return probe_http_start(client_of(probe), &probe->attempt, &http, &address);
}

static bool send_grpc(struct probe *probe)
{
    const struct probe_grpc grpc = {.service = probe->handler.service,
                                    .timeout_s = (int32_t)(probe->rule.timeout_ms / MS_PER_S)};
    struct probe_address address;

    if (!address_of(probe, &address))
        return false;
    snprintf(probe->why, sizeof probe->why, "gRPC health of %s%s%s: not SERVING within %ds",
             address.text, grpc.service ? "/" : "", grpc.service ? grpc.service : "",
             (int)grpc.timeout_s);
    return probe_grpc_start(client_of(probe), &probe->attempt, &grpc, &address);
}

static bool connect_tcp(struct probe *probe)
{
    const struct probe_tcp tcp = {.timeout_s = (int32_t)(probe->rule.timeout_ms / MS_PER_S)};
    struct probe_address address;

    if (!address_of(probe, &address))
        return false;
    snprintf(probe->why, sizeof probe->why, "cannot connect to %s", address.text);
    return probe_tcp_start(loop_of(probe), &probe->attempt, &tcp, &address);
}

static bool run_program(struct probe *probe)
{
    static uint64_t last_id; /* the first id is the time, so that answers to an earlier process
                              * match no try */
    struct kubelet_pod *pod = probe->container->of_pod->pod;

    if (!last_id)
        last_id = (uint64_t)loop_wall_ms(loop_of(probe)) << 20;
    probe->exec_id = ++last_id;
    pod->kubelet->runtime->ops->exec(
        pod->kubelet->runtime,
        &(struct runtime_exec){.uid = pod->meta->uid,
                               .container = (uint32_t)probe->container->index,
                               .id = probe->exec_id,
                               .argv = probe->handler.argv,
                               .n_argv = probe->handler.n_argv,
                               .limit_ms = probe->rule.timeout_ms});
    return true;
}

static void count_try(struct probe *probe, bool passed);

static void try_now(struct timer *timer)
{
    static bool (*const senders[])(struct probe *) = {[HANDLER_EXEC] = run_program,
                                                      [HANDLER_HTTP] = send_http,
                                                      [HANDLER_TCP] = connect_tcp,
                                                      [HANDLER_GRPC] = send_grpc};
    struct probe *probe = container_of(timer, struct probe, next);

    timer_start(loop_of(probe), &probe->next, probe->rule.period_ms);
    if (probe->attempt.operation)
        return;           /* the previous try is still in flight */
    if (probe->exec_id) { /* the shim has not answered for a whole period */
        probe->exec_id = 0;
        snprintf(probe->why, sizeof probe->why, "no answer within %lld ms",
                 (long long)probe->rule.timeout_ms);
        count_try(probe, false);
    } else if (!senders[probe->handler.kind](probe)) {
        snprintf(probe->why, sizeof probe->why, "cannot be asked: a path or header is not allowed");
        count_try(probe, false);
    }
}

static void attempt_done(struct probe_attempt *attempt, bool passed)
{
    count_try(container_of(attempt, struct probe, attempt), passed);
}

static bool has_probe(const struct container_probes *c, enum handler_use use)
{
    return c->probes[use].handler.kind != HANDLER_NONE;
}

static bool has_started(const struct container_probes *c)
{
    return !has_probe(c, STARTUP_PROBE) || c->probes[STARTUP_PROBE].streak.good;
}

static bool is_ready(const struct container_probes *c)
{
    return has_started(c) &&
           (!has_probe(c, READINESS_PROBE) || c->probes[READINESS_PROBE].streak.good);
}

static void start_probe(struct container_probes *c, enum handler_use use)
{
    struct probe *probe = &c->probes[use];
    int64_t ran_ms = loop_wall_ms(loop_of(probe)) - c->started_ms;

    if (has_probe(c, use))
        timer_start(loop_of(probe), &probe->next, probe_first_ms(&probe->rule, ran_ms));
}

static void start_later_probes(struct container_probes *c)
{
    start_probe(c, LIVENESS_PROBE);
    start_probe(c, READINESS_PROBE);
}

static void stop_probes(struct container_probes *c)
{
    for (enum handler_use use = 0; use < PROBES_N; use++)
        cancel(&c->probes[use]);
    c->running = false;
}

/* Writes the last status again; kubelet_probes_update corrects which containers are ready. */
static void write_again(struct pod_probes *probes)
{
    struct kubelet_pod *pod = probes->pod;
    struct pod_status status;
    size_t n;

    if (!probes->last || kubelet_pod_gone(pod) || pod->step != STEP_STARTED)
        return;
    status = *pod_status_of_blob(probes->last);
    n = status.init_containers.count + status.containers.count;

    struct container_status *items = mem_array(n + 1, sizeof *items);

    for (size_t i = 0; i < n; i++)
        items[i] = i < status.init_containers.count
                       ? status.init_containers.items[i]
                       : status.containers.items[i - status.init_containers.count];
    status.ready = probes->all_ready;
    status.containers.items = items + status.init_containers.count;
    status.init_containers.items = items;
    kubelet_write_report(pod, &status);
    mem_free(items);
}

static void event_unhealthy(const struct probe *probe)
{
    static const char *const names[] = {"Startup", "Liveness", "Readiness"};
    const struct kubelet_pod *pod = probe->container->of_pod->pod;

    cluster_event(pod->kubelet->cluster, pod->object, EVENT_WARNING, "Unhealthy", COMPONENT,
                  "Container %s: %s probe failed: %s", probe->container->spec->name,
                  names[probe->use], probe->why);
}

static void end_container(struct probe *probe)
{
    struct container_probes *c = probe->container;
    struct kubelet_pod *pod = c->of_pod->pod;
    const struct pod_spec *spec = pod_spec_of(pod->object);
    int64_t grace_s = probe->rule.grace_s >= 0 ? probe->rule.grace_s
                      : spec->grace_s.set      ? spec->grace_s.value
                                               : GRACE_DEFAULT_S;
    scoped_str why = mem_printf("%s failed %d times: %s", handler_use_text(probe->use),
                                (int)probe->rule.failures, probe->why);

    for (enum handler_use use = 0; use < PROBES_N; use++)
        cancel(&c->probes[use]);
    cluster_event(pod->kubelet->cluster, pod->object, EVENT_NORMAL, "Killing", COMPONENT,
                  "Container %s failed its %s, it is ended", c->spec->name,
                  handler_use_text(probe->use));
    pod->kubelet->runtime->ops->kill_container(pod->kubelet->runtime, pod->meta->uid,
                                               (uint32_t)c->index, grace_s * MS_PER_S, why);
}

/* Reports that the startup probe has passed. The containers after a sidecar wait for that. */
static void report_started(const struct container_probes *c)
{
    const struct kubelet_pod *pod = c->of_pod->pod;

    if (c->index < pod_spec_of(pod->object)->init_containers.count)
        pod->kubelet->runtime->ops->startup_passed(pod->kubelet->runtime, pod->meta->uid,
                                                   (uint32_t)c->index);
}

static void count_try(struct probe *probe, bool passed)
{
    struct container_probes *c = probe->container;
    bool turned = probe_streak_count(&probe->streak, &probe->rule, passed);

    if (!passed)
        event_unhealthy(probe);
    if (!turned)
        return;
    if (!passed && probe->use != READINESS_PROBE) {
        end_container(probe);
    } else if (passed && probe->use == STARTUP_PROBE) {
        cancel(probe);
        start_later_probes(c);
        report_started(c);
    }
    write_again(c->of_pod);
}

void kubelet_exec_done(void *ctx, const struct runtime_exec_result *executed)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod;

    HASH_FIND(hh, k->pods, executed->uid, strlen(executed->uid), pod);
    for (size_t i = 0; pod && pod->probes && i < pod->probes->n; i++)
        for (enum handler_use use = 0; use < PROBES_N; use++) {
            struct probe *probe = &pod->probes->containers[i].probes[use];

            if (!probe->exec_id || probe->exec_id != executed->id)
                continue;
            probe->exec_id = 0;
            snprintf(probe->why, sizeof probe->why, "%s ended with %d: %.200s",
                     probe->handler.argv[0], executed->code, executed->text);
            count_try(probe, executed->code == 0);
            return;
        }
}

static bool has_any_probe(const struct pod_container *c)
{
    return c->startup || c->liveness || c->readiness;
}

static size_t count_probed(const struct pod_spec *spec)
{
    size_t n = 0;

    for (size_t i = 0; i < runtime_container_count(spec); i++)
        n += has_any_probe(runtime_container_at(spec, i));
    return n;
}

static void init_container(struct container_probes *c, struct pod_probes *probes,
                           const struct pod_spec *spec, size_t index)
{
    *c = (struct container_probes){
        .of_pod = probes, .spec = runtime_container_at(spec, index), .index = index};
    for (enum handler_use use = 0; use < PROBES_N; use++) {
        struct probe *probe = &c->probes[use];
        const json_t *doc = handler_doc(c->spec, use);

        probe->container = c;
        probe->use = use;
        probe->rule = probe_rule_of(doc);
        probe->next.fire = try_now;
        probe->attempt.done = attempt_done;
        /* Reading succeeds, because handlers_check has accepted the pod. */
        handler_read(c->spec, doc, probes->arena, &probe->handler, NULL);
    }
}

static struct pod_probes *pod_probes_new(struct kubelet_pod *pod, size_t n)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    struct pod_probes *probes = mem_alloc(sizeof *probes + n * sizeof probes->containers[0]);

    probes->pod = pod;
    probes->arena = arena_new(0);
    for (size_t i = 0; i < runtime_container_count(spec); i++)
        if (has_any_probe(runtime_container_at(spec, i)))
            init_container(&probes->containers[probes->n++], probes, spec, i);
    return probes;
}

void kubelet_probes_stop(struct kubelet_pod *pod)
{
    struct pod_probes *probes = take(pod->probes);

    if (!probes)
        return;
    for (size_t i = 0; i < probes->n; i++)
        stop_probes(&probes->containers[i]);
    blob_unref(probes->last);
    arena_free(probes->arena);
    mem_free(probes);
}

void kubelet_probes_status_written(struct kubelet_pod *pod, struct blob *status)
{
    struct blob *before = pod->probes->last;

    pod->probes->last = blob_ref(status);
    blob_unref(before);
}

/* Handles a new run of the container. When a previous run of the kubelet watched the same container
 * run, its stored results still hold. */
static void run_began(struct container_probes *c, const struct container_status *status)
{
    const struct pod_status *known = pod_status_of(c->of_pod->pod->object);
    const struct container_status *before = NULL;
    size_t n_init = known->init_containers.count;

    if (c->index < n_init)
        before = &known->init_containers.items[c->index];
    else if (c->index - n_init < known->containers.count)
        before = &known->containers.items[c->index - n_init];
    if (before && (before->state != CONTAINER_RUNNING ||
                   before->restart_count != status->restart_count || before->starting_up))
        before = NULL;

    stop_probes(c);
    c->running = true;
    c->run = status->restart_count;
    c->started_ms = status->started_ms;
    for (enum handler_use use = 0; use < PROBES_N; use++)
        c->probes[use].streak = (struct probe_streak){.good = use == LIVENESS_PROBE || before};
    c->probes[READINESS_PROBE].streak.good = before && before->ready;
    if (!has_started(c)) {
        start_probe(c, STARTUP_PROBE);
        return;
    }
    start_later_probes(c);
    if (has_probe(c, STARTUP_PROBE))
        report_started(c); /* the shim may not know it yet if the kubelet was restarted meanwhile */
}

static void update_container(struct container_probes *c, struct container_status *status)
{
    bool runs = status->state == CONTAINER_RUNNING;

    if (!runs && c->running)
        stop_probes(c);
    else if (runs && (!c->running || c->run != status->restart_count))
        run_began(c, status);
    if (!runs)
        return;
    status->ready = is_ready(c);
    status->starting_up = !has_started(c);
}

static bool any_running(const struct pod_status *status)
{
    bool runs = status->phase == POD_RUNNING;

    for (size_t i = 0; i < status->init_containers.count; i++)
        runs = runs || status->init_containers.items[i].state == CONTAINER_RUNNING;
    return runs;
}

void kubelet_probes_update(struct kubelet_pod *pod, struct pod_status *status)
{
    size_t n_init = status->init_containers.count;

    if (!pod->probes && !pod->kubelet->options.volumes.sim && any_running(status)) {
        size_t n = count_probed(pod_spec_of(pod->object));

        if (n)
            pod->probes = pod_probes_new(pod, n);
    }
    if (!pod->probes)
        return;
    pod->probes->all_ready = status->ready;
    for (size_t i = 0; i < pod->probes->n; i++) {
        struct container_probes *c = &pod->probes->containers[i];

        if (c->index < n_init)
            update_container(c, &status->init_containers.items[c->index]);
        else if (c->index - n_init < status->containers.count)
            update_container(c, &status->containers.items[c->index - n_init]);
    }
    for (size_t i = 0; i < status->containers.count; i++)
        status->ready = status->ready && status->containers.items[i].ready;
}
