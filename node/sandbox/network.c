/*
 * Sets up the private network, and moves a pod into it.
 */
#include "node/sandbox/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/sandbox/capability_check.h"
#include "node/sandbox/namespaces.h"
#include "node/sandbox/netlink.h"

#define BRIDGE "pods"
#define INSIDE "eth0"

enum { PREFIX_BITS = 16, NAME_MAX_BYTES = 16 };
static const char bridge_address[] = "10.127.0.1";

/* The address of the loopback interface. On that interface every address of the range is local, so
 * any of them can be bound. */
static const char service_addresses[] = "10.127.0.2";
enum { SERVICE_BITS = 22 };

static bool unshare_network(struct error *err)
{
    return unshare(CLONE_NEWNET) == 0 || error_errno(err, errno, "network namespace");
}

bool network_make(enum isolation_level level, struct error *err)
{
    in_addr_t address = inet_addr(bridge_address);
    bool ok;
    int fd;

    if (level == ISOLATION_PLAIN)
        return error_set(err, ERR_UNAVAILABLE, "network",
                         "level plain has no namespaces: pods are in the machine's own network");
    if ((level == ISOLATION_USER && !namespaces_enter_user(0, 0, err)) || !unshare_network(err) ||
        (fd = netlink_open(err)) < 0)
        return false;
    ok = netlink_up(fd, "lo", err) &&
         netlink_add_address(fd, "lo", inet_addr(service_addresses), SERVICE_BITS, err) &&
         netlink_add_bridge(fd, BRIDGE, err) &&
         netlink_add_address(fd, BRIDGE, address, PREFIX_BITS, err) && netlink_up(fd, BRIDGE, err);
    close(fd);
    return ok;
}

static int open_own(const char *kind, struct error *err)
{
    char path[32];
    int fd;

    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        error_errno(err, errno, "%s", path);
    return fd;
}

bool network_hold(enum isolation_level level, struct network *out, struct error *err)
{
    *out = (struct network){open_own("net", err), -1};
    if (out->net_fd < 0)
        return false;
    if (level == ISOLATION_USER)
        out->user_fd = open_own("user", err);
    return level != ISOLATION_USER || out->user_fd >= 0;
}

/* Makes the pod's veth pair and connects its outer end to the bridge. It runs in the bridge's
 * network namespace. */
static bool connect_to_bridge(in_addr_t ip, int pod_fd, struct error *err)
{
    char name[NAME_MAX_BYTES];
    int fd = netlink_open(err);
    bool ok;

    if (fd < 0)
        return false;
    snprintf(name, sizeof name, "p%04x", ntohl(ip) & 0xffff);
    ok = netlink_add_pair(fd, name, INSIDE, pod_fd, err) &&
         netlink_up_on_bridge(fd, name, BRIDGE, err);
    close(fd);
    return ok;
}

/* Lets programs without capabilities bind ports below 1024 in their own network. Where that cannot
 * be set, such programs can only bind the ports from 1024 on. */
static void open_low_ports(void)
{
    int fd = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "0", 1) != 1) {
        /* This user may not change the setting. */
    }
    close(fd);
}

/* Sets up the inner end of the pod's veth pair. It runs in the pod's network namespace. */
static bool configure_pod_end(in_addr_t ip, struct error *err)
{
    int fd = netlink_open(err);
    bool ok = fd >= 0 && netlink_up(fd, "lo", err) &&
              netlink_add_address(fd, INSIDE, ip, PREFIX_BITS, err) && netlink_up(fd, INSIDE, err);

    if (fd >= 0)
        close(fd);
    open_low_ports();
    return ok;
}

bool network_join(const struct network *network, in_addr_t ip, struct error *err)
{
    int pod_fd = -1;
    bool ok;

    if (network->user_fd >= 0 && setns(network->user_fd, CLONE_NEWUSER))
        return error_errno(err, errno, "user namespace of the network");
    if (!unshare_network(err) || (pod_fd = open_own("net", err)) < 0)
        return false;
    ok = setns(network->net_fd, CLONE_NEWNET) == 0 || error_errno(err, errno, "network of pods");
    ok = ok && connect_to_bridge(ip, pod_fd, err);
    if (ok && setns(pod_fd, CLONE_NEWNET))
        ok = error_errno(err, errno, "network of the pod");
    close(pod_fd);
    return ok && configure_pod_end(ip, err);
}

bool network_has(const struct sockaddr *address)
{
    struct sockaddr_in v4;

    if (address->sa_family != AF_INET)
        return false;
    memcpy(&v4, address, sizeof v4);
    return ntohl(v4.sin_addr.s_addr ^ inet_addr(bridge_address)) >> (32 - PREFIX_BITS) == 0;
}

bool network_try(enum isolation_level level, const char *scratch, struct error *err)
{
    struct network network;

    return network_make(level, err) && network_hold(level, &network, err) &&
           network_join(&(struct network){network.net_fd, -1}, inet_addr("10.127.4.0"), err);
}

bool network_check(enum isolation_level level, struct error *err)
{
    return capability_check("network", level, "", err);
}
