/*
 * Frames over a socket. See frame_conn.h.
 */
#include "node/wire/frame_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10, READ_PER_TURN = 4 << 20 };

bool frame_conn_read(struct frame_conn *peer)
{
    for (size_t taken = 0; taken < READ_PER_TURN;) {
        buf_reserve(&peer->in, READ_STEP);

        ssize_t n = recv(peer->source.fd, peer->in.data + peer->in.len, READ_STEP, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0)
            return false;
        peer->in.len += (size_t)n;
        taken += (size_t)n;
        if (n < READ_STEP)
            break;
    }
    return true;
}

bool frame_conn_take(struct frame_conn *peer, frame_conn_take_fn taker, void *ctx)
{
    size_t at = 0;
    struct frame frame;
    enum frame_state next;

    while ((next = frame_next(peer->in.data + at, peer->in.len - at, &frame)) == FRAME_WHOLE) {
        taker(ctx, &frame, peer->in.data + at);
        at += frame.size;
    }
    if (at) {
        memmove(peer->in.data, peer->in.data + at, peer->in.len - at);
        peer->in.len -= at;
    }
    return next != FRAME_INVALID;
}

void frame_conn_flush(struct reactor *reactor, struct frame_conn *peer)
{
    while (peer->out.len) {
        ssize_t n =
            send(peer->source.fd, peer->out.data, peer->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        memmove(peer->out.data, peer->out.data + n, peer->out.len - (size_t)n);
        peer->out.len -= (size_t)n;
    }
    if (peer->writing != (peer->out.len > 0)) {
        peer->writing = peer->out.len > 0;
        reactor_change(reactor, &peer->source, EPOLLIN | (peer->writing ? EPOLLOUT : 0));
    }
}

void frame_conn_close(struct reactor *reactor, struct frame_conn *peer)
{
    if (peer->source.fd < 0)
        return;
    reactor_remove(reactor, &peer->source);
    close(peer->source.fd);
    peer->source.fd = -1;
    peer->writing = false;
    buf_release(&peer->in);
    buf_release(&peer->out);
}
