/*
 * The contents of pod statuses.
 *
 * When thousands of plain pods start in a second, their statuses are equal: those of intents, and
 * under the simulated runtime also the final ones. The last plain status of each phase is therefore
 * kept as encoded text and shared by the next pod with equal contents.
 */
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

static bool is_final(enum pod_phase phase)
{
    return phase == POD_SUCCEEDED || phase == POD_FAILED;
}

static struct pod_status base_status(struct kubelet_pod *pod, enum pod_phase phase)
{
    return (struct pod_status){
        .phase = phase,
        .pod_ip = pod->address_text,
        .host_ip = HOST_IP,
        .start_ms = pod->start_ms,
        .scheduled = true,
        .scheduled_ms = pod->scheduled_ms,
        .qos_class = pod->qos,
    };
}

/* Returns the wall time cut to seconds, as status.startTime is stored. */
static int64_t this_second(const struct kubelet *k)
{
    return loop_wall_ms(k->cluster->loop) / 1000 * 1000;
}

static bool add_text(struct plain_status *key, size_t *at, const char *text)
{
    size_t len = text ? strlen(text) + 1 : 1;

    if (*at + len > sizeof key->texts)
        return false;
    memcpy(key->texts + *at, text ? text : "", len);
    *at += len;
    return true;
}

/* Fills the key of a status. Returns false when the status contains something that the key does
 * not. */
static bool plain_key(const struct pod_status *status, struct plain_status *key)
{
    static const struct container_status none;
    const struct container_status *c =
        status->containers.count ? &status->containers.items[0] : &none;
    size_t at = 0;

    if (*status->pod_ip || status->reason || status->message || status->limits_note ||
        status->init_containers.count || status->containers.count > 1 || c->message ||
        c->has_last || c->starting_up || c->devices)
        return false;
    *key = (struct plain_status){
        .numbers = {status->phase, status->start_ms, status->scheduled_ms, status->ready_ms,
                    status->initialized << 1 | status->ready,
                    (int64_t)status->containers.count << 8 | c->state, c->exit_code, c->signal,
                    c->started_ms, c->finished_ms, (int64_t)c->restart_count << 1 | c->ready,
                    c->cpu_ms, c->memory_peak_bytes}};
    return add_text(key, &at, status->qos_class) && add_text(key, &at, c->name) &&
           add_text(key, &at, c->image) && add_text(key, &at, c->reason);
}

static void write_status(struct kubelet_pod *pod, const struct pod_status *status)
{
    struct shared_status *shared = &pod->kubelet->shared[status->phase];
    struct plain_status key;

    if (pod->probes) {
        struct blob *blob = pod_status_blob(status);

        kubelet_probes_status_written(pod, blob);
        kubelet_write(pod, blob);
        return;
    }

    if (!plain_key(status, &key)) {
        kubelet_write(pod, pod_status_blob(status));
        return;
    }
    if (!shared->blob || memcmp(&shared->key, &key, sizeof key) != 0) {
        blob_unref(shared->blob);
        shared->key = key;
        shared->blob = pod_status_blob(status);
    }
    kubelet_write(pod, blob_ref(shared->blob));
}

void kubelet_write_intent(struct kubelet_pod *pod)
{
    struct pod_status status;

    pod->start_ms = pod->scheduled_ms = this_second(pod->kubelet);
    status = base_status(pod, POD_PENDING);
    write_status(pod, &status);
}

static struct container_status *waiting_containers(const struct pod_container *containers, size_t n,
                                                   enum container_state state, const char *reason,
                                                   const char *message)
{
    struct container_status *items = mem_array(n + 1, sizeof *items);

    for (size_t i = 0; i < n; i++)
        items[i] = (struct container_status){
            .name = containers[i].name,
            .image = containers[i].image,
            .state = state,
            .reason = reason,
            .message = message,
            .exit_code = state == CONTAINER_TERMINATED ? 137 : 0,
        };
    return items;
}

void kubelet_write_waiting(struct kubelet_pod *pod, const char *reason, const char *message)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    struct pod_status status = base_status(pod, POD_PENDING);
    struct container_status *items = waiting_containers(
        spec->containers.items, spec->containers.count, CONTAINER_WAITING, reason, message);

    status.containers.items = items;
    status.containers.count = spec->containers.count;
    write_status(pod, &status);
    mem_free(items);
}

