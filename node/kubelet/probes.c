/*
 * Probes of containers: startup, liveness, readiness.
 *
 *   runs ──► startup passes ──► liveness: fails ─► the container is ended, its policy decides
 *                         └───► readiness: good ─► ready, bad ─► not ready
 *
 * HTTP, gRPC and TCP are asked from here, at the pod's own address (SEC-13); programs are run by
 * the container's shim. Each run of a container begins anew. What a probe changes is told by
 * writing the last status again: kubelet_write_report asks us who is ready.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"
#include "node/kubelet/probe_rule.h"
#include "node/runtime/handler.h"
#include "probes/attempt.h"

#define COMPONENT "kubelet"
#define PROBES_N  POST_START_HOOK /* probes come first in enum handler_use */

enum { WHY_MAX = 256, GRACE_DEFAULT_S = 30, MS_PER_S = 1000 };

/* One probe of one container. */
struct probe {
    struct probed *of;
    enum handler_use use;
    struct handler handler; /* kind HANDLER_NONE: there is none */
    struct probe_rule rule;
    struct probe_streak streak;
    struct timer next;
    struct probe_attempt attempt;
    uint64_t exec_id;  /* of the try under way, or 0 */
    char why[WHY_MAX]; /* the last failure */
};

/* One container with probes. */
struct probed {
    struct probing *probing;
    const struct pod_container *spec;
    size_t index; /* init containers first */
    bool runs;
    int32_t run; /* restart count of the run under way */
    int64_t started_ms;
    struct probe probes[PROBES_N];
};

struct probing {
    struct kubelet_pod *pod;
    struct arena *arena;
    struct blob *last; /* status */
    bool all_run;      /* as the runtime sees it */
    size_t n;
    struct probed containers[];
};

/* ---- the tries ---- */

static struct loop *loop_of(const struct probe *probe)
{
    return probe->of->probing->pod->kubelet->cluster->loop;
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
    const char *ip = probe->of->probing->pod->address_text;

    if (!probe_address_of(*ip ? ip : HOST_IP, probe->handler.port, NULL, out, NULL))
        return false;
    out->sockets = &probe->of->probing->pod->kubelet->sockets;
    return true;
}

static struct probe_http_client *client_of(const struct probe *probe)
{
    struct kubelet *k = probe->of->probing->pod->kubelet;

    if (!k->http)
        k->http = probe_http_client_new(k->cluster->loop);
    return k->http;
}

static bool ask_http(struct probe *probe)
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

static bool ask_grpc(struct probe *probe)
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

static bool ask_tcp(struct probe *probe)
{
    const struct probe_tcp tcp = {.timeout_s = (int32_t)(probe->rule.timeout_ms / MS_PER_S)};
    struct probe_address address;

    if (!address_of(probe, &address))
        return false;
    snprintf(probe->why, sizeof probe->why, "cannot connect to %s", address.text);
    return probe_tcp_start(loop_of(probe), &probe->attempt, &tcp, &address);
}

static bool ask_program(struct probe *probe)
{
    static uint64_t last_id; /* answers to tries of before a restart fit none of ours */
    struct kubelet_pod *pod = probe->of->probing->pod;

    if (!last_id)
        last_id = (uint64_t)loop_wall_ms(loop_of(probe)) << 20;
    probe->exec_id = ++last_id;
    pod->kubelet->runtime->ops->exec(pod->kubelet->runtime,
                                     &(struct runtime_exec){.uid = pod->meta->uid,
                                                            .container = (uint32_t)probe->of->index,
                                                            .id = probe->exec_id,
                                                            .argv = probe->handler.argv,
                                                            .n_argv = probe->handler.n_argv,
                                                            .limit_ms = probe->rule.timeout_ms});
    return true;
}

static void tried(struct probe *probe, bool passed);

static void try_now(struct timer *timer)
{
    static bool (*const asks[])(struct probe *) = {[HANDLER_EXEC] = ask_program,
                                                   [HANDLER_HTTP] = ask_http,
                                                   [HANDLER_TCP] = ask_tcp,
                                                   [HANDLER_GRPC] = ask_grpc};
    struct probe *probe = container_of(timer, struct probe, next);

    timer_start(loop_of(probe), &probe->next, probe->rule.period_ms);
    if (probe->attempt.operation)
        return;           /* still under way */
    if (probe->exec_id) { /* nobody has answered for a whole period */
        probe->exec_id = 0;
        snprintf(probe->why, sizeof probe->why, "no answer within %lld ms",
                 (long long)probe->rule.timeout_ms);
        tried(probe, false);
    } else if (!asks[probe->handler.kind](probe)) {
        snprintf(probe->why, sizeof probe->why, "cannot be asked: a path or header is not allowed");
        tried(probe, false);
    }
}

