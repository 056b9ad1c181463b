/*
 * Polls one pod for one requirement: waits for its turn, makes an attempt, waits for the period,
 * and begins again until an attempt passes.
 */
#include "base/log.h"
#include "probes/internal.h"

enum { PERIOD_FAST_S = 1, PERIOD_SLOW_S = 5, PERIOD_MAX_S = 30, FAST_ATTEMPTS = 60 };

static const struct probe_entry *entry_of(const struct probe_poll *poll)
{
    return &poll->target->requirements.items[poll->requirement].entry;
}

void probe_poll_cancel(struct probe_poll *poll)
{
    struct probes *probes = poll->target->probes;

    timer_stop(probes->cluster->loop, &poll->again);
    probe_kinds[entry_of(poll)->kind].cancel(&poll->attempt);
    probe_queue_remove(&probes->queue, poll->target->group, poll);
    mem_free(poll);
}

/* Returns the period of the entry, or the default, varied at random by up to 10 %. */
static int64_t period_ms(const struct probe_poll *poll)
{
    int32_t asked_s = entry_of(poll)->period_s;
    int64_t seconds = poll->attempts < FAST_ATTEMPTS ? PERIOD_FAST_S : PERIOD_SLOW_S;
    struct clock *clock = loop_clock(poll->target->probes->cluster->loop);
    int64_t ms;

    if (asked_s >= 1)
        seconds = asked_s > PERIOD_MAX_S ? PERIOD_MAX_S : asked_s;
    ms = seconds * 1000;
    return ms - ms / 10 + (int64_t)(clock_random(clock) % (uint64_t)(ms / 5 + 1));
}

static void on_period(struct timer *timer)
{
    struct probe_poll *poll = container_of(timer, struct probe_poll, again);
    struct probes *probes = poll->target->probes;

    probe_queue_add(&probes->queue, poll->target->group, poll);
    probes_start_waiting(probes);
}

struct probe_poll *probe_poll_new(struct probe_pod *pod, uint32_t requirement)
{
    struct probe_poll *poll = mem_alloc(sizeof *poll);

    poll->target = pod->target;
    poll->pod = pod;
    poll->requirement = requirement;
    poll->again.fire = on_period;
    probe_queue_add(&pod->target->probes->queue, pod->target->group, poll);
    return poll;
}

/* Ends an attempt. One that passed ends the poll, which is freed. */
static void attempt_ended(struct probe_poll *poll, bool passed)
{
    struct probe_target *target = poll->target;
    struct probes *probes = target->probes;

    probe_queue_remove(&probes->queue, target->group, poll);
    probes_count(probes, entry_of(poll)->kind, passed);
    if (!passed) {
        poll->attempts++;
        timer_start(probes->cluster->loop, &poll->again, period_ms(poll));
        return;
    }
    probe_pod_set_passing(poll->pod, poll->requirement, true);
    poll->pod->polls[poll->requirement] = NULL;
    mem_free(poll);
    probe_target_evaluate(target);
}

static void on_done(struct probe_attempt *attempt, bool passed)
{
    struct probe_poll *poll = container_of(attempt, struct probe_poll, attempt);
    struct probes *probes = poll->target->probes;

    attempt_ended(poll, passed);
    probes_start_waiting(probes);
}

static bool start(struct probe_poll *poll)
{
    struct probes *probes = poll->target->probes;
    const struct probe_entry *entry = entry_of(poll);
    struct probe_address address;
    struct error err = {0};

    if (!probe_address_of(poll->pod->ip, entry->port, probes->refused, &address, &err)) {
        log_warn("probe refused", kv_str("job", object_name(poll->target->job)),
                 kv_str("field", err.field), kv_str("reason", err.message));
        return false;
    }
    address.sockets = probes->sockets;
    poll->attempt.done = on_done;
    return probe_kinds[entry->kind].start(&probes->io, &poll->attempt, entry->spec, &address);
}

void probes_start_waiting(struct probes *probes)
{
    struct probe_group *group;
    struct probe_poll *poll;

    while ((poll = probe_queue_next(&probes->queue, &group)))
        if (!start(poll))
            attempt_ended(poll, false);
}
