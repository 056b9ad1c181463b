/*
 * Forwards bytes between two sockets. A socket is polled only for events that can be handled now;
 * one without such events is removed from epoll, because the kernel would report its end again and
 * again.
 */
#include "node/proxy/splice.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"

static bool is_empty(const struct splice_flow *flow)
{
    return flow->from == flow->to;
}

static uint32_t wanted_of(const struct splice *splice, int side)
{
    const struct splice_flow *out = &splice->flows[side], *in = &splice->flows[!side];

    if (splice->connecting)
        return side ? EPOLLOUT : 0;
    return (is_empty(out) && !out->ended ? EPOLLIN : 0U) | (is_empty(in) ? 0U : EPOLLOUT);
}

static void watch(struct splice *splice, int which)
{
    struct splice_side *side = &splice->sides[which];
    uint32_t wanted = wanted_of(splice, which);

    if (side->source.fd < 0)
        return;
    if (!wanted && side->armed)
        reactor_remove(splice->reactor, &side->source);
    else if (wanted && side->armed)
        reactor_change(splice->reactor, &side->source, wanted);
    else if (wanted)
        reactor_add(splice->reactor, &side->source, wanted);
    side->armed = wanted != 0;
}

static void forget_side(struct splice *splice, struct splice_side *side)
{
    if (side->armed)
        reactor_remove(splice->reactor, &side->source);
    side->armed = false;
    if (side->source.fd >= 0)
        close(side->source.fd);
    side->source.fd = -1;
}

static bool is_transient(int error)
{
    return error == EAGAIN || error == EINTR;
}

static void read_side(struct splice *splice, int side)
{
    struct splice_flow *flow = &splice->flows[side];
    ssize_t n;

    if (!is_empty(flow) || flow->ended)
        return;
    n = recv(splice->sides[side].source.fd, flow->bytes, sizeof flow->bytes, 0);
    if (n > 0) {
        flow->from = 0;
        flow->to = (size_t)n;
    } else if (n == 0) {
        flow->ended = true;
    } else if (!is_transient(errno)) {
        splice->over = true;
    }
}

static void write_side(struct splice *splice, int side)
{
    struct splice_flow *flow = &splice->flows[!side];
    int fd = splice->sides[side].source.fd;

    if (!is_empty(flow)) {
        ssize_t n = send(fd, flow->bytes + flow->from, flow->to - flow->from, MSG_NOSIGNAL);

        if (n > 0)
            flow->from += (size_t)n;
        else if (n < 0 && !is_transient(errno))
            splice->over = true;
    }
    if (is_empty(flow) && flow->ended && !flow->end_sent) {
        shutdown(fd, SHUT_WR);
        flow->end_sent = true;
    }
}

static void settle(struct splice *splice)
{
    if (splice->over || (splice->flows[0].end_sent && splice->flows[1].end_sent)) {
        splice->over = true;
        splice->ended(splice);
        return;
    }
    watch(splice, 0);
    watch(splice, 1);
}

static void connected(struct splice *splice)
{
    struct splice_side *side = &splice->sides[1];
    socklen_t len = sizeof(int);
    int error = 0;

    if (getsockopt(side->source.fd, SOL_SOCKET, SO_ERROR, &error, &len) || error) {
        forget_side(splice, side);
        splice->failed(splice);
        return;
    }
    splice->connecting = false;
    settle(splice);
}

static void on_ready(struct source *source, uint32_t events)
{
    struct splice_side *side = container_of(source, struct splice_side, source);
    struct splice *splice = side->splice;
    int which = side == &splice->sides[1];

    if (splice->connecting) {
        connected(splice);
        return;
    }
    write_side(splice, which);
    read_side(splice, which);
    if (!splice->over)
        write_side(splice, !which); /* the other side can usually take at once what was just read */
    settle(splice);
}

static void init_side(struct splice *splice, int which, int fd)
{
    splice->sides[which] = (struct splice_side){{on_ready, fd}, splice, false};
}

void splice_init(struct splice *splice, struct reactor *reactor, int fd)
{
    splice->reactor = reactor;
    splice->connecting = true;
    splice->over = false;
    for (int i = 0; i < 2; i++) {
        struct splice_flow *flow = &splice->flows[i];

        flow->from = flow->to = 0;
        flow->ended = flow->end_sent = false;
    }
    init_side(splice, 0, fd);
    init_side(splice, 1, -1);
}

void splice_connect(struct splice *splice, int fd)
{
    init_side(splice, 1, fd);
    watch(splice, 1);
}

void splice_close(struct splice *splice)
{
    static const struct linger reset = {1, 0};
    bool well = splice->flows[0].end_sent && splice->flows[1].end_sent;

    for (int i = 0; i < 2; i++) {
        int fd = splice->sides[i].source.fd;

        if (fd >= 0 && !well)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        forget_side(splice, &splice->sides[i]);
    }
}
