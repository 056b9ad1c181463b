/*
 * One poll of one pod: its turn, its tries, and the time between them.
 */
#include "base/log.h"
#include "probes/internal.h"

enum { PERIOD_FAST_S = 1, PERIOD_SLOW_S = 5, PERIOD_MAX_S = 30, FAST_TRIES = 60 };

void probe_poll_cancel(struct probe_poll *check)
{
    struct probes *probes = check->target->probes;

    timer_stop(probes->cluster->loop, &check->again);
    if (check->target->requirements.items[check->requirement].kind == PROBE_HTTP)
        probe_http_cancel(&check->attempt);
    else
        probe_tcp_cancel(&check->attempt);
    probe_queue_remove(&probes->queue, check->target->group, check);
    mem_free(check);
}

static int64_t period_ms(const struct probe_poll *check)
{
    const struct probe_requirement *requirement =
        &check->target->requirements.items[check->requirement];
    int32_t asked = requirement->http ? requirement->http->period_s : requirement->tcp->period_s;
    int64_t seconds = check->tries < FAST_TRIES ? PERIOD_FAST_S : PERIOD_SLOW_S;
    struct clock *clock = loop_clock(check->target->probes->cluster->loop);
    int64_t ms;

    if (asked >= 1)
        seconds = asked > PERIOD_MAX_S ? PERIOD_MAX_S : asked;
    ms = seconds * 1000;
    return ms - ms / 10 + (int64_t)(clock_random(clock) % (uint64_t)(ms / 5 + 1));
}

static void again(struct timer *timer)
{
    struct probe_poll *check = container_of(timer, struct probe_poll, again);
    struct probes *probes = check->target->probes;

    probe_queue_add(&probes->queue, check->target->group, check);
    probes_start_waiting(probes);
}

struct probe_poll *probe_poll_new(struct probe_pod *pod, uint32_t requirement)
{
    struct probe_poll *check = mem_alloc(sizeof *check);

    check->target = pod->target;
    check->pod = pod;
    check->requirement = requirement;
    check->again.fire = again;
    probe_queue_add(&pod->target->probes->queue, pod->target->group, check);
    return check;
}

static void answered(struct probe_poll *check, bool passed)
{
    struct probe_target *target = check->target;
    struct probes *probes = target->probes;
    enum probe_kind kind = target->requirements.items[check->requirement].kind;

    probe_queue_remove(&probes->queue, target->group, check);
    probes_count(probes, kind, passed);
    if (!passed) {
        check->tries++;
        timer_start(probes->cluster->loop, &check->again, period_ms(check));
        return;
    }
    probe_pod_set_passing(check->pod, check->requirement, true);
    check->pod->checks[check->requirement] = NULL;
    mem_free(check);
    probe_target_evaluate(target);
}

static void on_done(struct probe_attempt *attempt, bool passed)
{
    struct probe_poll *check = container_of(attempt, struct probe_poll, attempt);
    struct probes *probes = check->target->probes;

    answered(check, passed);
    probes_start_waiting(probes);
}

static bool start(struct probe_poll *check)
{
    struct probes *probes = check->target->probes;
    const struct probe_requirement *requirement =
        &check->target->requirements.items[check->requirement];
    int32_t port = requirement->http ? (requirement->http->port ? requirement->http->port : 80)
                                     : requirement->tcp->port;
    struct probe_address address;
    struct error err = {0};

    if (!probe_address_of(check->pod->ip, port, probes->refused, &address, &err)) {
        log_warn("probe refused", kv_str("job", object_name(check->target->job)),
                 kv_str("field", err.field), kv_str("reason", err.message));
        return false;
    }
    address.sockets = probes->sockets;
    check->attempt.done = on_done;
    if (requirement->kind == PROBE_TCP)
        return probe_tcp_start(probes->cluster->loop, &check->attempt, requirement->tcp, &address);
    if (!probes->http)
        probes->http = probe_http_client_new(probes->cluster->loop);
    return probe_http_start(probes->http, &check->attempt, requirement->http, &address);
}

void probes_start_waiting(struct probes *probes)
{
    struct probe_group *group;
    struct probe_poll *check;

    while ((check = probe_queue_next(&probes->queue, &group)))
        if (!start(check))
            answered(check, false);
}
