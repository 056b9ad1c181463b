/*
 * Which addresses of a pod's socket calls become others. See sockaddr_rules.h.
 */
#include "node/machine/sockaddr_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { POD_RANGE_BITS = 16 };
#define RANGE_OF(ip) (ntohl(ip) >> POD_RANGE_BITS)

static bool declared(const struct rewrite *rewrite, in_port_t port)
{
    for (size_t i = 0; i < rewrite->n_ports; i++)
        if (htons(rewrite->ports[i]) == port)
            return true;
    return false;
}

static bool of_a_pod(const struct rewrite *rewrite, in_addr_t address)
{
    return RANGE_OF(address) == RANGE_OF(rewrite->ip);
}

/* Their range is the one behind that of the pods. */
static bool is_moved(const struct rewrite *rewrite, enum rewrite_call call, in_addr_t address,
                     in_port_t port)
{
    return rewrite->low_ports_move && call != REWRITE_BIND && port && ntohs(port) < LOW_PORTS_END &&
           RANGE_OF(address) == RANGE_OF(rewrite->ip) + 1;
}

static in_port_t moved(in_port_t port)
{
    return htons((uint16_t)(ntohs(port) + LOW_PORTS_MOVE));
}

bool rewrite_low_ports_move(void)
{
    static int known; /* 1: they do, -1: they do not */
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

/* What two pods could want at the same time. */
static bool is_shared(const struct rewrite *rewrite, enum rewrite_call call, in_port_t port,
                      bool any)
{
    return call == REWRITE_BIND && any && port && !declared(rewrite, port);
}

static enum rewrite_what decide_v4(const struct rewrite *rewrite, enum rewrite_call call,
                                   struct sockaddr_in *a)
{
    bool loopback = a->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    bool any = a->sin_addr.s_addr == htonl(INADDR_ANY);

    if (declared(rewrite, a->sin_port) && (loopback || (any && call == REWRITE_BIND))) {
        a->sin_addr.s_addr = rewrite->ip;
        return REWRITE_ADDRESS;
    }
    if (call == REWRITE_CONNECT && of_a_pod(rewrite, a->sin_addr.s_addr)) {
        a->sin_addr.s_addr = rewrite->ip;
        a->sin_port = 0;
        return REWRITE_SOURCE;
    }
    if (is_moved(rewrite, call, a->sin_addr.s_addr, a->sin_port)) {
        a->sin_port = moved(a->sin_port);
        return REWRITE_ADDRESS;
    }
    return is_shared(rewrite, call, a->sin_port, any) ? REWRITE_WATCH : REWRITE_NOTHING;
}

static enum rewrite_what decide_v6(const struct rewrite *rewrite, enum rewrite_call call,
                                   struct sockaddr_in6 *a)
{
    bool loopback = IN6_IS_ADDR_LOOPBACK(&a->sin6_addr);
    bool any = IN6_IS_ADDR_UNSPECIFIED(&a->sin6_addr);

    if (declared(rewrite, a->sin6_port) && (loopback || (any && call == REWRITE_BIND))) {
        map(rewrite->ip, &a->sin6_addr);
        return REWRITE_ADDRESS;
    }
    if (call == REWRITE_CONNECT && IN6_IS_ADDR_V4MAPPED(&a->sin6_addr) &&
        of_a_pod(rewrite, mapped(&a->sin6_addr))) {
        map(rewrite->ip, &a->sin6_addr);
        a->sin6_port = 0;
        return REWRITE_SOURCE;
    }
    if (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr) &&
        is_moved(rewrite, call, mapped(&a->sin6_addr), a->sin6_port)) {
        a->sin6_port = moved(a->sin6_port);
        return REWRITE_ADDRESS;
    }
    return is_shared(rewrite, call, a->sin6_port, any) ? REWRITE_WATCH : REWRITE_NOTHING;
}

enum rewrite_what rewrite_decide(const struct rewrite *rewrite, enum rewrite_call call,
                                 union rewrite_address *address, socklen_t len)
{
    if (!rewrite->ip || len < sizeof address->any.sa_family)
        return REWRITE_NOTHING;
    if (address->any.sa_family == AF_INET && len >= sizeof address->v4)
        return decide_v4(rewrite, call, &address->v4);
    if (address->any.sa_family == AF_INET6 && len >= sizeof address->v6)
        return decide_v6(rewrite, call, &address->v6);
    return REWRITE_NOTHING;
}