static void attempt_done(struct probe_attempt *attempt, bool passed)
{
    tried(container_of(attempt, struct probe, attempt), passed);
}

/* ---- what they amount to ---- */

static bool has(const struct probed *c, enum handler_use use)
{
    return c->probes[use].handler.kind != HANDLER_NONE;
}

static bool has_started(const struct probed *c)
{
    return !has(c, STARTUP_PROBE) || c->probes[STARTUP_PROBE].streak.good;
}

static bool is_ready(const struct probed *c)
{
    return has_started(c) && (!has(c, READINESS_PROBE) || c->probes[READINESS_PROBE].streak.good);
}

static void begin(struct probed *c, enum handler_use use)
{
    struct probe *probe = &c->probes[use];
    int64_t ran_ms = loop_wall_ms(loop_of(probe)) - c->started_ms;

    if (has(c, use))
        timer_start(loop_of(probe), &probe->next, probe_first_ms(&probe->rule, ran_ms));
}

static void begin_rest(struct probed *c)
{
    begin(c, LIVENESS_PROBE);
    begin(c, READINESS_PROBE);
}

static void end(struct probed *c)
{
    for (enum handler_use use = 0; use < PROBES_N; use++)
        cancel(&c->probes[use]);
    c->runs = false;
}

/* Write the last status again; who is ready is asked anew. */
static void tell_again(struct probing *probing)
{
    struct kubelet_pod *pod = probing->pod;
    struct pod_status status;
    size_t n;

    if (!probing->last || pod->gone || pod->step != STEP_STARTED)
        return;
    status = *pod_status_of_blob(probing->last);
    n = status.init_containers.count + status.containers.count;

    struct container_status *items = mem_array(n + 1, sizeof *items);

    for (size_t i = 0; i < n; i++)
        items[i] = i < status.init_containers.count
                       ? status.init_containers.items[i]
                       : status.containers.items[i - status.init_containers.count];
    status.ready = probing->all_run;
    status.containers.items = items + status.init_containers.count;
    status.init_containers.items = items;
    kubelet_write_report(pod, &status);
    mem_free(items);
}

static void tell_failure(const struct probe *probe)
{
    static const char *const names[] = {"Startup", "Liveness", "Readiness"};
    const struct kubelet_pod *pod = probe->of->probing->pod;

    cluster_event(pod->kubelet->cluster, pod->object, EVENT_WARNING, "Unhealthy", COMPONENT,
                  "Container %s: %s probe failed: %s", probe->of->spec->name, names[probe->use],
                  probe->why);
}

static void end_container(struct probe *probe)
{
    struct probed *c = probe->of;
    struct kubelet_pod *pod = c->probing->pod;
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

/* The containers behind a sidecar wait for that. */
static void tell_passed(const struct probed *c)
{
    const struct kubelet_pod *pod = c->probing->pod;

    if (c->index < pod_spec_of(pod->object)->init_containers.count)
        pod->kubelet->runtime->ops->startup_passed(pod->kubelet->runtime, pod->meta->uid,
                                                   (uint32_t)c->index);
}

static void tried(struct probe *probe, bool passed)
{
    struct probed *c = probe->of;
    bool turned = probe_streak_count(&probe->streak, &probe->rule, passed);

    if (!passed)
        tell_failure(probe);
    if (!turned)
        return;
    if (!passed && probe->use != READINESS_PROBE) {
        end_container(probe);
    } else if (passed && probe->use == STARTUP_PROBE) {
        cancel(probe);
        begin_rest(c);
        tell_passed(c);
    }
    tell_again(c->probing);
}

void kubelet_exec_done(void *ctx, const struct runtime_exec_result *executed)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod;

    HASH_FIND(hh, k->pods, executed->uid, strlen(executed->uid), pod);
    for (size_t i = 0; pod && pod->probing && i < pod->probing->n; i++)
        for (enum handler_use use = 0; use < PROBES_N; use++) {
            struct probe *probe = &pod->probing->containers[i].probes[use];

            if (!probe->exec_id || probe->exec_id != executed->id)
                continue;
            probe->exec_id = 0;
            snprintf(probe->why, sizeof probe->why, "%s ended with %d: %.200s",
                     probe->handler.argv[0], executed->code, executed->text);
            tried(probe, executed->code == 0);
            return;
        }
}

/* ---- a pod's probes ---- */

static bool any_probe(const struct pod_container *c)
{
    return c->startup || c->liveness || c->readiness;
}

static const struct pod_container *spec_at(const struct pod_spec *spec, size_t index)
{
    return index < spec->init_containers.count
               ? &spec->init_containers.items[index]
               : &spec->containers.items[index - spec->init_containers.count];
}

