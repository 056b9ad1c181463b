/*
 * Whose rights a pod's programs have is decided by the level of isolation, not by the pod
 * (docs/limits.md). Where its securityContext asks for another user, somebody may rely on that: it
 * is told by an event.
 */
#include <string.h>
#include <unistd.h>

#include "node/kubelet/internal.h"

/* False: nothing is executed. */
static bool user_of_programs(const struct kubelet *k, long long *out)
{
    const struct runtime_capabilities *can = k->runtime->ops->capabilities(k->runtime);

    if (can)
        *out = strcmp(can->level, "full") != 0 ? (long long)geteuid() : 0;
    return can != NULL;
}

/* What the container says itself goes before what its pod says. */
static const json_t *asked(const struct pod_spec *spec, const struct pod_container *container,
                           const char *member)
{
    const json_t *own = json_object_get(container->security_context, member);

    return own ? own : json_object_get(spec->security_context, member);
}

/* True when something of it is not so, and told. */
static bool tell_container(const struct kubelet_pod *pod, const struct pod_container *container)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    const json_t *user = asked(spec, container, "runAsUser");
    bool not_root = json_is_true(asked(spec, container, "runAsNonRoot"));
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

void kubelet_check_security_context(const struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod->object);
    bool told = false;

    for (size_t i = 0; i < spec->init_containers.count && !told; i++)
        told = tell_container(pod, &spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count && !told; i++)
        told = tell_container(pod, &spec->containers.items[i]);
}
