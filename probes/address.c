/*
 * Parses an address from a pod's status and checks it against the ranges no probe may reach
 * (SEC-13).
 */
#include "probes/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool v4_forbidden(uint32_t host_order)
{
    return host_order == 0 || host_order == UINT32_MAX /* "this host" and broadcast addresses */
           ||
           (host_order & 0xffff0000) == 0xa9fe0000 /* 169.254/16: link-local, metadata services */
           || (host_order & 0xf0000000) == 0xe0000000; /* 224/4: multicast addresses */
}

static bool v6_forbidden(const struct in6_addr *a)
{
    uint32_t inner;

    if (IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4COMPAT(a)) {
        memcpy(&inner, a->s6_addr + 12, sizeof inner);
        if (!IN6_IS_ADDR_LOOPBACK(a) && v4_forbidden(ntohl(inner)))
            return true;
    }
    return IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MULTICAST(a);
}

enum { MAPPED_BYTES = 12 }; /* before an IPv4 address that is written as IPv6 */

/* An address of either family as bytes in network order. */
struct ip {
    unsigned char bytes[16];
    unsigned bits; /* 32 or 128 */
};

static bool ip_parse(const char *text, struct ip *out)
{
    *out = (struct ip){.bits = 32};
    if (inet_pton(AF_INET, text, out->bytes) == 1)
        return true;
    out->bits = 128;
    return inet_pton(AF_INET6, text, out->bytes) == 1;
}

/* Returns the address in IPv4 when it is an IPv4 address that is written as IPv6. */
static struct ip unmapped(const struct ip *ip)
{
    static const unsigned char prefix[MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff};
    struct ip out = {.bits = 32};

    if (ip->bits != 128 || memcmp(ip->bytes, prefix, sizeof prefix) != 0)
        return *ip;
    memcpy(out.bytes, ip->bytes + sizeof prefix, 4);
    return out;
}

static bool range_parse(const char *text, struct ip *out, unsigned *out_bits)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/'), *digits = slash ? slash + 1 : "";
    size_t len = strlen(digits);

    if (!slash || (size_t)(slash - text) >= sizeof address || len < 1 || len > 3 ||
        strspn(digits, "0123456789") != len)
        return false;
    snprintf(address, sizeof address, "%.*s", (int)(slash - text), text);
    *out_bits = (unsigned)strtoul(digits, NULL, 10);
    if (!ip_parse(address, out) || *out_bits > out->bits)
        return false;
    if (*out_bits >= 8 * MAPPED_BYTES && unmapped(out).bits == 32) {
        *out = unmapped(out);
        *out_bits -= 8 * MAPPED_BYTES;
    }
    return true;
}

bool probe_range_is(const char *text)
{
    struct ip network;
    unsigned bits;

    return range_parse(text, &network, &bits);
}

static bool is_in_range(const struct ip *ip, const char *range)
{
    struct ip network;
    unsigned bits;

    if (!range_parse(range, &network, &bits) || network.bits != ip->bits)
        return false;
    for (unsigned i = 0; i < bits; i++) {
        unsigned mask = 0x80u >> (i % 8);

        if ((network.bytes[i / 8] & mask) != (ip->bytes[i / 8] & mask))
            return false;
    }
    return true;
}

static bool is_refused(const char *const *refused, const char *text, int32_t port)
{
    char canonical[INET6_ADDRSTRLEN], plain[INET6_ADDRSTRLEN + 16];
    struct ip address;

    if (!ip_parse(text, &address))
        return true;
    address = unmapped(&address);
    inet_ntop(address.bits == 32 ? AF_INET : AF_INET6, address.bytes, canonical, sizeof canonical);
    snprintf(plain, sizeof plain, address.bits == 32 ? "%s:%d" : "[%s]:%d", canonical, port);
    for (; refused && *refused; refused++)
        if (strcmp(*refused, plain) == 0 || is_in_range(&address, *refused))
            return true;
    return false;
}

bool probe_address_of(const char *ip, int32_t port, const char *const *refused,
                      struct probe_address *out, struct error *err)
{
    struct probe_address a = {0};
    char canonical[INET6_ADDRSTRLEN];
    bool forbidden;

    if (port < 1 || port > 65535)
        return error_set(err, ERR_INVALID, "port", "port %d is not between 1 and 65535", port);
    if (inet_pton(AF_INET, ip, &a.sock.v4.sin_addr) == 1) {
        a.sock.v4.sin_family = AF_INET;
        a.sock.v4.sin_port = htons((uint16_t)port);
        forbidden = v4_forbidden(ntohl(a.sock.v4.sin_addr.s_addr));
        inet_ntop(AF_INET, &a.sock.v4.sin_addr, canonical, sizeof canonical);
        snprintf(a.text, sizeof a.text, "%s:%d", canonical, port);
    } else if (inet_pton(AF_INET6, ip, &a.sock.v6.sin6_addr) == 1) {
        a.sock.v6.sin6_family = AF_INET6;
        a.sock.v6.sin6_port = htons((uint16_t)port);
        forbidden = v6_forbidden(&a.sock.v6.sin6_addr);
        inet_ntop(AF_INET6, &a.sock.v6.sin6_addr, canonical, sizeof canonical);
        snprintf(a.text, sizeof a.text, "[%s]:%d", canonical, port);
    } else {
        return error_set(err, ERR_INVALID, "podIP", "%s is not an IP address", ip);
    }
    if (forbidden || is_refused(refused, ip, port))
        return error_set(err, ERR_FORBIDDEN, "podIP", "probes may not connect to %s", a.text);
    *out = a;
    return true;
}

int probe_address_socket(const struct probe_address *address)
{
    const struct probe_sockets *sockets = address->sockets;

    return sockets ? sockets->open(sockets->ctx, &address->sock.any) : -1;
}

bool probe_address_is(const struct probe_address *address, const struct sockaddr *sock, size_t len)
{
    if (sock->sa_family != address->sock.any.sa_family)
        return false;
    if (sock->sa_family == AF_INET) {
        struct sockaddr_in v4;

        if (len < sizeof v4)
            return false;
        memcpy(&v4, sock, sizeof v4);
        return v4.sin_port == address->sock.v4.sin_port &&
               v4.sin_addr.s_addr == address->sock.v4.sin_addr.s_addr;
    } else {
        struct sockaddr_in6 v6;

        if (len < sizeof v6)
            return false;
        memcpy(&v6, sock, sizeof v6);
        return v6.sin6_port == address->sock.v6.sin6_port &&
               memcmp(&v6.sin6_addr, &address->sock.v6.sin6_addr, sizeof v6.sin6_addr) == 0;
    }
}
