/*
 * Decides what a pod does next, from the states of its containers alone. The function is pure: it
 * starts and ends nothing.
 */
#include "node/shim/decide.h"

static bool done(const struct decide_container *c)
{
    return c->state == CONTAINER_TERMINATED;
}

static bool startable(const struct decide_container *c)
{
    return c->state == CONTAINER_WAITING && !c->in_backoff && !c->starting;
}

struct decide_next pod_decide(const struct decide_pod *pod)
{
    bool all_done = true;

    for (unsigned i = 0; i < pod->n_init; i++) {
        const struct decide_container *c = &pod->containers[i];

        if (startable(c))
            return (struct decide_next){DECIDE_START, i};
        if (c->sidecar && c->startup_pending)
            return (struct decide_next){DECIDE_WAIT};
        if (c->sidecar)
            continue;
        if (!done(c))
            return (struct decide_next){DECIDE_WAIT};
        if (c->exit_code)
            return (struct decide_next){DECIDE_END};
    }
    for (unsigned i = pod->n_init; i < pod->n_init + pod->n_main; i++) {
        if (startable(&pod->containers[i]))
            return (struct decide_next){DECIDE_START, i};
        all_done = all_done && done(&pod->containers[i]);
    }
    return (struct decide_next){all_done ? DECIDE_END : DECIDE_WAIT};
}

bool pod_restarts(enum shim_restart restart, bool sidecar, bool init, int32_t exit_code)
{
    if (sidecar)
        return true;
    if (restart == RESTART_ALWAYS)
        return !init || exit_code; /* an init container that succeeded does not run again */
    return restart == RESTART_ON_FAILURE && exit_code;
}

bool pod_initialized(const struct decide_pod *pod)
{
    for (unsigned i = 0; i < pod->n_init; i++) {
        const struct decide_container *c = &pod->containers[i];

        if (c->sidecar ? c->startup_pending || (c->state == CONTAINER_WAITING && !c->in_backoff)
                       : !done(c) || c->exit_code)
            return false;
    }
    return true;
}

enum pod_phase pod_phase_of(const struct decide_pod *pod, bool final)
{
    bool succeeded = pod_initialized(pod);

    for (unsigned i = pod->n_init; i < pod->n_init + pod->n_main; i++) {
        const struct decide_container *c = &pod->containers[i];

        if (!final && (startable(c) || c->starting))
            return POD_PENDING;
        succeeded = succeeded && done(c) && !c->exit_code;
    }
    if (final)
        return succeeded ? POD_SUCCEEDED : POD_FAILED;
    return pod_initialized(pod) ? POD_RUNNING : POD_PENDING;
}
