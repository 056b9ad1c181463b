/*
 * Sends and receives frames over a socket, without blocking.
 */
#include "node/wire/frame_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10, READ_PER_TURN = 4 << 20 };

bool frame_conn_read(struct frame_conn *conn)
{
    for (size_t taken = 0; taken < READ_PER_TURN;) {
        buf_reserve(&conn->in, READ_STEP);

        ssize_t n = recv(conn->source.fd, conn->in.data + conn->in.len, READ_STEP, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0)
            return false;
        conn->in.len += (size_t)n;
        taken += (size_t)n;
        if (n < READ_STEP)
            break;
    }
    return true;
}

bool frame_conn_take(struct frame_conn *conn, frame_conn_visit_fn visit, void *ctx)
{
    size_t at = 0;
    struct frame frame;
    enum frame_state next;

    while ((next = frame_next(conn->in.data + at, conn->in.len - at, &frame)) == FRAME_WHOLE) {
        visit(ctx, &frame, conn->in.data + at);
        at += frame.size;
    }
    if (at) {
        memmove(conn->in.data, conn->in.data + at, conn->in.len - at);
        conn->in.len -= at;
    }
    return next != FRAME_INVALID;
}

void frame_conn_flush(struct reactor *reactor, struct frame_conn *conn)
{
    while (conn->out.len) {
        ssize_t n =
            send(conn->source.fd, conn->out.data, conn->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        memmove(conn->out.data, conn->out.data + n, conn->out.len - (size_t)n);
        conn->out.len -= (size_t)n;
    }
    if (conn->writing != (conn->out.len > 0)) {
        conn->writing = conn->out.len > 0;
        reactor_change(reactor, &conn->source, EPOLLIN | (conn->writing ? EPOLLOUT : 0));
    }
}

void frame_conn_close(struct reactor *reactor, struct frame_conn *conn)
{
    if (conn->source.fd < 0)
        return;
    reactor_remove(reactor, &conn->source);
    close(conn->source.fd);
    conn->source.fd = -1;
    conn->writing = false;
    buf_release(&conn->in);
    buf_release(&conn->out);
}
