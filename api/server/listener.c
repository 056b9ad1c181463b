/*
 * The unix socket.
 */
#include "api/server/listener.h"
#include "api/server/connection.h"
#include "base/log.h"
#include "base/mem.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024 /* L-22 */, LISTEN_BACKLOG = 128 };

struct listener {
    uv_pipe_t pipe;
    struct loop *loop;
    struct api *api;
    char *path;
    struct connection **connections; /* [count] */
    size_t count, cap;
    bool stopping;
};

static void free_when_empty(struct listener *listener)
{
    if (!listener->stopping || listener->count > 0 || listener->path)
        return;
    mem_free(listener->connections);
    mem_free(listener);
}

static void on_connection_closed(void *ctx, struct connection *connection)
{
    struct listener *listener = ctx;

    for (size_t i = 0; i < listener->count; i++)
        if (listener->connections[i] == connection) {
            listener->connections[i] = listener->connections[--listener->count];
            break;
        }
    free_when_empty(listener);
}

/* SEC-01: the socket's mode keeps others out; the peer's identity is asked all the same. */
static bool peer_allowed(uv_stream_t *stream)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (uv_fileno((uv_handle_t *)stream, &fd) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    return peer.uid == getuid() || peer.uid == 0;
}

static void on_connection(uv_stream_t *server, int status)
{
    struct listener *listener = server->data;
    struct connection *connection;

    if (status < 0 || listener->stopping)
        return;
    connection = connection_new(listener->loop, listener->api, on_connection_closed, listener);
    mem_grow(listener->connections, listener->count, listener->cap);
    listener->connections[listener->count++] = connection;
    if (uv_accept(server, connection_stream(connection)) < 0 ||
        !peer_allowed(connection_stream(connection)) || listener->count > CONNECTIONS_MAX) {
        log_warn("connection refused", kv_int("connections", (int64_t)listener->count));
        connection_close(connection);
        return;
    }
    connection_start(connection);
}

static void on_pipe_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;

    mem_free(take(listener->path));
    free_when_empty(listener);
}

struct listener *listener_start(struct loop *loop, struct api *api, const char *path,
                                struct error *err)
{
    struct listener *listener = mem_alloc(sizeof *listener);
    int result;

    listener->loop = loop;
    listener->api = api;
    listener->path = mem_strdup(path);
    uv_pipe_init(loop_uv(loop), &listener->pipe, 0);
    listener->pipe.data = listener;
    unlink(path); /* the data directory's lock is ours, so nobody listens there */

    mode_t before = umask(0177);

    result = uv_pipe_bind(&listener->pipe, path);
    umask(before);
    if (result == 0)
        result = uv_listen((uv_stream_t *)&listener->pipe, LISTEN_BACKLOG, on_connection);
    if (result == 0) {
        uv_unref((uv_handle_t *)&listener->pipe);
        return listener;
    }
    error_set(err, ERR_INTERNAL, "", "cannot listen on %s: %s%s", path, uv_strerror(result),
              result == UV_ENAMETOOLONG || result == UV_EINVAL
                  ? " (the path of a unix socket has at most 107 bytes)"
                  : "");
    listener->stopping = true;
    uv_close((uv_handle_t *)&listener->pipe, on_pipe_closed);
    return NULL;
}

void listener_stop(struct listener *listener)
{
    if (!listener)
        return;
    listener->stopping = true;
    unlink(listener->path);
    for (size_t i = listener->count; i-- > 0;)
        connection_close(listener->connections[i]);
    uv_close((uv_handle_t *)&listener->pipe, on_pipe_closed);
}
