/*
 * What Services with addresses get from the kubelet: a range beside that of its pods, sockets of
 * their network, and names in hosts files.
 */
#include "node/kubelet/internal.h"
#include "node/machine/address_range.h"
#include "node/machine/sockaddr_rules.h"

static uint8_t range_of_pods(void *ctx, uint8_t wanted)
{
    struct kubelet *k = ctx;

    kubelet_lock_range(k, wanted);
    return k->addresses.second;
}

static int socket_at(void *ctx, const struct sockaddr *address, int type)
{
    struct runtime *runtime = ((struct kubelet *)ctx)->runtime;

    return runtime->ops->socket_to(runtime, address, type);
}

static void line_of(void *ctx, struct netns_holder *out)
{
    struct runtime *runtime = ((struct kubelet *)ctx)->runtime;

    runtime->ops->connect_holder(runtime, out);
}

static void service_opened(void *ctx, const struct object *service)
{
    struct kubelet *k = ctx;

    hosts_service(k->hosts, CHANGE_MODIFIED, service, services_address(k->services, service));
}

static void see_range(void *ctx, const struct object *pod)
{
    struct kubelet *k = ctx;

    if (kubelet_is_ours(k, pod) && !pod_phase_ended(pod_status_phase(pod)) &&
        address_range_of(pod_status_of(pod)->pod_ip))
        kubelet_lock_range(k, address_range_of(pod_status_of(pod)->pod_ip));
}

/* Before pods are looked at: some have an address because a Service leads to them. */
void kubelet_serve(struct kubelet *k)
{
    const struct services_rules rules = {
        .cluster = k->cluster,
        .private_network = k->options.private_network,
        .range = range_of_pods,
        .socket_at = socket_at,
        .line = line_of,
        .opened = service_opened,
        .ctx = k,
    };

    if (!k->options.service_addresses)
        return;
    k->low_ports_move = !k->options.private_network && sockaddr_low_ports_move();
    cluster_each(k->cluster, &kind_pod, NULL, see_range, k);
    k->services = services_new(&rules);
    services_start(k->services);
}
