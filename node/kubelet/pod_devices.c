/*
 * The devices of pods. A pod gets its devices when it has its turn, and its capacity with them; their
 * ids are durable in its status before it starts. So the status of a pod that runs names what it has,
 * and the next process reads that before it starts any pod. What a pod had that does not run is
 * forgotten: it never used it. A pod that runs keeps in its status the ids of resources that this
 * process was not told of, because a later one may be. Ref: spec/everyday.md 15.
 */
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

void kubelet_count_extras(struct kubelet_pod *pod, const struct pod_spec *spec)
{
    const struct resource_names *extras = &pod->kubelet->options.extras;

    for (size_t i = 0; i < extras->count; i++)
        pod->need.extra[i] = amount_clamp(pod_spec_request(spec, extras->names[i]));
}

static bool has_ids(const struct kubelet *k, size_t extra)
{
    return k->options.devices &&
           device_list_find(k->options.devices, k->options.extras.names[extra]);
}

static bool concerns(const struct kubelet_pod *pod)
{
    const struct device_pool *devices = pod->kubelet->devices;

    return devices && device_pool_concerns(devices, pod_spec_of(pod->object));
}

bool kubelet_take_devices(struct kubelet_pod *pod)
{
    if (!concerns(pod))
        return false;
    pod->devices = device_pool_take(pod->kubelet->devices, pod_spec_of(pod->object));
    if (!pod->devices) {
        kubelet_write_failed(pod, KUBELET_UNEXPECTED, "the node has too few free devices");
        return true;
    }
    kubelet_take_capacity(pod);
    pod_step_set(&pod->step, STEP_DEVICES);
    kubelet_write_devices(pod);
    return true;
}

static bool has_resource(const struct kubelet *k, const char *name, size_t len)
{
    const struct device_list *devices = k->options.devices;

    for (size_t i = 0; devices && i < devices->resources.count; i++) {
        const char *known = devices->resources.items[i].name;

        if (strlen(known) == len && strncmp(known, name, len) == 0)
            return true;
    }
    return false;
}

/* Appends what a stored text says of resources that the machine does not have now. Returns whether
 * there are any. */
static bool append_unknown(const struct kubelet *k, const char *stored, struct buf *out)
{
    bool any = false;

    while (stored && *stored) {
        size_t len = strcspn(stored, ";");

        if (!has_resource(k, stored, strcspn(stored, "="))) {
            buf_printf(out, "%s%.*s", out->len ? ";" : "", (int)len, stored);
            any = true;
        }
        stored += len + (stored[len] == ';');
    }
    return any;
}

static bool any_unknown(const struct kubelet *k, const struct container_status *items, size_t n)
{
    scoped(buf) struct buf ignored = {0};

    for (size_t i = 0; i < n; i++)
        if (append_unknown(k, items[i].devices, &ignored))
            return true;
    return false;
}

static bool has_unknown(const struct kubelet_pod *pod)
{
    const struct pod_status *status = pod_status_of(pod->object);

    return any_unknown(pod->kubelet, status->containers.items, status->containers.count) ||
           any_unknown(pod->kubelet, status->init_containers.items, status->init_containers.count);
}

void kubelet_restore_devices(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    for (size_t i = 0; !pod->object && i < k->options.extras.count; i++)
        if (has_ids(k, i))
            pod->need.extra[i] = k->options.capacity.extra[i];
    if (pod->object && !pod->devices && concerns(pod))
        pod->devices =
            device_pool_restore(k->devices, pod_spec_of(pod->object), pod_status_of(pod->object));
    pod->keeps_devices = pod->object && has_unknown(pod);
}

bool kubelet_has_devices(const struct kubelet_pod *pod)
{
    return pod->devices || pod->keeps_devices;
}

void kubelet_give_back_devices(struct kubelet_pod *pod)
{
    if (pod->devices)
        device_pool_give_back(pod->kubelet->devices, take(pod->devices));
}

char *kubelet_too_many_devices(const struct kubelet_pod *pod)
{
    const struct kubelet *k = pod->kubelet;

    for (size_t i = 0; i < k->options.extras.count; i++)
        if (has_ids(k, i) && pod->need.extra[i] > k->options.capacity.extra[i])
            return mem_printf("the pod requests %lld %s, and the node has %lld",
                              (long long)pod->need.extra[i], k->options.extras.names[i],
                              (long long)k->options.capacity.extra[i]);
    return NULL;
}

static const char *stored_devices(const struct container_status *items, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].name && strcmp(items[i].name, name) == 0)
            return items[i].devices;
    return NULL;
}

/* Returns the devices of one container. `stored` is what its status says; NULL: nothing. */
static const char *devices_of(const struct kubelet_pod *pod, const struct pod_container *container,
                              const char *stored, struct arena *arena)
{
    scoped(buf) struct buf text = {0};
    const char *granted = device_grant_text(pod->kubelet->devices, pod->devices,
                                            pod_spec_of(pod->object), container, arena);

    if (!pod->keeps_devices)
        return granted;
    buf_str(&text, granted ? granted : "");
    append_unknown(pod->kubelet, stored, &text);
    return text.len ? arena_strdup(arena, text.data) : NULL;
}

void kubelet_fill_devices(const struct kubelet_pod *pod, struct pod_status *status,
                          struct arena *arena)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    const struct pod_status *old = pod->keeps_devices ? pod_status_of(pod->object) : status;

    if (!kubelet_has_devices(pod))
        return;
    for (size_t i = 0; i < status->init_containers.count && i < spec->init_containers.count; i++)
        status->init_containers.items[i].devices =
            devices_of(pod, &spec->init_containers.items[i],
                       stored_devices(old->init_containers.items, old->init_containers.count,
                                      spec->init_containers.items[i].name),
                       arena);
    for (size_t i = 0; i < status->containers.count && i < spec->containers.count; i++)
        status->containers.items[i].devices =
            devices_of(pod, &spec->containers.items[i],
                       stored_devices(old->containers.items, old->containers.count,
                                      spec->containers.items[i].name),
                       arena);
}
