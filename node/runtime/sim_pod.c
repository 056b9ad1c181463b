/*
 * The life of a simulated pod: init containers, containers and sidecars in their order, restarts,
 * the deadline, and what is reported of them. They act as they do on a real node.
 */
#include <string.h>

#include "base/mem.h"
#include "node/runtime/sim_internal.h"

enum {
    BACKOFF_FIRST_MS = 10000, /* back-off before a restart as in the kubelet: doubled, at most five
                               * minutes */
    BACKOFF_LAST_MS = 300000,
    EXIT_TERM = 143, /* exit code after SIGTERM: 128 + its number */
};

/* Returns how much time of the loop's clock `ns` of a pod take. A time that is not 0 never becomes
 * 0. */
static int64_t clock_ns(const struct sim *sim, int64_t ns)
{
    return ns > 0 && ns < sim->speed ? 1 : ns / sim->speed;
}

static const char *policy_of(const struct sim_pod *pod)
{
    return pod->spec->restart_policy ? pod->spec->restart_policy : "Always";
}

static bool is_sidecar(const struct sim_container *c)
{
    return c->spec->restart_policy && strcmp(c->spec->restart_policy, "Always") == 0 &&
           c < c->pod->containers + c->pod->n_init;
}

static bool all_done(const struct sim_pod *pod)
{
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (!pod->containers[i].done)
            return false;
    return true;
}

bool sim_pod_is_final(const struct sim_pod *pod)
{
    return pod->state >= SIM_FINAL;
}

static enum pod_phase phase_of(const struct sim_pod *pod)
{
    if (pod->failed)
        return POD_FAILED;
    if (!sim_pod_is_final(pod))
        return pod->init_at < pod->n_init ? POD_PENDING : POD_RUNNING;
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].exit_code)
            return POD_FAILED;
    return POD_SUCCEEDED;
}

static void send_report(struct sim_pod *pod)
{
    struct runtime_report report = {.uid = pod->uid, .final = sim_pod_is_final(pod)};
    struct pod_status *status = &report.status;

    status->phase = phase_of(pod);
    status->reason = pod->reason;
    if (!pod->object)
        status->message = "the simulated runtime does not know this pod";
    status->initialized = pod->init_at == pod->n_init;
    status->ready = status->phase == POD_RUNNING;
    status->init_containers.items = pod->statuses;
    status->init_containers.count = pod->n_init;
    status->containers.items = pod->statuses + pod->n_init;
    status->containers.count = pod->n_containers;
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        status->ready = status->ready && pod->statuses[i].ready;
    pod->sim->rt.report(pod->sim->rt.ctx, &report);
}

static void advance(struct sim_pod *pod);

static void end_run(struct sim_container *c, int code, const char *reason, const char *message)
{
    struct container_status *status = c->status;

    timer_stop(c->pod->sim->rt.loop, &c->timer);
    status->state = CONTAINER_TERMINATED;
    status->ready = false;
    status->exit_code = code;
    status->signal = code == EXIT_TERM ? code - 128 : 0;
    status->reason = reason ? reason : code ? "Error" : "Completed";
    status->finished_ms = loop_wall_ms(c->pod->sim->rt.loop);
    status->message = message;
}

static bool runs_again(const struct sim_container *c)
{
    const char *policy = policy_of(c->pod);
    bool is_init = c < c->pod->containers + c->pod->n_init;

    if (is_sidecar(c))
        return true;
    if (c->status->exit_code)
        return strcmp(policy, "Never") != 0;
    return !is_init && strcmp(policy, "Always") == 0;
}

static void back_off(struct sim_container *c)
{
    struct container_status *status = c->status;

    status->has_last = true;
    status->last_exit_code = status->exit_code;
    status->last_signal = status->signal;
    status->last_reason = status->reason;
    status->state = CONTAINER_WAITING;
    status->reason = "CrashLoopBackOff";
    c->backoff_ms = c->backoff_ms ? c->backoff_ms * 2 : BACKOFF_FIRST_MS;
    if (c->backoff_ms > BACKOFF_LAST_MS)
        c->backoff_ms = BACKOFF_LAST_MS;
    timer_start_ns(c->pod->sim->rt.loop, &c->timer, clock_ns(c->pod->sim, c->backoff_ms * 1000000));
}

