/*
 * A server of one sentence.
 */
#include "tests/support/canned_server.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct visitor {
    uv_tcp_t socket;
    uv_write_t write;
    struct canned_server *peer;
    char *answer;
    char bytes[4096];
    bool answered;
    struct visitor *next;
};

struct canned_server {
    uv_tcp_t listener;
    struct loop *loop;
    char *answer, *after; /* NULL: after anything */
    size_t answer_len;
    bool keep_open;
    struct buf received;
    struct visitor *visitors;
    int port, connections;
    int handles;
    bool closing;
};

static void release(struct canned_server *peer)
{
    if (--peer->handles > 0 || !peer->closing)
        return;
    mem_free(peer->answer);
    mem_free(peer->after);
    buf_release(&peer->received);
    mem_free(peer);
}

static void on_visitor_closed(uv_handle_t *handle)
{
    struct visitor *visitor = handle->data;
    struct canned_server *peer = visitor->peer;

    for (struct visitor **at = &peer->visitors; *at; at = &(*at)->next)
        if (*at == visitor) {
            *at = visitor->next;
            break;
        }
    mem_free(visitor->answer);
    mem_free(visitor);
    release(peer);
}

static void close_visitor(struct visitor *visitor)
{
    if (!uv_is_closing((uv_handle_t *)&visitor->socket))
        uv_close((uv_handle_t *)&visitor->socket, on_visitor_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct visitor *visitor = write->data;

    if (status < 0 || !visitor->peer->keep_open)
        close_visitor(visitor);
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct visitor *visitor = handle->data;

    *out = uv_buf_init(visitor->bytes, sizeof visitor->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct visitor *visitor = stream->data;
    struct canned_server *peer = visitor->peer;
    uv_buf_t answer;

    if (count < 0) {
        close_visitor(visitor);
        return;
    }
    buf_add(&peer->received, bytes->base, (size_t)count);
    if (!peer->answer || visitor->answered ||
        (peer->after &&
         !memmem(peer->received.data, peer->received.len, peer->after, strlen(peer->after))))
        return;
    visitor->answered = true;
    visitor->answer = mem_alloc(peer->answer_len + 1);
    memcpy(visitor->answer, peer->answer, peer->answer_len);
    visitor->write.data = visitor;
    answer = uv_buf_init(visitor->answer, (unsigned)peer->answer_len);
    uv_write(&visitor->write, stream, &answer, 1, on_written);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct canned_server *peer = listener->data;
    struct visitor *visitor = mem_alloc(sizeof *visitor);

    visitor->peer = peer;
    visitor->socket.data = visitor;
    visitor->next = peer->visitors;
    peer->visitors = visitor;
    peer->handles++;
    peer->connections++;
    uv_tcp_init(loop_uv(peer->loop), &visitor->socket);
    if (status < 0 || uv_accept(listener, (uv_stream_t *)&visitor->socket) < 0)
        close_visitor(visitor);
    else
        uv_read_start((uv_stream_t *)&visitor->socket, on_alloc, on_read);
}

struct canned_server *canned_server_new(struct loop *loop, const char *answer)
{
    struct canned_server *peer = mem_alloc(sizeof *peer);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int len = sizeof any;

    peer->loop = loop;
    peer->handles = 1;
    peer->listener.data = peer;
    peer->answer = mem_strdup(answer);
    peer->answer_len = answer ? strlen(answer) : 0;
    uv_tcp_init(loop_uv(loop), &peer->listener);
    if (uv_tcp_bind(&peer->listener, (struct sockaddr *)&any, 0) != 0 ||
        uv_listen((uv_stream_t *)&peer->listener, 128, on_connection) != 0 ||
        uv_tcp_getsockname(&peer->listener, (struct sockaddr *)&any, &len) != 0)
        mem_fatal("no loopback port to listen on");
    peer->port = ntohs(any.sin_port);
    return peer;
}

static void on_listener_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void canned_server_free(struct canned_server *peer)
{
    peer->closing = true;
    for (struct visitor *visitor = peer->visitors; visitor; visitor = visitor->next)
        close_visitor(visitor);
    uv_close((uv_handle_t *)&peer->listener, on_listener_closed);
}

int canned_server_port(const struct canned_server *peer)
{
    return peer->port;
}

void canned_server_set_answer(struct canned_server *peer, const char *answer)
{
    mem_free(peer->answer);
    peer->answer = mem_strdup(answer);
    peer->answer_len = answer ? strlen(answer) : 0;
}

void canned_server_set_answer_bytes(struct canned_server *peer, const void *bytes, size_t len,
                                    const char *after)
{
    mem_free(peer->answer);
    mem_free(peer->after);
    peer->answer = mem_alloc(len + 1);
    memcpy(peer->answer, bytes, len);
    peer->answer_len = len;
    peer->after = mem_strdup(after);
}

void canned_server_keep_open(struct canned_server *peer)
{
    peer->keep_open = true;
}

const char *canned_server_received(const struct canned_server *peer)
{
    return peer->received.data ? peer->received.data : "";
}

int canned_server_connections(const struct canned_server *peer)
{
    return peer->connections;
}