void kubelet_write_failed(struct kubelet_pod *pod, const char *reason, const char *message)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    struct pod_status status = base_status(pod, POD_FAILED);
    struct container_status *items = NULL;

    /* The pod ran and its end was not observed, so no exit code is reported, above all not 0
     * (P-09). */
    if (pod->phase == POD_RUNNING) {
        items = waiting_containers(spec->containers.items, spec->containers.count,
                                   CONTAINER_TERMINATED, "ContainerStatusUnknown", message);
        status.containers.items = items;
        status.containers.count = spec->containers.count;
    }
    status.reason = reason;
    status.message = message;
    pod->phase = POD_FAILED;
    pod_step_set(&pod->step, STEP_ENDED);
    write_status(pod, &status);
    mem_free(items);
}

/* The runtime does not report images; they come from the spec. */
static void fill_images(const struct pod_status *status, const struct pod_spec *spec)
{
    for (size_t i = 0; i < status->init_containers.count && i < spec->init_containers.count; i++)
        status->init_containers.items[i].image = spec->init_containers.items[i].image;
    for (size_t i = 0; i < status->containers.count && i < spec->containers.count; i++)
        status->containers.items[i].image = spec->containers.items[i].image;
}

static struct container_status *creating(const struct pod_container *containers, size_t n)
{
    return waiting_containers(containers, n, CONTAINER_WAITING, "ContainerCreating", NULL);
}

void kubelet_write_devices(struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    scoped(arena) struct arena *arena = arena_new(0);
    struct pod_status status = base_status(pod, POD_PENDING);

    status.init_containers.count = spec->init_containers.count;
    status.init_containers.items =
        creating(spec->init_containers.items, spec->init_containers.count);
    status.containers.count = spec->containers.count;
    status.containers.items = creating(spec->containers.items, spec->containers.count);
    kubelet_fill_devices(pod, &status, arena);
    write_status(pod, &status);
    mem_free(status.init_containers.items);
    mem_free(status.containers.items);
}

static int rank(enum pod_phase phase)
{
    return is_final(phase) ? 2 : phase == POD_RUNNING;
}

static bool limits(const struct pod_spec *spec, const char *resource)
{
    bool any = pod_amount_text(&spec->limits, resource) != NULL;

    for (size_t i = 0; i < spec->containers.count; i++)
        any = any || pod_amount_text(&spec->containers.items[i].limits, resource);
    return any;
}

/* Returns a note about the pod's limits that the kernel does not enforce (SEC-27); NULL: there are
 * none. */
static const char *limits_note(const struct kubelet_pod *pod)
{
    static const char *const notes[] = {
        NULL,
        "memory: looked at each second, and ended when it is too much",
        "cpu: not enforced here",
        "memory: looked at each second, and ended when it is too much; cpu: not enforced here",
    };
    const struct pod_spec *spec = pod_spec_of(pod->object);
    struct runtime *rt = pod->kubelet->runtime;
    bool memory = limits(spec, "memory"), cpu = limits(spec, "cpu");
    const struct runtime_capabilities *a =
        memory || cpu ? rt->ops->capabilities(rt)
                      : NULL; /* finding out is expensive, so it is done only when it matters */

    return a ? notes[(memory && !a->limits_memory) + 2 * (cpu && !a->limits_cpu)] : NULL;
}

void kubelet_write_report(struct kubelet_pod *pod, const struct pod_status *report)
{
    struct pod_status status = *report;
    struct pod_status base = base_status(pod, report->phase);
    scoped(arena) struct arena *arena = kubelet_has_devices(pod) ? arena_new(0) : NULL;

    if (rank(status.phase) < rank(pod->phase))
        status.phase = pod->phase; /* the phase never goes back (INV-N5) */
    fill_images(&status, pod_spec_of(pod->object));
    kubelet_fill_devices(pod, &status, arena);
    kubelet_probes_update(pod, &status);
    status.pod_ip = base.pod_ip;
    status.host_ip = base.host_ip;
    status.start_ms = base.start_ms;
    status.scheduled = true;
    status.scheduled_ms = base.scheduled_ms;
    status.qos_class = base.qos_class;
    status.limits_note = limits_note(pod);
    status.unschedulable = NULL;
    status.ready = status.phase == POD_RUNNING && status.ready;
    if (!status.ready)
        pod->ready_ms = 0;
    else if (!pod->ready_ms)
        pod->ready_ms = this_second(pod->kubelet);
    status.ready_ms = pod->ready_ms;
    pod->phase = status.phase;
    write_status(pod, &status);
}
