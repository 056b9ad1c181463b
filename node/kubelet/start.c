/*
 * One pod made ready for the runtime: what it may not be, what it needs, and its parts resolved.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "node/kubelet/env.h"
#include "node/kubelet/internal.h"
#include "node/runtime/handler.h"

/* What a spec says. */

static bool runs_something(const struct pod_container *container)
{
    return container->command.count || container->args.count;
}

static const char *idle_container(const struct pod_spec *spec)
{
    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (!runs_something(&spec->init_containers.items[i]))
            return spec->init_containers.items[i].name;
    for (size_t i = 0; i < spec->containers.count; i++)
        if (!runs_something(&spec->containers.items[i]))
            return spec->containers.items[i].name;
    return NULL;
}

char *kubelet_unrunnable(const struct kubelet *k, const struct pod_spec *spec, const char **reason)
{
    const char *idle = k->options.volumes.sim ? NULL : idle_container(spec);
    struct error err = {0};

    if (!spec->containers.count) {
        *reason = "NoContainers";
        return mem_strdup("the pod has no containers");
    }
    if (!idle && !k->options.volumes.sim && !handlers_check(spec, &err)) {
        *reason = "UnsupportedProbe";
        return mem_strdup(err.message);
    }
    if (!idle)
        return NULL;
    *reason = "NoCommand";
    return mem_printf("container %s has no command and no args: images are not used here, the "
                      "programs are the host's; set command",
                      idle);
}

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

bool kubelet_needs_hosts(const struct kubelet *k, const struct pod_spec *spec)
{
    return k->options.isolate_all || (spec->hostname && *spec->hostname) ||
           (spec->subdomain && *spec->subdomain) || json_array_size(spec->host_aliases);
}

/* spec.hostAliases as lines of a hosts file; owned, NULL when there are none. */
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

/* A pod that has no name of its own may still want to look up those of Services. That costs it a
 * box, so only while there is something to find; dnsPolicy Default asks for the host's names. */
bool kubelet_may_look_up(const struct kubelet_pod *pod, const struct pod_spec *spec)
{
    return !pod->hosts.group && !pod->kubelet->options.volumes.sim && !spec->host_network &&
           !(spec->dns_policy && strcmp(spec->dns_policy, "Default") == 0) &&
           hosts_serves(pod->kubelet->hosts, pod->meta->namespace_);
}

bool kubelet_hosts_as_addresses(const struct kubelet_pod *pod)
{
    struct runtime *rt = pod->kubelet->runtime;
    const struct runtime_capabilities *capabilities =
        pod->hosts.group ? rt->ops->capabilities(rt) : NULL;

    return capabilities && capabilities->hosts_as_addresses;
}

/* Services lead there, or send it elsewhere. */
static bool services_need_address(const struct kubelet *k, const struct object *pod)
{
    return services_select(k->services, pod) ||
           (k->low_ports_move && hosts_serves(k->hosts, object_namespace(pod)));
}

bool kubelet_needs_address(const struct kubelet *k, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    if (spec->host_network)
        return false;
    if (kubelet_needs_hosts(k, spec) || services_need_address(k, pod))
        return true;
    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (container_needs_address(&spec->init_containers.items[i]))
            return true;
    for (size_t i = 0; i < spec->containers.count; i++)
        if (container_needs_address(&spec->containers.items[i]))
            return true;
    return false;
}

/* Resolving. */

static enum resolve_result resolve_containers(const struct value_source *source,
                                              const struct pod_container *from, size_t n,
                                              const struct runtime_container **out)
{
    struct runtime_container *containers = arena_array(source->arena, n + 1, sizeof *containers);
    enum resolve_result result = RESOLVED;

    for (size_t i = 0; i < n && result == RESOLVED; i++)
        result = kubelet_env(source, &from[i], &containers[i]);
    *out = containers;
    return result;
}

static enum resolve_result resolve(struct kubelet_pod *pod, const struct value_source *source,
                                   struct runtime_pod *out)
{
    const struct pod_spec *spec = source->spec;
    struct runtime_volume *volumes;
    enum resolve_result result =
        kubelet_volumes(source, &pod->kubelet->options.volumes, &volumes, &out->n_volumes);

    out->volumes = volumes;
    out->n_init = spec->init_containers.count;
    out->n_containers = spec->containers.count;
    if (result == RESOLVED)
        result = resolve_containers(source, spec->init_containers.items, out->n_init, &out->init);
    if (result == RESOLVED)
        result =
            resolve_containers(source, spec->containers.items, out->n_containers, &out->containers);
    return result;
}

struct runtime_pod kubelet_runtime_pod(const struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);

    return (struct runtime_pod){
        .uid = pod->meta->uid,
        .ns = pod->meta->namespace_,
        .name = pod->meta->name,
        .object = pod->object,
        .spec = spec,
        .hostname = spec->hostname && *spec->hostname ? spec->hostname : pod->meta->name,
        .pod_ip = pod->address_text,
    };
}

static void give_to_runtime(struct kubelet_pod *pod, struct runtime_pod *start, struct arena *arena)
{
    struct kubelet *k = pod->kubelet;

    start->hosts = pod->hosts.group ? hosts_text(k->hosts, &pod->hosts) : NULL;
    start->ports = services_ports(k->services, pod->object, arena, &start->n_ports);
    pod->step = STEP_STARTED;
    pod->to_runtime = true;
    hosts_run(k->hosts, &pod->hosts, true);
    kubelet_room_take(pod);
    kubelet_follow(pod);
    kubelet_check_security_context(pod);
    k->runtime->ops->start(k->runtime, start);
}

static const struct services *told_services(const struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);

    return spec->service_links ? pod->kubelet->services : NULL;
}

struct value_source kubelet_value_source(struct kubelet_pod *pod, struct arena *arena,
                                         struct resolve_problem *problem)
{
    const struct kubelet *k = pod->kubelet;
    const struct host_names *names = kubelet_hosts_as_addresses(pod)
                                         ? host_names_new(arena, hosts_text(k->hosts, &pod->hosts))
                                         : NULL;

    return (struct value_source){
        .cluster = k->cluster,
        .arena = arena,
        .pod = pod->object,
        .spec = pod_spec_of(pod->object),
        .pod_ip = pod->address ? pod->address_text : HOST_IP,
        .host_ip = HOST_IP,
        .node_name = k->options.node_name,
        .cpu_milli = k->options.capacity.cpu_milli,
        .memory_bytes = k->options.capacity.memory_bytes,
        .names = names,
        .services = told_services(pod),
        .problem = problem,
    };
}

void kubelet_start_pod(struct kubelet_pod *pod)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct resolve_problem problem = {0};
    struct runtime_pod start = kubelet_runtime_pod(pod);
    struct value_source source;

    if (!kubelet_ports_take(pod))
        return;
    if (kubelet_may_look_up(pod, start.spec))
        kubelet_join_hosts(pod, start.spec);
    source = kubelet_value_source(pod, arena, &problem);
    switch (resolve(pod, &source, &start)) {
    case RESOLVED:
        give_to_runtime(pod, &start, arena);
        break;
    case RESOLVE_WAIT:
        kubelet_ports_give(pod);
        kubelet_hold(pod, &problem);
        kubelet_write_waiting(pod, "CreateContainerConfigError", problem.message);
        break;
    case RESOLVE_INVALID:
        kubelet_ports_give(pod);
        kubelet_write_failed(pod, problem.reason, problem.message);
        break;
    }
}
