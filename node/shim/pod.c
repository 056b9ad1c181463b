/*
 * One pod in its shim: carries out what pod_decide says, keeps deadlines, ends the pod.
 */
#include "node/shim/pod.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "node/sandbox/cgroup/pss.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/sandbox/spawn.h"
#include "node/shim/shim.h"

enum {
    NS_PER_MS = 1000000,
    VOLUME_CHECK_MS = 1000,
    VOLUME_CHECK_SHARE = 20, /* a measurement may take at most this fraction of the time, a
                              * twentieth */
};

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_real());
}

static void status_delay_over(struct alarm *alarm)
{
    struct pod *pod = container_of(alarm, struct pod, status_delay);

    pod->status_changed = true;
    pod_wake(pod);
}

static void pod_end(struct pod *pod, int64_t grace_ms);

static void deadline_passed(struct alarm *alarm)
{
    struct pod *pod = container_of(alarm, struct pod, deadline);

    if (pod->life != LIFE_ACTIVE)
        return;
    pod->reason = "DeadlineExceeded";
    pod->message = "Pod was active on the node longer than the specified deadline";
    pod_end(pod, pod->spec.grace_ms);
}

static void kill_now(struct alarm *alarm)
{
    struct pod *pod = container_of(alarm, struct pod, kill);

    for (unsigned i = 0; i < pod->n_containers; i++)
        if (pod->containers[i].pid)
            container_signal(&pod->containers[i], SIGKILL);
    reap_kill_orphans(pod->shim, pod);
}

/* Measures the volumes of a pod. That may be slow, so the pause until the next time grows with the
 * time it took. */
static void check_volumes(struct alarm *alarm)
{
    struct pod *pod = container_of(alarm, struct pod, volume_check);
    int64_t begun_ns = clock_mono_ns(clock_real()), took_ns;
    const struct shim_volume *full;

    if (pod->life != LIFE_ACTIVE || !pod->shim->sandbox)
        return;
    full = volumes_overfull(&pod->shim->sandbox->dirs, &pod->spec);
    took_ns = clock_mono_ns(clock_real()) - begun_ns;
    if (!full) {
        alarm_set(&pod->shim->reactor, alarm,
                  VOLUME_CHECK_MS * (int64_t)NS_PER_MS + took_ns * VOLUME_CHECK_SHARE);
        return;
    }
    pod->reason = "Evicted";
    pod->owned_message =
        mem_printf("Usage of EmptyDir volume \"%s\" exceeds the limit of %lld bytes.", full->name,
                   (long long)full->size_bytes);
    pod_end(pod, 0);
}

/* Kills the largest container, as the kernel would, if all together have too much. */
static void check_memory(struct alarm *alarm)
{
    struct pod *pod = container_of(alarm, struct pod, memory_check);
    struct container *largest = NULL;
    int64_t sum = 0, most = -1;

    for (unsigned i = 0; i < pod->n_containers; i++) {
        struct container *c = &pod->containers[i];
        int64_t bytes = c->pid ? pss_of_tree(c->pid) : -1;

        sum += bytes > 0 ? bytes : 0;
        if (bytes > most) {
            most = bytes;
            largest = c;
        }
    }
    if (largest && sum > pod->spec.limits.memory_bytes) {
        largest->over_memory = true;
        container_signal(largest, SIGKILL);
    }
    pod_watch_memory(pod);
}

void pod_watch_memory(struct pod *pod)
{
    const struct pod_sandbox *sandbox = pod->shim->sandbox;

    if (pod->spec.limits.memory_bytes > 0 && pod->n_containers > 1 && pod->n_running &&
        !alarm_is_set(&pod->memory_check) && !(sandbox && pod_sandbox_limits_pod_memory(sandbox)))
        alarm_set(&pod->shim->reactor, &pod->memory_check, MEMORY_CHECK_MS * (int64_t)NS_PER_MS);
}

struct pod *pod_new(struct shim *shim, const struct frame *frame)
{
    size_t len = (size_t)(frame->fields.end - frame->fields.at);
    struct arena *arena = arena_new(len + 1024);
    char *bytes = arena_alloc(arena, len + 1);
    struct frame_reader fields = {bytes, bytes + len, false};
    struct shim_pod spec;
    unsigned n;

