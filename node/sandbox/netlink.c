/*
 * Requests to the kernel's routing socket. A request is a header, a struct of its kind and
 * attributes, which may nest. The kernel answers each request with an error number, 0 for success.
 */
#include "node/sandbox/netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 1024 }; /* enough for any request: names are short and attributes few */

struct request {
    struct nlmsghdr header;
    char attributes[REQUEST_BYTES];
};

int netlink_open(struct error *err)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0)
        error_errno(err, errno, "routing socket");
    return fd;
}

static void add_bytes(struct request *request, const void *bytes, size_t len)
{
    size_t at = NLMSG_ALIGN(request->header.nlmsg_len);

    if (at + len > sizeof *request)
        return; /* names are bounded, so every request fits */
    if (len)
        memcpy((char *)request + at, bytes, len);
    request->header.nlmsg_len = (uint32_t)(at + len);
}

static struct request request_new(uint16_t type, uint16_t flags, const void *body, size_t len)
{
    struct request request = {
        .header = {.nlmsg_len = NLMSG_HDRLEN,
                   .nlmsg_type = type,
                   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)}};

    add_bytes(&request, body, len);
    return request;
}

static void add(struct request *request, uint16_t type, const void *bytes, size_t len)
{
    const struct rtattr attribute = {.rta_len = (uint16_t)RTA_LENGTH(len), .rta_type = type};

    add_bytes(request, &attribute, sizeof attribute);
    add_bytes(request, bytes, len);
}

static void add_text(struct request *request, uint16_t type, const char *text)
{
    add(request, type, text, strlen(text) + 1);
}

/* Begins an attribute that contains others: those added until nest_end. */
static size_t nest_begin(struct request *request, uint16_t type)
{
    size_t at = NLMSG_ALIGN(request->header.nlmsg_len);

    add(request, type, NULL, 0);
    return at;
}

static void nest_end(struct request *request, size_t at)
{
    struct rtattr *nest = (struct rtattr *)((char *)request + at);

    nest->rta_len = (uint16_t)(request->header.nlmsg_len - at);
}

enum { ERRNO_MAX = 4095 }; /* the kernel has no larger error numbers */

static bool send_request(int fd, struct request *request, const char *what, struct error *err)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr answer;
        char request[sizeof(struct request)]; /* the kernel sends the request back */
    } reply;
    bool known;
    ssize_t n;

    if (send(fd, request, request->header.nlmsg_len, 0) != (ssize_t)request->header.nlmsg_len)
        return error_errno(err, errno, "%s", what);
    do
        n = recv(fd, &reply, sizeof reply, 0);
    while (n < 0 && errno == EINTR);
    if (n < (ssize_t)(sizeof reply.header + sizeof reply.answer.error) ||
        reply.header.nlmsg_type != NLMSG_ERROR)
        return error_errno(err, n < 0 ? errno : EPROTO, "%s", what);
    if (reply.answer.error == 0)
        return true;
    known = reply.answer.error < 0 && reply.answer.error >= -ERRNO_MAX;
    return error_errno(err, known ? -reply.answer.error : EPROTO, "%s", what);
}

static const struct ifinfomsg any_link = {.ifi_family = AF_UNSPEC};

bool netlink_add_bridge(int fd, const char *name, struct error *err)
{
    struct request request =
        request_new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &any_link, sizeof any_link);
    size_t info;

    add_text(&request, IFLA_IFNAME, name);
    info = nest_begin(&request, IFLA_LINKINFO);
    add_text(&request, IFLA_INFO_KIND, "bridge");
    nest_end(&request, info);
    return send_request(fd, &request, "cannot make a bridge", err);
}

bool netlink_add_pair(int fd, const char *name, const char *peer, int peer_ns_fd, struct error *err)
{
    struct request request =
        request_new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &any_link, sizeof any_link);
    size_t info, data, other;

    add_text(&request, IFLA_IFNAME, name);
    info = nest_begin(&request, IFLA_LINKINFO);
    add_text(&request, IFLA_INFO_KIND, "veth");
    data = nest_begin(&request, IFLA_INFO_DATA);
    other = nest_begin(&request, VETH_INFO_PEER);
    add_bytes(&request, &any_link, sizeof any_link);
    add_text(&request, IFLA_IFNAME, peer);
    add(&request, IFLA_NET_NS_FD, &peer_ns_fd, sizeof peer_ns_fd);
    nest_end(&request, other);
    nest_end(&request, data);
    nest_end(&request, info);
    return send_request(fd, &request, "cannot make a pair of interfaces", err);
}

static bool set_up(int fd, const char *name, unsigned master, struct error *err)
{
    const struct ifinfomsg up = {
        .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct request request = request_new(RTM_NEWLINK, 0, &up, sizeof up);

    add_text(&request, IFLA_IFNAME, name);
    if (master)
        add(&request, IFLA_MASTER, &master, sizeof master);
    return send_request(fd, &request, "cannot switch on an interface", err);
}

bool netlink_up(int fd, const char *name, struct error *err)
{
    return set_up(fd, name, 0, err);
}

bool netlink_up_on_bridge(int fd, const char *name, const char *bridge, struct error *err)
{
    unsigned master = if_nametoindex(bridge);

    return master ? set_up(fd, name, master, err) : error_errno(err, errno, "bridge %s", bridge);
}

bool netlink_add_address(int fd, const char *name, in_addr_t address, unsigned prefix_bits,
                         struct error *err)
{
    const struct ifaddrmsg to = {.ifa_family = AF_INET,
                                 .ifa_prefixlen = (uint8_t)prefix_bits,
                                 .ifa_index = if_nametoindex(name)};
    struct request request = request_new(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &to, sizeof to);

    add(&request, IFA_LOCAL, &address, sizeof address);
    add(&request, IFA_ADDRESS, &address, sizeof address);
    return send_request(fd, &request, "cannot give an interface its address", err);
}
