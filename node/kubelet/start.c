/*
 * Starts one pod: checks that its spec can run on this node, resolves its environment, arguments
 * and volumes, and gives the result to the runtime. A pod that misses an object is blocked until
 * the object is created; a pod that can never run fails.
 */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/kubelet/env.h"
#include "node/kubelet/internal.h"
#include "node/runtime/handler.h"

static bool has_program(const struct pod_container *container)
{
    return container->command.count || container->args.count;
}

static const char *idle_container(const struct pod_spec *spec)
{
    for (size_t i = 0; i < runtime_container_count(spec); i++)
        if (!has_program(runtime_container_at(spec, i)))
            return runtime_container_at(spec, i)->name;
    return NULL;
}

char *kubelet_unrunnable(const struct kubelet_pod *pod, const char **reason)
{
    const struct kubelet *k = pod->kubelet;
    const struct pod_spec *spec = pod_spec_of(pod->object);
    const char *idle = k->options.volumes.sim ? NULL : idle_container(spec);
    struct error err = {0};
    char *too_many;

    if (!spec->containers.count) {
        *reason = "NoContainers";
        return mem_strdup("the pod has no containers");
    }
    *reason = KUBELET_UNEXPECTED;
    too_many = kubelet_too_many_devices(pod);
    if (too_many)
        return too_many;
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

/* Not only administrators write in its namespace. */
static bool is_confined(const struct kubelet_pod *pod)
{
    const struct kubelet *k = pod->kubelet;
    const struct object *ns =
        k->options.confine ? cluster_get(k->cluster, &kind_namespace, "", pod->meta->namespace)
                           : NULL;

    return ns && meta_annotation(ns->meta, ANNOTATION_CONFINED);
}

struct runtime_pod kubelet_runtime_pod(const struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);

    return (struct runtime_pod){
        .uid = pod->meta->uid,
        .ns = pod->meta->namespace,
        .name = pod->meta->name,
        .confined = is_confined(pod),
        .object = pod->object,
        .spec = spec,
        .hostname = spec->hostname && *spec->hostname ? spec->hostname : pod->meta->name,
        .pod_ip = pod->address_text,
    };
}

/* Finds the user id that programs run as. Returns false when this runtime executes nothing. */
static bool user_of_programs(const struct kubelet *k, long long *out)
{
    const struct runtime_capabilities *can = k->runtime->ops->capabilities(k->runtime);

    if (can)
        *out = strcmp(can->level, "full") != 0 ? (long long)geteuid() : 0;
    return can != NULL;
}

/* Returns a member of the container's securityContext or, if it has none, of the pod's. */
static const json_t *security_context_member(const struct pod_spec *spec,
                                             const struct pod_container *container,
                                             const char *member)
{
    const json_t *own = json_object_get(container->security_context, member);

    return own ? own : json_object_get(spec->security_context, member);
}

/* Warns by an event when the container asks for a user that it does not get. Returns whether it
 * warned. */
static bool warn_ignored_user(const struct kubelet_pod *pod, const struct pod_container *container)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    const json_t *user = security_context_member(spec, container, "runAsUser");
    bool not_root = json_is_true(security_context_member(spec, container, "runAsNonRoot"));
    long long is;

    if ((!user && !not_root) || !user_of_programs(pod->kubelet, &is))
        return false;
    if (json_is_integer(user) && json_integer_value(user) != is)
        cluster_event(pod->kubelet->cluster, pod->object, EVENT_WARNING, "SecurityContextIgnored",
                      "kubelet",
                      "container %s: securityContext.runAsUser %lld: its programs run as user "
                      "%lld here; start jobflow as the user they should be",
                      container->name, (long long)json_integer_value(user), is);
    else if (not_root && is == 0)
        cluster_event(pod->kubelet->cluster, pod->object, EVENT_WARNING, "SecurityContextIgnored",
                      "kubelet",
                      "container %s: securityContext.runAsNonRoot: its programs run as root here; "
                      "start jobflow as another user, or with --isolation full, where that root is "
                      "nobody on the host",
                      container->name);
    else
        return false;
    return true;
}

