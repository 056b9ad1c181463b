/*
 * What pods can get on this machine: the level of isolation, address rewriting, name look-up,
 * limits. Each is tried once, when the first pod needs it or when a description is asked for.
 */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/runtime/internal.h"
#include "node/runtime/name_library.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/filter/sockaddr_notify.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/network.h"

static const char *const sockaddr_method_texts[] = {
    [SOCKADDR_METHOD_NONE] = "pods that declare the same port run one after the other",
    [SOCKADDR_METHOD_NOTIFY] = "pods may listen on the same ports: their calls ask (seccomp)",
    [SOCKADDR_METHOD_BPF] =
        ("pods may listen on the same ports: the kernel changes their addresses (cgroup BPF)"),
};

/* Chooses how socket addresses are rewritten. BPF programs need privileges that the process keeps
 * at levels mounts and full only. Elsewhere seccomp is used, if it works. */
static enum sockaddr_method choose_sockaddr_method(const struct host *host)
{
    enum isolation_level level = (enum isolation_level)host->config.level;

    if (host->config.private_network)
        return SOCKADDR_METHOD_NONE;
    if ((level == ISOLATION_MOUNTS || level == ISOLATION_FULL) && cgroup_check_sockaddr_bpf())
        return SOCKADDR_METHOD_BPF;
    return sockaddr_notify_works() ? SOCKADDR_METHOD_NOTIFY : SOCKADDR_METHOD_NONE;
}

/* Chooses whether programs get host names or addresses. They get names where they can look them
 * up. */
static void choose_names(struct host *host, struct runtime_capabilities *capabilities)
{
    const bool own_files = host->config.level != ISOLATION_PLAIN;
    const char *why;

    if (!own_files && !host->config.hosts_as_addresses)
        host->config.hosts_as_addresses = !name_library_probe(&why);
    capabilities->hosts_as_addresses = host->config.hosts_as_addresses;
    if (capabilities->hosts_as_addresses)
        capabilities->names = "pods are told addresses where they would be told names";
    else if (own_files)
        capabilities->names = "pods find names in an /etc/hosts of their own";
    else
        capabilities->names = "programs that are linked dynamically find names (libnss_wrapper)";
}

/* Finds out what pods can get here. It is not done at the start, because most flows have no pod
 * that needs a sandbox. */
bool host_probe_capabilities(struct host *host, struct error *err)
{
    scoped_str scratch = NULL;
    enum isolation_level level;

    if (host->description)
        return true;
    scratch = mem_printf("%s/probe", host->directory);
    if (!isolation_level_choose(host->isolation, scratch, &level, &host->description, err))
        return false;
    host->config.level = level;
    host->capabilities = (struct runtime_capabilities){
        .level = isolation_level_text(level),
        .why = host->description,
        .private_network = host->config.private_network,
    };
    host->config.sockaddr_method = choose_sockaddr_method(host);
    host->capabilities.own_addresses =
        host->config.private_network || host->config.sockaddr_method != SOCKADDR_METHOD_NONE;
    host->capabilities.rewrites = sockaddr_method_texts[host->config.sockaddr_method];
    choose_names(host, &host->capabilities);
    cgroup_check_limits(&host->capabilities.limits_memory, &host->capabilities.limits_cpu,
                        &host->capabilities.limits_processes);
    /* Programs of plain pods share the control group of their shim (shim/pids_limit.c), so no group
     * limits a single container. */
    if (level == ISOLATION_PLAIN)
        host->capabilities.limits_memory = host->capabilities.limits_cpu = false;
    for (struct shim_link *link = host->links; link; link = link->next)
        if (link->fd >= 0)
            shim_put_config(&link->out, &host->config);
    return true;
}

bool host_can_confine(struct host *host, struct error *err)
{
    scoped_str scratch = mem_printf("%s/probe", host->directory);
    scoped_str why = NULL;
    enum isolation_level level;

    host->confines =
        host->confines || isolation_level_choose(isolation_level_text(isolation_level_confining()),
                                                 scratch, &level, &why, err);
    return host->confines;
}

bool host_require_isolation(struct host *host, struct error *err)
{
    bool private = host->config.private_network;

    if ((private || strcmp(host->isolation, "auto") != 0) && !host_probe_capabilities(host, err))
        return false;
    if (!private || (network_check((enum isolation_level)host->config.level, err) &&
                     host_network_open(host, err)))
        return true;
    error_prefix(err, "--network private does not work here: ");
    return false;
}
