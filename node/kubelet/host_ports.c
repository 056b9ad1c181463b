/*
 * Declared ports that pods share with the machine: the table of ports in use, and the pods that
 * wait for one.
 *
 * Where addresses are rewritten, each pod has all ports to itself and nothing here applies. Pods of
 * the host's network, and all pods where rewriting does not work, share the machine's ports. A
 * second pod that declares the same port waits: it would fail to listen, or its clients would reach
 * the first pod.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

enum { KEY_MAX = 16 };

struct port_owner {
    UT_hash_handle hh;
    int32_t port;
    struct kubelet_pod *pod;
};

static struct port_owner *owner_of(const struct kubelet *k, int32_t port)
{
    struct port_owner *owner;

    HASH_FIND(hh, k->ports, &port, sizeof port, owner);
    return owner;
}

/* Returns whether the pod declares ports and shares them with the machine. */
static bool shares_ports(const struct kubelet_pod *pod, const struct pod_spec *spec)
{
    struct runtime *rt = pod->kubelet->runtime;
    const struct runtime_capabilities *capabilities;
    bool any = false;

    for (size_t i = 0; i < spec->containers.count; i++)
        any = any || spec->containers.items[i].ports.count;
    if (!any || pod->kubelet->options.volumes.sim)
        return false;
    capabilities = rt->ops->capabilities(rt);
    return spec->host_network || (capabilities && !capabilities->own_addresses);
}

/* Calls `visit` for each declared port until it returns false; returns what it returned last. */
static bool each_port(struct kubelet_pod *pod, bool (*visit)(struct kubelet_pod *pod, int32_t port))
{
    const struct pod_spec *spec = pod_spec_of(pod->object);

    for (size_t i = 0; i < spec->containers.count; i++)
        for (size_t p = 0; p < spec->containers.items[i].ports.count; p++)
            if (!visit(pod, spec->containers.items[i].ports.items[p].port))
                return false;
    return true;
}

static bool wait_for_port(struct kubelet_pod *pod, int32_t port)
{
    struct kubelet *k = pod->kubelet;
    const struct port_owner *owner = owner_of(k, port);
    char key[KEY_MAX];

    if (!owner || owner->pod == pod)
        return true;

    scoped_str why = mem_printf("port %d is in use by pod %s/%s, and pods share their ports here; "
                                "it waits until that one has ended",
                                (int)port, owner->pod->meta->namespace, owner->pod->meta->name);

    snprintf(key, sizeof key, "port %d", (int)port);
    cluster_event(k->cluster, pod->object, EVENT_WARNING, "PortConflict", "kubelet", "%s", why);
    kubelet_block(pod, key);
    kubelet_write_waiting(pod, "PortConflict", why);
    return false;
}

static bool take_port(struct kubelet_pod *pod, int32_t port)
{
    struct kubelet *k = pod->kubelet;
    struct port_owner *owner = owner_of(k, port);

    if (owner)
        return true;
    owner = mem_alloc(sizeof *owner);
    owner->port = port;
    owner->pod = pod;
    HASH_ADD(hh, k->ports, port, sizeof owner->port, owner);
    return true;
}

static bool give_port(struct kubelet_pod *pod, int32_t port)
{
    struct kubelet *k = pod->kubelet;
    struct port_owner *owner = owner_of(k, port);
    char key[KEY_MAX];

    if (!owner || owner->pod != pod)
        return true;
    HASH_DELETE(hh, k->ports, owner);
    mem_free(owner);
    snprintf(key, sizeof key, "port %d", (int)port);
    kubelet_unblock(k, key);
    return true;
}

void kubelet_adopt_ports(struct kubelet_pod *pod)
{
    if (pod->owns_ports || !pod->object || !shares_ports(pod, pod_spec_of(pod->object)))
        return;
    pod->owns_ports = true;
    each_port(pod, take_port);
}

bool kubelet_claim_ports(struct kubelet_pod *pod)
{
    if (!shares_ports(pod, pod_spec_of(pod->object)))
        return true;
    if (!each_port(pod, wait_for_port))
        return false;
    kubelet_adopt_ports(pod);
    return true;
}

void kubelet_release_ports(struct kubelet_pod *pod)
{
    if (!pod->owns_ports)
        return;
    pod->owns_ports = false;
    each_port(pod, give_port);
}