    memcpy(bytes, frame->fields.at, len);
    if (!shim_get_start(&fields, arena, &spec)) {
        arena_free(arena);
        return NULL;
    }
    n = spec.n_init + spec.n_main;

    struct container_status *statuses = arena_array(arena, n, sizeof *statuses);
    struct pod *pod = mem_alloc(sizeof *pod + n * sizeof pod->containers[0]);

    pod->shim = shim;
    pod->arena = arena;
    pod->spec = spec;
    pod->n_containers = n;
    pod->status_delay.ring = status_delay_over;
    pod->deadline.ring = deadline_passed;
    pod->kill.ring = kill_now;
    pod->volume_check.ring = check_volumes;
    pod->memory_check.ring = check_memory;
    pod->status.init_containers.items = statuses;
    pod->status.init_containers.count = spec.n_init;
    pod->status.containers.items = statuses + spec.n_init;
    pod->status.containers.count = spec.n_main;
    pod->status.start_ms = spec.start_ms;
    for (unsigned i = 0; i < n; i++)
        container_init(pod, i);
    shim->n_unfinished++;
    return pod;
}

static void clear_alarms(struct pod *pod)
{
    struct reactor *reactor = &pod->shim->reactor;

    alarm_clear(reactor, &pod->status_delay);
    alarm_clear(reactor, &pod->deadline);
    alarm_clear(reactor, &pod->kill);
    alarm_clear(reactor, &pod->volume_check);
    alarm_clear(reactor, &pod->memory_check);
}

void pod_free(struct pod *pod)
{
    clear_alarms(pod);
    for (unsigned i = 0; i < pod->n_containers; i++)
        container_release(&pod->containers[i]);
    mem_free(pod->owned_message);
    if (pod->life != LIFE_FINAL)
        pod->shim->n_unfinished--;
    arena_free(pod->arena);
    mem_free(pod);
}

void pod_adopt(struct pod *pod, struct shim *shim)
{
    struct alarm *const alarms[] = {&pod->status_delay, &pod->deadline, &pod->kill,
                                    &pod->volume_check, &pod->memory_check};

    for (size_t i = 0; i < countof(alarms); i++)
        alarms[i]->row.position = 0; /* the alarms are still in the reactor of the shared shim if
                                      * they were set */
    pod->shim = shim;
    if (pod->listing != LISTED_NOWHERE) /* the list belongs to the shared shim */
        pod_listing_set(&pod->listing, LISTED_NOWHERE);
    HASH_ADD_KEYPTR(by_uid, shim->pods, pod->spec.uid, strlen(pod->spec.uid), pod);
    shim->n_unfinished++;
    pod_wake(pod);
}

void pod_wake(struct pod *pod)
{
    if (pod->listing != LISTED_NOWHERE)
        return;
    pod_listing_set(&pod->listing, LISTED_DUE);
    pod->next_due = pod->shim->due;
    pod->shim->due = pod;
}

static struct decide_pod view_of(const struct pod *pod, struct decide_container *views)
{
    for (unsigned i = 0; i < pod->n_containers; i++) {
        const struct container *c = &pod->containers[i];

        views[i] = (struct decide_container){
            .state = c->status->state,
            .sidecar = c->spec->sidecar,
            .in_backoff = alarm_is_set(&c->restart),
            .starting = container_run_starting(c->run),
            .startup_pending = c->spec->has_startup_probe && !c->startup_passed,
            .exit_code = c->status->exit_code,
        };
    }
    return (struct decide_pod){views, pod->spec.n_init, pod->spec.n_main, pod->spec.restart};
}

struct shim_status pod_status_now(struct pod *pod)
{
    struct decide_container views[SHIM_CONTAINERS_MAX];
    struct decide_pod view = view_of(pod, views);
    struct pod_status *status = &pod->status;
    bool final = pod->life == LIFE_FINAL;

    status->phase = pod->reason && final ? POD_FAILED : pod_phase_of(&view, final);
    status->reason = pod->reason;
    status->message = pod->owned_message ? pod->owned_message : pod->message;
    status->initialized = pod_initialized(&view);
    status->ready = pod->life == LIFE_ACTIVE && pod->n_running >= pod->spec.n_main;
    for (unsigned i = 0; i < pod->n_containers; i++) {
        struct container_status *c = pod->containers[i].status;

        c->message = pod->containers[i].message;
        c->ready = i < pod->spec.n_init && !pod->containers[i].spec->sidecar
                       ? c->state == CONTAINER_TERMINATED && !c->exit_code
                       : c->state == CONTAINER_RUNNING;
        status->ready = status->ready && (i < pod->spec.n_init || c->ready);
    }
    return (struct shim_status){
        .uid = pod->spec.uid, .final = final, .stopped = pod->stopped, .status = *status};
}

