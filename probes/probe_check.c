/*
 * One poll of one pod: its turn, its tries, and the time between them.
 */
#include "base/log.h"
#include "probes/probe_impl.h"

enum { PERIOD_FAST_S = 1, PERIOD_SLOW_S = 5, PERIOD_MAX_S = 30, FAST_TRIES = 60 };

void probe_check_cancel(struct probe_check *check)
{
    struct probes *probes = check->target->probes;

    timer_stop(probes->cluster->loop, &check->again);
    if (check->target->needs.items[check->need].kind == PROBE_HTTP)
        probe_http_cancel(&check->attempt);
    else
        probe_tcp_cancel(&check->attempt);
    probe_turns_leave(&probes->turns, check->target->group, check);
    mem_free(check);
}

static int64_t period_ms(const struct probe_check *check)
{
    const struct probe_need *need = &check->target->needs.items[check->need];
    int32_t asked = need->http ? need->http->period_s : need->tcp->period_s;
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
    struct probe_check *check = container_of(timer, struct probe_check, again);
    struct probes *probes = check->target->probes;

    probe_turns_wait(&probes->turns, check->target->group, check);
    probes_fly(probes);
}

struct probe_check *probe_check_new(struct probe_pod *pod, uint32_t need)
{
    struct probe_check *check = mem_alloc(sizeof *check);

    check->target = pod->target;
    check->pod = pod;
    check->need = need;
    check->again.fire = again;
    probe_turns_wait(&pod->target->probes->turns, pod->target->group, check);
    return check;
}

static void answered(struct probe_check *check, bool passed)
{
    struct probe_target *target = check->target;
    struct probes *probes = target->probes;
    enum probe_kind kind = target->needs.items[check->need].kind;

    probe_turns_leave(&probes->turns, target->group, check);
    probes_count(probes, kind, passed);
    if (!passed) {
        check->tries++;
        timer_start(probes->cluster->loop, &check->again, period_ms(check));
        return;
    }
    probe_pod_set_passing(check->pod, check->need, true);
    check->pod->checks[check->need] = NULL;
    mem_free(check);
    probe_target_judge(target);
}

static void on_done(struct probe_try *attempt, bool passed)
{
    struct probe_check *check = container_of(attempt, struct probe_check, attempt);
    struct probes *probes = check->target->probes;

    answered(check, passed);
    probes_fly(probes);
}

static bool start(struct probe_check *check)
{
    struct probes *probes = check->target->probes;
    const struct probe_need *need = &check->target->needs.items[check->need];
    int32_t port = need->http ? (need->http->port ? need->http->port : 80) : need->tcp->port;
    struct probe_address address;
    struct error err = {0};

    if (!probe_address_of(check->pod->ip, port, probes->refused, &address, &err)) {
        log_warn("probe refused", kv_str("job", object_name(check->target->job)),
                 kv_str("field", err.field), kv_str("reason", err.message));
        return false;
    }
    address.sockets = probes->sockets;
    check->attempt.done = on_done;
    if (need->kind == PROBE_TCP)
        return probe_tcp_start(probes->cluster->loop, &check->attempt, need->tcp, &address);
    if (!probes->http)
        probes->http = probe_http_client_new(probes->cluster->loop);
    return probe_http_start(probes->http, &check->attempt, need->http, &address);
}

void probes_fly(struct probes *probes)
{
    struct probe_group *group;
    struct probe_check *check;

    while ((check = probe_turns_next(&probes->turns, &group)))
        if (!start(check))
            answered(check, false);
}
