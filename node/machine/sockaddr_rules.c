/*
 * Decides what becomes of a pod's socket call, by the same rules for IPv4 and IPv6 addresses.
 */
#include "node/machine/sockaddr_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { POD_RANGE_BITS = 16 };
#define RANGE_OF(ip) (ntohl(ip) >> POD_RANGE_BITS)

static bool declared(const struct sockaddr_rules *rules, in_port_t port)
{
    for (size_t i = 0; i < rules->n_ports; i++)
        if (htons(rules->ports[i]) == port)
            return true;
    return false;
}

static bool of_a_pod(const struct sockaddr_rules *rules, in_addr_t address)
{
    return RANGE_OF(address) == RANGE_OF(rules->ip);
}

/* Returns whether the call goes to a low port of a Service whose listener has moved to a higher
 * port. Services have the /16 behind that of the pods. */
static bool is_moved(const struct sockaddr_rules *rules, enum sockaddr_call call, in_addr_t address,
                     in_port_t port)
{
    return rules->low_ports_move && call != SOCKADDR_BIND && port && ntohs(port) < LOW_PORTS_END &&
           RANGE_OF(address) == RANGE_OF(rules->ip) + 1;
}

static in_port_t moved(in_port_t port)
{
    return htons((uint16_t)(ntohs(port) + LOW_PORTS_MOVE));
}

bool sockaddr_low_ports_move(void)
{
    static int known; /* 1: low ports move, -1: they do not, 0: not tried yet */
    const struct sockaddr_in low = {
        .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd;

    if (known)
        return known > 0;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    known =
        fd >= 0 && bind(fd, (const struct sockaddr *)&low, sizeof low) && errno == EACCES ? 1 : -1;
    if (fd >= 0)
        close(fd);
    return known > 0;
}

static void map(in_addr_t ip, struct in6_addr *out)
{
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(&out->s6_addr[12], &ip, sizeof ip);
}

static in_addr_t mapped(const struct in6_addr *address)
{
    in_addr_t ip;

    memcpy(&ip, &address->s6_addr[12], sizeof ip);
    return ip;
}

/* Returns whether the call binds a port on all addresses, where another pod may have it bound. */
static bool is_shared(const struct sockaddr_rules *rules, enum sockaddr_call call, in_port_t port,
                      bool any)
{
    return call == SOCKADDR_BIND && any && port && !declared(rules, port);
}

static enum sockaddr_verdict decide_v4(const struct sockaddr_rules *rules, enum sockaddr_call call,
                                       struct sockaddr_in *a)
{
    bool loopback = a->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    bool any = a->sin_addr.s_addr == htonl(INADDR_ANY);

    if (declared(rules, a->sin_port) && (loopback || (any && call == SOCKADDR_BIND))) {
        a->sin_addr.s_addr = rules->ip;
        return SOCKADDR_REPLACED;
    }
    if (call == SOCKADDR_CONNECT && of_a_pod(rules, a->sin_addr.s_addr)) {
        a->sin_addr.s_addr = rules->ip;
        a->sin_port = 0;
        return SOCKADDR_BIND_SOURCE;
    }
    if (is_moved(rules, call, a->sin_addr.s_addr, a->sin_port)) {
        a->sin_port = moved(a->sin_port);
        return SOCKADDR_REPLACED;
    }
    return is_shared(rules, call, a->sin_port, any) ? SOCKADDR_SHARED_PORT : SOCKADDR_UNCHANGED;
}

static enum sockaddr_verdict decide_v6(const struct sockaddr_rules *rules, enum sockaddr_call call,
                                       struct sockaddr_in6 *a)
{
    bool loopback = IN6_IS_ADDR_LOOPBACK(&a->sin6_addr);
    bool any = IN6_IS_ADDR_UNSPECIFIED(&a->sin6_addr);

    if (declared(rules, a->sin6_port) && (loopback || (any && call == SOCKADDR_BIND))) {
        map(rules->ip, &a->sin6_addr);
        return SOCKADDR_REPLACED;
    }
    if (call == SOCKADDR_CONNECT && IN6_IS_ADDR_V4MAPPED(&a->sin6_addr) &&
        of_a_pod(rules, mapped(&a->sin6_addr))) {
        map(rules->ip, &a->sin6_addr);
        a->sin6_port = 0;
        return SOCKADDR_BIND_SOURCE;
    }
    if (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr) &&
        is_moved(rules, call, mapped(&a->sin6_addr), a->sin6_port)) {
        a->sin6_port = moved(a->sin6_port);
        return SOCKADDR_REPLACED;
    }
    return is_shared(rules, call, a->sin6_port, any) ? SOCKADDR_SHARED_PORT : SOCKADDR_UNCHANGED;
}

enum sockaddr_verdict sockaddr_decide(const struct sockaddr_rules *rules, enum sockaddr_call call,
                                      union sockaddr_any *address, socklen_t len)
{
    if (!rules->ip || len < sizeof address->any.sa_family)
        return SOCKADDR_UNCHANGED;
    if (address->any.sa_family == AF_INET && len >= sizeof address->v4)
        return decide_v4(rules, call, &address->v4);
    if (address->any.sa_family == AF_INET6 && len >= sizeof address->v6)
        return decide_v6(rules, call, &address->v6);
    return SOCKADDR_UNCHANGED;
}