static bool pod_quiet(const struct pod *pod)
{
    return !pod->n_running && !pod->n_orphans && !pod->n_outputs && !pod->n_exec_helpers;
}

static void pod_finish(struct pod *pod)
{
    clear_alarms(pod);
    pod_life_set(&pod->life, LIFE_FINAL);
    pod->status_changed = true;
    pod->shim->n_unfinished--;
}

static void pod_end(struct pod *pod, int64_t grace_ms)
{
    struct reactor *reactor = &pod->shim->reactor;
    int64_t due_ns = clock_mono_ns(clock_real()) + grace_ms * NS_PER_MS;

    for (unsigned i = 0; i < pod->n_containers && pod->life == LIFE_ACTIVE; i++) {
        struct container *c = &pod->containers[i];

        container_terminate(c, grace_ms);
        /* The container will not run again: its last end is the final one. */
        if (alarm_is_set(&c->restart)) {
            alarm_clear(reactor, &c->restart);
            c->status->state = CONTAINER_TERMINATED;
            c->status->reason = c->status->last_reason;
            c->status->has_last = c->status->restart_count > 0;
        }
    }
    if (pod->life == LIFE_ACTIVE)
        pod_life_set(&pod->life, LIFE_ENDING);
    if (grace_ms <= 0)
        kill_now(&pod->kill);
    else if (!alarm_is_set(&pod->kill) || pod->kill.due_ns > due_ns)
        alarm_set(reactor, &pod->kill, grace_ms * NS_PER_MS);
    pod_wake(pod);
}

void pod_stop(struct pod *pod, int64_t grace_ms)
{
    if (pod->life != LIFE_FINAL)
        pod_end(pod, grace_ms);
}

void pod_refuse(struct pod *pod, const char *reason, const char *message)
{
    for (unsigned i = 0; i < pod->n_containers; i++)
        if (pod->containers[i].status->state == CONTAINER_WAITING)
            pod->containers[i].status->reason = reason;
    pod->reason = reason;
    pod->message = message;
    if (pod->life == LIFE_ACTIVE)
        pod_life_set(&pod->life, LIFE_ENDING);
    pod_wake(pod);
}

static void pod_arm_deadline(struct pod *pod)
{
    int64_t left_ms;

    if (!pod->spec.deadline_ms || alarm_is_set(&pod->deadline))
        return;
    left_ms = pod->spec.start_ms + pod->spec.deadline_ms - now_ms();
    if (left_ms > pod->spec.deadline_ms)
        left_ms = pod->spec.deadline_ms; /* the wall clock was set back */
    alarm_set(&pod->shim->reactor, &pod->deadline, (left_ms > 0 ? left_ms : 0) * NS_PER_MS);
}

void pod_set_deadline(struct pod *pod, int64_t deadline_ms)
{
    pod->spec.deadline_ms = deadline_ms;
    alarm_clear(&pod->shim->reactor, &pod->deadline);
    if (pod->life == LIFE_ACTIVE)
        pod_arm_deadline(pod);
}

void pod_step(struct pod *pod)
{
    struct decide_container views[SHIM_CONTAINERS_MAX];

    if (pod->life == LIFE_ACTIVE)
        pod_arm_deadline(pod);
    while (pod->life == LIFE_ACTIVE) {
        struct decide_pod view = view_of(pod, views);
        struct decide_next next = pod_decide(&view);

        if (next.what == DECIDE_WAIT)
            break;
        if (pod->spec.kind == SHIM_POD_SANDBOXED && !pod->shim->sandbox && !sandboxed_open(pod))
            break;
        if (next.what == DECIDE_START)
            container_start(&pod->containers[next.container]);
        else
            pod_end(pod, pod->spec.grace_ms);
    }
    if (pod->life == LIFE_ENDING && pod_quiet(pod))
        pod_finish(pod);
}