/* The level of isolation decides which user programs run as, not the pod (docs/limits.md). A pod
 * whose securityContext asks for another one gets a warning. */
static void warn_security_context(const struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    bool warned = false;

    for (size_t i = 0; i < runtime_container_count(spec) && !warned; i++)
        warned = warn_ignored_user(pod, runtime_container_at(spec, i));
}

static void give_to_runtime(struct kubelet_pod *pod, struct runtime_pod *start, struct arena *arena)
{
    struct kubelet *k = pod->kubelet;

    start->hosts = pod->hosts.group ? hosts_text(k->hosts, &pod->hosts) : NULL;
    start->ports = services_ports(k->services, pod->object, arena, &start->n_ports);
    pod_step_set(&pod->step, STEP_STARTED);
    pod->in_runtime = true;
    hosts_run(k->hosts, &pod->hosts, true);
    kubelet_take_capacity(pod);
    kubelet_track_sources(pod);
    warn_security_context(pod);
    k->runtime->ops->start(k->runtime, start);
}

static const struct services *services_in_env(const struct kubelet_pod *pod)
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
        .services = services_in_env(pod),
        .environment = k->options.environment,
        .devices = k->devices,
        .devices_of_pod = pod->devices,
        .problem = problem,
    };
}

/* Fails a pod with a seccompProfile that it cannot have. Returns whether it may start. */
static bool check_profiles(struct kubelet_pod *pod, const struct runtime_pod *start)
{
    for (size_t i = 0; i < runtime_container_count(start->spec); i++) {
        const struct pod_container *container = runtime_container_at(start->spec, i);
        enum seccomp_profile profile = pod_seccomp_profile(start->spec, container);
        scoped_str why = NULL;

        if (profile == SECCOMP_LOCALHOST)
            why = mem_printf("container %s: securityContext.seccompProfile.type Localhost: this "
                             "node has no files of profiles; use RuntimeDefault",
                             container->name);
        else if (profile == SECCOMP_UNCONFINED && start->confined)
            why = mem_printf("container %s: securityContext.seccompProfile.type Unconfined: pods "
                             "of namespace %s are confined, because not only administrators write "
                             "there; use RuntimeDefault",
                             container->name, start->ns);
        if (!why)
            continue;
        kubelet_write_failed(pod,
                             profile == SECCOMP_LOCALHOST ? "UnsupportedSeccompProfile"
                                                          : "SeccompProfileForbidden",
                             why);
        return false;
    }
    return true;
}

static void start_pod(struct kubelet_pod *pod)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct resolve_problem problem = {0};
    struct runtime_pod start = kubelet_runtime_pod(pod);
    struct value_source source;

    if (!pod->kubelet->options.volumes.sim && !check_profiles(pod, &start))
        return;
    if (!kubelet_claim_ports(pod))
        return;
    if (kubelet_may_look_up(pod, start.spec))
        kubelet_join_hosts(pod, start.spec);
    source = kubelet_value_source(pod, arena, &problem);
    switch (resolve(pod, &source, &start)) {
    case RESOLVED:
        give_to_runtime(pod, &start, arena);
        break;
    case RESOLVE_WAIT:
        kubelet_release_ports(pod);
        kubelet_block_on_object(pod, &problem);
        kubelet_write_waiting(pod, "CreateContainerConfigError", problem.message);
        break;
    case RESOLVE_INVALID:
        kubelet_release_ports(pod);
        kubelet_write_failed(pod, problem.reason, problem.message);
        break;
    }
}

void kubelet_start_pod(struct kubelet_pod *pod)
{
    start_pod(pod);
    if (pod->step != STEP_STARTED)
        kubelet_give_capacity(pod); /* a pod with devices has it since it has them */
}