static void run_ended(struct sim_container *c)
{
    const char *message = sim_termination_message(c);

    end_run(c, sim_take_exit_code(c), NULL, message);
    if (runs_again(c))
        back_off(c);
    else
        c->done = true;
}

static void run(struct sim_container *c)
{
    struct loop *loop = c->pod->sim->rt.loop;
    int64_t ns = clock_ns(c->pod->sim, sim_run_ns(c));

    c->status->state = CONTAINER_RUNNING;
    c->status->reason = NULL;
    c->status->ready = true;
    c->status->exit_code = c->status->signal = 0;
    c->status->message = NULL;
    c->status->started_ms = loop_wall_ms(loop);
    c->status->finished_ms = 0;
    if (ns > 0)
        timer_start_ns(loop, &c->timer, ns);
    else
        run_ended(c);
}

static void timer_fired(struct timer *timer)
{
    struct sim_container *c = container_of(timer, struct sim_container, timer);

    if (c->status->state == CONTAINER_RUNNING) {
        run_ended(c);
    } else {
        c->status->restart_count++;
        run(c);
    }
    advance(c->pod);
}

static void finish(struct sim_pod *pod, int code)
{
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++) {
        struct sim_container *c = &pod->containers[i];

        if (c->status->state == CONTAINER_RUNNING)
            end_run(c, is_sidecar(c) ? 0 : code, pod->reason, NULL);
        timer_stop(pod->sim->rt.loop, &c->timer);
        c->done = true;
    }
    timer_stop(pod->sim->rt.loop, &pod->deadline);
    pod->state = SIM_FINAL;
}

static bool start_next(struct sim_pod *pod)
{
    struct sim_container *c = &pod->containers[pod->init_at];

    if (pod->init_at < pod->n_init) {
        if (c->status->state == CONTAINER_WAITING && !timer_armed(&c->timer))
            run(c);
        if (c->done && c->status->exit_code) {
            pod->failed = true;
            finish(pod, 0);
            return false;
        }
        if (!c->done && !is_sidecar(c))
            return false;
        pod->init_at++;
        return true;
    }
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].state == CONTAINER_WAITING && !timer_armed(&pod->containers[i].timer))
            run(&pod->containers[i]);
    return false;
}

/* Starts and ends everything of the pod that is due now, and reports the result. */
static void advance(struct sim_pod *pod)
{
    while (start_next(pod))
        ;
    if (!sim_pod_is_final(pod) && pod->init_at == pod->n_init && all_done(pod))
        finish(pod, 0);
    send_report(pod);
}

static void deadline_passed(struct timer *timer)
{
    struct sim_pod *pod = container_of(timer, struct sim_pod, deadline);

    pod->failed = true;
    pod->reason = "DeadlineExceeded";
    finish(pod, EXIT_TERM);
    send_report(pod);
}

void sim_pod_set_deadline(struct sim_pod *pod, int64_t deadline_ms)
{
    struct loop *loop = pod->sim->rt.loop;

    pod->deadline_ms = deadline_ms;
    pod->deadline.fire = deadline_passed;
    timer_stop(loop, &pod->deadline);
    if (deadline_ms && pod->state == SIM_RUNNING)
        timer_start_ns(loop, &pod->deadline,
                       clock_ns(pod->sim, deadline_ms * 1000000) -
                           (loop_mono_ns(loop) - pod->begun_ns));
}

void sim_pod_begin(struct sim_pod *pod)
{
    pod->state = SIM_RUNNING;
    pod->begun_ns = loop_mono_ns(pod->sim->rt.loop);
    sim_pod_set_deadline(pod, pod->deadline_ms);
    advance(pod);
}

void sim_pod_stop(struct sim_pod *pod)
{
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].state == CONTAINER_WAITING)
            pod->failed = true;
    finish(pod, EXIT_TERM);
    send_report(pod);
}

void sim_container_init(struct sim_container *container)
{
    container->timer.fire = timer_fired;
}
