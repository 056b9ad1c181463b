/*
 * A server with one fixed answer: accepts connections with libuv, records what they send and writes
 * the answer.
 */
#include "tests/support/canned_server.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct client {
    uv_tcp_t socket;
    uv_write_t write;
    struct canned_server *server;
    char *answer;
    char bytes[4096];
    bool answered;
    struct client *next;
};

struct canned_server {
    uv_tcp_t listener;
    struct loop *loop;
    char *answer, *after; /* text of the answer; text to wait for before it is sent, NULL: any
                           * bytes */
    size_t answer_len;
    bool keep_open;
    struct buf received;
    struct client *clients;
    int port, connections;
    int handles;
    bool closing;
};

static void release(struct canned_server *server)
{
    if (--server->handles > 0 || !server->closing)
        return;
    mem_free(server->answer);
    mem_free(server->after);
    buf_release(&server->received);
    mem_free(server);
}

static void on_client_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    struct canned_server *server = client->server;

    for (struct client **at = &server->clients; *at; at = &(*at)->next)
        if (*at == client) {
            *at = client->next;
            break;
        }
    mem_free(client->answer);
    mem_free(client);
    release(server);
}

static void close_client(struct client *client)
{
    if (!uv_is_closing((uv_handle_t *)&client->socket))
        uv_close((uv_handle_t *)&client->socket, on_client_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct client *client = write->data;

    if (status < 0 || !client->server->keep_open)
        close_client(client);
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct client *client = handle->data;

    *out = uv_buf_init(client->bytes, sizeof client->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct client *client = stream->data;
    struct canned_server *server = client->server;
    uv_buf_t answer;

    if (count < 0) {
        close_client(client);
        return;
    }
    buf_add(&server->received, bytes->base, (size_t)count);
    if (!server->answer || client->answered ||
        (server->after && !memmem(server->received.data, server->received.len, server->after,
                                  strlen(server->after))))
        return;
    client->answered = true;
    client->answer = mem_alloc(server->answer_len + 1);
    memcpy(client->answer, server->answer, server->answer_len);
    client->write.data = client;
    answer = uv_buf_init(client->answer, (unsigned)server->answer_len);
    uv_write(&client->write, stream, &answer, 1, on_written);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct canned_server *server = listener->data;
    struct client *client = mem_alloc(sizeof *client);

    client->server = server;
    client->socket.data = client;
    client->next = server->clients;
    server->clients = client;
    server->handles++;
    server->connections++;
    uv_tcp_init(loop_uv(server->loop), &client->socket);
    if (status < 0 || uv_accept(listener, (uv_stream_t *)&client->socket) < 0)
        close_client(client);
    else
        uv_read_start((uv_stream_t *)&client->socket, on_alloc, on_read);
}

struct canned_server *canned_server_new(struct loop *loop, const char *answer)
{
    struct canned_server *server = mem_alloc(sizeof *server);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int len = sizeof any;

    server->loop = loop;
    server->handles = 1;
    server->listener.data = server;
    server->answer = mem_strdup(answer);
    server->answer_len = answer ? strlen(answer) : 0;
    uv_tcp_init(loop_uv(loop), &server->listener);
    if (uv_tcp_bind(&server->listener, (struct sockaddr *)&any, 0) != 0 ||
        uv_listen((uv_stream_t *)&server->listener, 128, on_connection) != 0 ||
        uv_tcp_getsockname(&server->listener, (struct sockaddr *)&any, &len) != 0)
        mem_fatal("no loopback port to listen on");
    server->port = ntohs(any.sin_port);
    return server;
}

static void on_listener_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void canned_server_free(struct canned_server *server)
{
    server->closing = true;
    for (struct client *client = server->clients; client; client = client->next)
        close_client(client);
    uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}

int canned_server_port(const struct canned_server *server)
{
    return server->port;
}

void canned_server_set_answer(struct canned_server *server, const char *answer)
{
    mem_free(server->answer);
    server->answer = mem_strdup(answer);
    server->answer_len = answer ? strlen(answer) : 0;
}

void canned_server_set_answer_bytes(struct canned_server *server, const void *bytes, size_t len,
                                    const char *after)
{
    mem_free(server->answer);
    mem_free(server->after);
    server->answer = mem_alloc(len + 1);
    memcpy(server->answer, bytes, len);
    server->answer_len = len;
    server->after = mem_strdup(after);
}

void canned_server_keep_open(struct canned_server *server)
{
    server->keep_open = true;
}

const char *canned_server_received(const struct canned_server *server)
{
    return server->received.data ? server->received.data : "";
}

int canned_server_connections(const struct canned_server *server)
{
    return server->connections;
}
