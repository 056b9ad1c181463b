/*
 * The process that holds the network namespace of the private network. The first part of the file
 * is the connection to it; the second part is the process itself.
 */
#include "node/shim/netns_holder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/net/peer.h"
#include "node/shim/entry.h"
#include "node/shim/shim_dir.h"
#include "node/wire/fdpass.h"

enum {
    CONNECTIONS_MAX = 64, /* bound of connections, one for each node and shared shim: usually two,
                           * and more only after crashes */
    FIRST_MS = 30000,     /* how long the holder waits for its first connection */
    ANSWER_MS = 500,
};

/* A message of the holder: descriptors, or a text that says why there are none. The first message
 * on a connection carries the namespaces. Each later one carries the socket that was requested. */
struct answer {
    char why[ERROR_MESSAGE_MAX];
};

static bool send_answer(int to_fd, const int *fds, size_t n, const char *why)
{
    struct answer answer = {{0}};

    strncpy(answer.why, why, sizeof answer.why - 1);
    return fdpass_send(to_fd, &answer, sizeof answer, fds, n, MSG_DONTWAIT);
}

/* Receives a message of the holder. Returns the number of descriptors received, or -1 with
 * `err`. */
static int receive_answer(int from_fd, int fds[FDPASS_MAX], struct error *err)
{
    struct answer answer = {{0}};
    int count = fdpass_receive(from_fd, &answer, sizeof answer, fds, MSG_WAITALL);

    if (count < 0) {
        error_set(err, ERR_UNAVAILABLE, "network", "the holder of the private network is gone");
        return -1;
    }
    answer.why[sizeof answer.why - 1] = 0;
    if (!count) {
        error_set(err, ERR_INTERNAL, "network", "%s", answer.why);
        return -1;
    }
    return count;
}

bool netns_holder_connect(int dir_fd, struct netns_holder *out, struct error *err)
{
    /* the holder may still be making the network, so this limit is longer */
    const struct timeval limit = {ANSWER_MS * 20 / 1000, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[FDPASS_MAX] = {-1, -1}, count = -1;
    struct sockaddr_un address;

    shim_dir_address(dir_fd, &address);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        connect(fd, (struct sockaddr *)&address, sizeof address))
        error_errno(err, errno, "holder of the private network");
    else if (peer_is_ours(fd, "the directory of the private network", err))
        count = receive_answer(fd, fds, err);
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
    return receive_answer(holder->fd, fds, err) < 0 ? -1 : fds[0];
}

/* The state of the holder process. */
struct holder {
    struct pollfd fds[1 + CONNECTIONS_MAX]; /* the listener comes first */
    nfds_t n;
    struct network network;
    char why[ERROR_MESSAGE_MAX]; /* reason why there is no network; empty = there is a network */
};

static void accept_connection(struct holder *h)
{
    const int namespaces[] = {h->network.net_fd, h->network.user_fd};
    size_t n = h->network.net_fd < 0 ? 0 : h->network.user_fd < 0 ? 1 : 2;
    int fd = accept4(SHIM_FD_LISTEN, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    if (h->n == countof(h->fds) || !send_answer(fd, namespaces, n, h->why))
        close(fd);
    else
        h->fds[h->n++] = (struct pollfd){fd, POLLIN, 0};
}

/* Answers a request. Returns false when the connection is over. */
static bool answer_request(int fd)
{
    char type;
    int made;
    bool ok;

    if (recv(fd, &type, 1, MSG_DONTWAIT) != 1)
        return false;
    made = socket(AF_INET, (type == SOCK_DGRAM ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
    ok = send_answer(fd, &made, made >= 0, made >= 0 ? "" : strerrordesc_np(errno));
    if (made >= 0)
        close(made);
    return ok;
}

static void serve(struct holder *h)
{
    int limit_ms = FIRST_MS;

    while (poll(h->fds, h->n, limit_ms) != 0) {
        for (nfds_t i = h->n; i-- > 1;) /* from the end: the last entry moves into a freed slot */
            if (h->fds[i].revents && !answer_request(h->fds[i].fd)) {
                close(h->fds[i].fd);
                h->fds[i] = h->fds[--h->n];
            }
        if (h->fds[0].revents) {
            accept_connection(h);
            limit_ms = -1;
        }
        if (h->n == 1)
            return;
    }
}

int netns_holder_main(int argc, char **argv)
{
    struct holder h = {.fds = {{SHIM_FD_LISTEN, POLLIN, 0}}, .n = 1, .network = {-1, -1}};
    enum isolation_level level;
    struct error err = {0};

    if (argc != 2 || !isolation_level_parse(argv[1], &level) || !network_make(level, &err) ||
        !network_hold(level, &h.network, &err))
        snprintf(h.why, sizeof h.why, "%s",
                 *err.message ? err.message : "no level of isolation was named");
    serve(&h);
    shim_dir_remove(SHIM_FD_DIR);
    return 0;
}
