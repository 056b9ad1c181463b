/*
 * Addresses and names of pods, and the kubelet's part in Services.
 *
 * A pod gets an address of its own when another pod may want to connect to it: it declares ports,
 * has probes or hooks, has a name in the hosts files, or a Service selects it. Pods of the host's
 * network have the host's address. Pods with an address or a host name get a hosts file, and it is
 * kept up to date while they run (hosts_files.h). Services with addresses take theirs from the
 * range beside that of the pods (services.h).
 */
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"
#include "node/machine/address_range.h"
#include "node/machine/sockaddr_rules.h"
#include "node/runtime/handler.h"

static bool refers_to_address(const struct pod_container *container)
{
    for (size_t i = 0; i < container->env.count; i++) {
        const char *path =
            doc_text(json_object_get(container->env.items[i].value_from, "fieldRef"), "fieldPath");

        if (path && strncmp(path, "status.podIP", 12) == 0)
            return true;
    }
    return false;
}

static bool container_needs_address(const struct pod_container *container)
{
    return container->ports.count || container_has_handlers(container) ||
           refers_to_address(container);
}

static bool needs_hosts(const struct kubelet *k, const struct pod_spec *spec)
{
    return k->options.isolate_all || (spec->hostname && *spec->hostname) ||
           (spec->subdomain && *spec->subdomain) || json_array_size(spec->host_aliases);
}

/* Returns whether the pod needs an address because of Services: one leads to it, or its connections
 * to Services are redirected. */
static bool services_need_address(const struct kubelet *k, const struct object *pod)
{
    return services_select(k->services, pod) ||
           (k->low_ports_move && hosts_serves(k->hosts, object_namespace(pod)));
}

static bool needs_address(const struct kubelet *k, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    if (spec->host_network)
        return false;
    if (needs_hosts(k, spec) || services_need_address(k, pod))
        return true;
    for (size_t i = 0; i < runtime_container_count(spec); i++)
        if (container_needs_address(runtime_container_at(spec, i)))
            return true;
    return false;
}

/* Returns spec.hostAliases as lines of a hosts file; owned. Returns NULL when there are none. */
static char *alias_lines(const struct pod_spec *spec)
{
    scoped(buf) struct buf out = {0};

    for (size_t i = 0; i < json_array_size(spec->host_aliases); i++) {
        const json_t *alias = json_array_get(spec->host_aliases, i);
        const json_t *names = json_object_get(alias, "hostnames");
        const char *ip = doc_text(alias, "ip");

        if (!ip || !json_array_size(names) || strpbrk(ip, "\n #"))
            continue;
        buf_str(&out, ip);
        for (size_t n = 0; n < json_array_size(names); n++) {
            const char *name = json_string_value(json_array_get(names, n));

            if (name && *name && !strpbrk(name, "\n #"))
                buf_printf(&out, " %s", name);
        }
        buf_char(&out, '\n');
    }
    return out.len ? buf_take(&out) : NULL;
}

void kubelet_join_hosts(struct kubelet_pod *pod, const struct pod_spec *spec)
{
    pod->hosts.meta = pod->meta;
    pod->hosts.address = pod->address_text;
    pod->hosts.hostname = pod->hostname =
        mem_strdup(spec->hostname && *spec->hostname ? spec->hostname : pod->meta->name);
    if (spec->subdomain && *spec->subdomain)
        pod->hosts.subdomain = pod->subdomain = mem_strdup(spec->subdomain);
    pod->hosts.aliases = pod->aliases = alias_lines(spec);
    hosts_join(pod->kubelet->hosts, &pod->hosts);
}

/* A pod without a host name may still look up Services. A hosts file costs it a sandbox, so it gets
 * one only while its namespace has Services. dnsPolicy Default asks for the host's names only. */
bool kubelet_may_look_up(const struct kubelet_pod *pod, const struct pod_spec *spec)
{
    return !pod->hosts.group && !pod->kubelet->options.volumes.sim && !spec->host_network &&
           !(spec->dns_policy && strcmp(spec->dns_policy, "Default") == 0) &&
           hosts_serves(pod->kubelet->hosts, pod->meta->namespace);
}

bool kubelet_hosts_as_addresses(const struct kubelet_pod *pod)
{
    struct runtime *rt = pod->kubelet->runtime;
    const struct runtime_capabilities *capabilities =
        pod->hosts.group ? rt->ops->capabilities(rt) : NULL;

    return capabilities && capabilities->hosts_as_addresses;
}

void kubelet_lock_range(struct kubelet *k, uint8_t wanted)
{
    if (k->options.lock_addresses && k->range_fd < 0)
        k->addresses.second = address_range_lock(wanted, &k->range_fd);
}

void kubelet_assign_address(struct kubelet_pod *pod, const struct pod_spec *spec)
{
    struct kubelet *k = pod->kubelet;
    const struct pod_status *status = pod_status_of(pod->object);

    if ((status->pod_ip && *status->pod_ip) || needs_address(k, pod->object))
        kubelet_lock_range(k, address_range_of(status->pod_ip));
    pod->address = address_pool_reserve(&k->addresses, status->pod_ip);
    if (!pod->address && status->start_ms && status->pod_ip) {
        /* The pod was started in another network than new pods are, and keeps its address. */
        snprintf(pod->address_text, sizeof pod->address_text, "%s", status->pod_ip);
    } else {
        if (!pod->address && needs_address(k, pod->object))
            pod->address = address_pool_take(&k->addresses);
        address_pool_text(&k->addresses, pod->address, pod->address_text);
    }
    if (!k->options.volumes.sim && needs_hosts(k, spec))
        kubelet_join_hosts(pod, spec); /* no program reads a simulated hosts file */
}

void kubelet_hosts_changed(void *ctx, struct host_entry *entry, const char *text)
{
    struct kubelet_pod *pod = container_of(entry, struct kubelet_pod, hosts);

    pod->kubelet->runtime->ops->set_hosts(pod->kubelet->runtime, pod->meta->uid, text);
    if (kubelet_hosts_as_addresses(pod))
        kubelet_refresh_later(pod);
}

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

static void connect_holder(void *ctx, struct netns_holder *out)
{
    struct runtime *runtime = ((struct kubelet *)ctx)->runtime;

    runtime->ops->connect_holder(runtime, out);
}

static void service_opened(void *ctx, const struct object *service)
{
    struct kubelet *k = ctx;

    hosts_service(k->hosts, CHANGE_MODIFIED, service, services_address(k->services, service));
}

/* Locks the range of addresses of a pod of a previous run, which keeps its address. */
static void lock_range_of(void *ctx, const struct object *pod)
{
    struct kubelet *k = ctx;

    if (kubelet_is_ours(k, pod) && !pod_phase_ended(pod_status_phase(pod)) &&
        address_range_of(pod_status_of(pod)->pod_ip))
        kubelet_lock_range(k, address_range_of(pod_status_of(pod)->pod_ip));
}

void kubelet_start_services(struct kubelet *k)
{
    const struct services_rules rules = {
        .cluster = k->cluster,
        .private_network = k->options.private_network,
        .range = range_of_pods,
        .socket_at = socket_at,
        .line = connect_holder,
        .opened = service_opened,
        .ctx = k,
    };

    if (!k->options.service_addresses)
        return;
    k->low_ports_move = !k->options.private_network && sockaddr_low_ports_move();
    cluster_each(k->cluster, &kind_pod, NULL, lock_range_of, k);
    k->services = services_new(&rules);
    services_start(k->services);
}
