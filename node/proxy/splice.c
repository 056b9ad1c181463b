/*
 * Two sockets joined. See splice.h.
 *
 * A side is watched for exactly what can be done now; one of which nothing is wanted is not watched
 * at all, for the kernel would go on telling of its end.
 */
#include "node/proxy/splice.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"

static bool is_empty(const struct joint_way *way)
{
    return way->from == way->to;
}

/* ---- what is watched ---- */

static uint32_t wanted_of(const struct joint *joint, int side)
{
    const struct joint_way *out = &joint->ways[side], *in = &joint->ways[!side];

    if (joint->connecting)
        return side ? EPOLLOUT : 0;
    return (is_empty(out) && !out->ended ? EPOLLIN : 0U) | (is_empty(in) ? 0U : EPOLLOUT);
}

static void watch(struct joint *joint, int which)
{
    struct joint_side *side = &joint->sides[which];
    uint32_t wanted = wanted_of(joint, which);

    if (side->source.fd < 0)
        return;
    if (!wanted && side->armed)
        reactor_remove(joint->reactor, &side->source);
    else if (wanted && side->armed)
        reactor_change(joint->reactor, &side->source, wanted);
    else if (wanted)
        reactor_add(joint->reactor, &side->source, wanted);
    side->armed = wanted != 0;
}

static void forget_side(struct joint *joint, struct joint_side *side)
{
    if (side->armed)
        reactor_remove(joint->reactor, &side->source);
    side->armed = false;
    if (side->source.fd >= 0)
        close(side->source.fd);
    side->source.fd = -1;
}

/* ---- bytes ---- */

static bool is_later(int error)
{
    return error == EAGAIN || error == EINTR;
}

static void read_side(struct joint *joint, int side)
{
    struct joint_way *way = &joint->ways[side];
    ssize_t n;

    if (!is_empty(way) || way->ended)
        return;
    n = recv(joint->sides[side].source.fd, way->bytes, sizeof way->bytes, 0);
    if (n > 0) {
        way->from = 0;
        way->to = (size_t)n;
    } else if (n == 0) {
        way->ended = true;
    } else if (!is_later(errno)) {
        joint->over = true;
    }
}

static void write_side(struct joint *joint, int side)
{
    struct joint_way *way = &joint->ways[!side];
    int fd = joint->sides[side].source.fd;

    if (!is_empty(way)) {
        ssize_t n = send(fd, way->bytes + way->from, way->to - way->from, MSG_NOSIGNAL);

        if (n > 0)
            way->from += (size_t)n;
        else if (n < 0 && !is_later(errno))
            joint->over = true;
    }
    if (is_empty(way) && way->ended && !way->passed_on) {
        shutdown(fd, SHUT_WR);
        way->passed_on = true;
    }
}

/* ---- events ---- */

static void settle(struct joint *joint)
{
    if (joint->over || (joint->ways[0].passed_on && joint->ways[1].passed_on)) {
        joint->over = true;
        joint->ended(joint);
        return;
    }
    watch(joint, 0);
    watch(joint, 1);
}

static void connected(struct joint *joint)
{
    struct joint_side *side = &joint->sides[1];
    socklen_t len = sizeof(int);
    int error = 0;

    if (getsockopt(side->source.fd, SOL_SOCKET, SO_ERROR, &error, &len) || error) {
        forget_side(joint, side);
        joint->failed(joint);
        return;
    }
    joint->connecting = false;
    settle(joint);
}

static void on_ready(struct source *source, uint32_t events)
{
    struct joint_side *side = container_of(source, struct joint_side, source);
    struct joint *joint = side->joint;
    int which = side == &joint->sides[1];

    if (joint->connecting) {
        connected(joint);
        return;
    }
    write_side(joint, which);
    read_side(joint, which);
    if (!joint->over)
        write_side(joint, !which); /* it usually takes at once what has just come */
    settle(joint);
}

/* ---- life ---- */

static void init_side(struct joint *joint, int which, int fd)
{
    joint->sides[which] = (struct joint_side){{on_ready, fd}, joint, false};
}

void joint_init(struct joint *joint, struct reactor *reactor, int fd)
{
    joint->reactor = reactor;
    joint->connecting = true;
    joint->over = false;
    for (int i = 0; i < 2; i++) {
        struct joint_way *way = &joint->ways[i];

        way->from = way->to = 0;
        way->ended = way->passed_on = false;
    }
    init_side(joint, 0, fd);
    init_side(joint, 1, -1);
}

void joint_connect(struct joint *joint, int fd)
{
    init_side(joint, 1, fd);
    watch(joint, 1);
}

void joint_close(struct joint *joint)
{
    static const struct linger reset = {1, 0};
    bool well = joint->ways[0].passed_on && joint->ways[1].passed_on;

    for (int i = 0; i < 2; i++) {
        int fd = joint->sides[i].source.fd;

        if (fd >= 0 && !well)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        forget_side(joint, &joint->sides[i]);
    }
}