static size_t count_probed(const struct pod_spec *spec)
{
    size_t n = 0;

    for (size_t i = 0; i < spec->init_containers.count; i++)
        n += any_probe(&spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count; i++)
        n += any_probe(&spec->containers.items[i]);
    return n;
}

static void fill(struct probed *c, struct probing *probing, const struct pod_spec *spec,
                 size_t index)
{
    *c = (struct probed){.probing = probing, .spec = spec_at(spec, index), .index = index};
    for (enum handler_use use = 0; use < PROBES_N; use++) {
        struct probe *probe = &c->probes[use];
        const json_t *doc = handler_doc(c->spec, use);

        probe->of = c;
        probe->use = use;
        probe->rule = probe_rule_of(doc);
        probe->next.fire = try_now;
        probe->attempt.done = attempt_done;
        handler_read(c->spec, doc, probing->arena, &probe->handler,
                     NULL); /* handlers_check has been */
    }
}

static struct probing *probing_new(struct kubelet_pod *pod, size_t n)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    struct probing *probing = mem_alloc(sizeof *probing + n * sizeof probing->containers[0]);

    probing->pod = pod;
    probing->arena = arena_new(0);
    for (size_t i = 0; i < spec->init_containers.count + spec->containers.count; i++)
        if (any_probe(spec_at(spec, i)))
            fill(&probing->containers[probing->n++], probing, spec, i);
    return probing;
}

void kubelet_probe_end(struct kubelet_pod *pod)
{
    struct probing *probing = take(pod->probing);

    if (!probing)
        return;
    for (size_t i = 0; i < probing->n; i++)
        end(&probing->containers[i]);
    blob_unref(probing->last);
    arena_free(probing->arena);
    mem_free(probing);
}

void kubelet_probe_told(struct kubelet_pod *pod, struct blob *status)
{
    struct blob *before = pod->probing->last;

    pod->probing->last = blob_ref(status);
    blob_unref(before);
}

/* Another run. What an earlier life of ours knew of this very run still holds. */
static void run_began(struct probed *c, const struct container_status *status)
{
    const struct pod_status *known = pod_status_of(c->probing->pod->object);
    const struct container_status *before = NULL;
    size_t n_init = known->init_containers.count;

    if (c->index < n_init)
        before = &known->init_containers.items[c->index];
    else if (c->index - n_init < known->containers.count)
        before = &known->containers.items[c->index - n_init];
    if (before && (before->state != CONTAINER_RUNNING ||
                   before->restart_count != status->restart_count || before->starting_up))
        before = NULL;

    end(c);
    c->runs = true;
    c->run = status->restart_count;
    c->started_ms = status->started_ms;
    for (enum handler_use use = 0; use < PROBES_N; use++)
        c->probes[use].streak = (struct probe_streak){.good = use == LIVENESS_PROBE || before};
    c->probes[READINESS_PROBE].streak.good = before && before->ready;
    if (!has_started(c)) {
        begin(c, STARTUP_PROBE);
        return;
    }
    begin_rest(c);
    if (has(c, STARTUP_PROBE))
        tell_passed(c); /* whether the shim was told before we were restarted nobody knows */
}

static void see_container(struct probed *c, struct container_status *status)
{
    bool runs = status->state == CONTAINER_RUNNING;

    if (!runs && c->runs)
        end(c);
    else if (runs && (!c->runs || c->run != status->restart_count))
        run_began(c, status);
    if (!runs)
        return;
    status->ready = is_ready(c);
    status->starting_up = !has_started(c);
}

static bool any_runs(const struct pod_status *status)
{
    bool runs = status->phase == POD_RUNNING;

    for (size_t i = 0; i < status->init_containers.count; i++)
        runs = runs || status->init_containers.items[i].state == CONTAINER_RUNNING;
    return runs;
}

void kubelet_probe(struct kubelet_pod *pod, struct pod_status *status)
{
    size_t n_init = status->init_containers.count;

    if (!pod->probing && !pod->kubelet->options.volumes.sim && any_runs(status)) {
        size_t n = count_probed(pod_spec_of(pod->object));

        if (n)
            pod->probing = probing_new(pod, n);
    }
    if (!pod->probing)
        return;
    pod->probing->all_run = status->ready;
    for (size_t i = 0; i < pod->probing->n; i++) {
        struct probed *c = &pod->probing->containers[i];

        if (c->index < n_init)
            see_container(c, &status->init_containers.items[c->index]);
        else if (c->index - n_init < status->containers.count)
            see_container(c, &status->containers.items[c->index - n_init]);
    }
    for (size_t i = 0; i < status->containers.count; i++)
        status->ready = status->ready && status->containers.items[i].ready;
}
