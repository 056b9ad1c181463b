/*
 * The holder of the private network. See netns_holder.h.
 */
#include "node/shim/netns_holder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "node/shim/entry.h"
#include "node/shim/shim_dir.h"
#include "node/wire/fdpass.h"

enum {
    CONNECTIONS_MAX = 64, /* nodes and shared shims: two, and more only after crashes */
    FIRST_MS = 30000,     /* to wait for the one who has started us */
    ANSWER_MS = 500,
};

/* What it sends: once at the connection, with the namespaces, and to each byte it gets, with a
 * socket of the type that it names. A text says why there is no descriptor. */
struct gift {
    char why[ERROR_MESSAGE_MAX];
};

static bool send_gift(int to_fd, const int *fds, size_t n, const char *why)
{
    struct gift gift = {{0}};

    strncpy(gift.why, why, sizeof gift.why - 1);
    return fdpass_send(to_fd, &gift, sizeof gift, fds, n, MSG_DONTWAIT);
}

/* How many descriptors came; -1 with `err`. */
static int receive_gift(int from_fd, int fds[FDPASS_MAX], struct error *err)
{
    struct gift gift = {{0}};
    int count = fdpass_receive(from_fd, &gift, sizeof gift, fds, MSG_WAITALL);

    if (count < 0) {
        error_set(err, ERR_UNAVAILABLE, "network", "the holder of the private network is gone");
        return -1;
    }
    gift.why[sizeof gift.why - 1] = 0;
    if (!count) {
        error_set(err, ERR_INTERNAL, "network", "%s", gift.why);
        return -1;
    }
    return count;
}

/* ---- the other side ---- */

bool netns_holder_connect(int place_fd, struct netns_holder *out, struct error *err)
{
    const struct timeval limit = {ANSWER_MS * 20 / 1000, 0}; /* it may still be at work */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[FDPASS_MAX] = {-1, -1}, count = -1;
    struct sockaddr_un address;

    shim_dir_address(place_fd, &address);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        connect(fd, (struct sockaddr *)&address, sizeof address))
        error_errno(err, errno, "holder of the private network");
    else
        count = receive_gift(fd, fds, err);
    if (count < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    *out = (struct netns_holder){fd, {fds[0], count > 1 ? fds[1] : -1}};
    return true;
}

bool netns_holder_alive(const struct netns_holder *holder)
{
    struct pollfd peer = {holder->fd, POLLIN, 0};

    return holder->fd >= 0 && poll(&peer, 1, 0) == 0;
}

void netns_holder_close(struct netns_holder *holder)
{
    const int fds[] = {holder->fd, holder->network.net_fd, holder->network.user_fd};

    for (size_t i = 0; i < countof(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *holder = NETNS_HOLDER_NONE;
}

int netns_holder_socket(const struct netns_holder *holder, int type, struct error *err)
{
    const char wanted = (char)type;
    struct pollfd peer = {holder->fd, POLLIN, 0};
    int fds[FDPASS_MAX] = {-1, -1};

    if (send(holder->fd, &wanted, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1 ||
        poll(&peer, 1, ANSWER_MS) != 1) {
        error_set(err, ERR_TIMEOUT, "network", "the holder of the private network is silent");
        return -1;
    }
    return receive_gift(holder->fd, fds, err) < 0 ? -1 : fds[0];
}

/* ---- the holder ---- */

struct holding {
    struct pollfd fds[1 + CONNECTIONS_MAX]; /* the listener first */
    nfds_t n;
    struct network network;
    char why[ERROR_MESSAGE_MAX]; /* there is no network */
};

static void greet(struct holding *h)
{
    const int gifts[] = {h->network.net_fd, h->network.user_fd};
    size_t n = h->network.net_fd < 0 ? 0 : h->network.user_fd < 0 ? 1 : 2;
    int fd = accept4(SHIM_FD_LISTEN, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    if (h->n == countof(h->fds) || !send_gift(fd, gifts, n, h->why))
        close(fd);
    else
        h->fds[h->n++] = (struct pollfd){fd, POLLIN, 0};
}

/* False: it is gone. */
static bool serve(int fd)
{
    char asked;
    int gift;
    bool ok;

    if (recv(fd, &asked, 1, MSG_DONTWAIT) != 1)
        return false;
    gift = socket(AF_INET, (asked == SOCK_DGRAM ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
    ok = send_gift(fd, &gift, gift >= 0, gift >= 0 ? "" : strerrordesc_np(errno));
    if (gift >= 0)
        close(gift);
    return ok;
}

static void live(struct holding *h)
{
    int limit_ms = FIRST_MS;

    while (poll(h->fds, h->n, limit_ms) != 0) {
        for (nfds_t i = h->n; i-- > 1;) /* the last one takes the place of one that goes */
            if (h->fds[i].revents && !serve(h->fds[i].fd)) {
                close(h->fds[i].fd);
                h->fds[i] = h->fds[--h->n];
            }
        if (h->fds[0].revents) {
            greet(h);
            limit_ms = -1;
        }
        if (h->n == 1)
            return;
    }
}

int netns_holder_main(int argc, char **argv)
{
    struct holding h = {.fds = {{SHIM_FD_LISTEN, POLLIN, 0}}, .n = 1, .network = {-1, -1}};
    enum isolation_level level;
    struct error err = {0};

    if (argc != 2 || !isolation_level_parse(argv[1], &level) || !network_make(level, &err) ||
        !network_hold(level, &h.network, &err))
        snprintf(h.why, sizeof h.why, "%s",
                 *err.message ? err.message : "no level of isolation was named");
    live(&h);
    shim_dir_remove(SHIM_FD_DIR);
    return 0;
}
