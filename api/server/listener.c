/*
 * The unix socket.
 */
#include "api/server/listener.h"
#include "api/server/connection.h"
#include "api/server/unix_path.h"
#include "base/log.h"
#include "base/mem.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024 /* L-22 */, LISTEN_BACKLOG = 128 };

struct listener {
    union {
        uv_pipe_t pipe;
        uv_stream_t stream;
        uv_handle_t handle;
    } io;
    struct loop *loop;
    struct api *api;
    char *path;
    struct connection **connections; /* [count] */
    size_t count, cap;
    bool stopping, closed;
};

static void free_when_empty(struct listener *listener)
{
    if (!listener->closed || listener->count > 0)
        return;
    mem_free(listener->path);
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
static bool peer_allowed(const uv_pipe_t *pipe)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)pipe, &fd) < 0 ||
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
    if (uv_accept(server, (uv_stream_t *)connection_pipe(connection)) < 0 ||
        !peer_allowed(connection_pipe(connection))) {
        log_warn("connection refused", kv_str("socket", listener->path));
        connection_close(connection);
    } else if (listener->count > CONNECTIONS_MAX) {
        connection_turn_away(connection);
    } else {
        connection_start(connection);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;

    listener->closed = true;
    free_when_empty(listener);
}

/* A bound socket that only we may open: the mode is that of the socket, whatever the umask. */
static int bind_socket(const char *path, struct error *err)
{
    scoped(unix_path) struct unix_path short_path = {.directory = -1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (!unix_path_open(path, &short_path, err))
        return -1;
    memcpy(address.sun_path, short_path.text, sizeof address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, 0600) < 0) {
        error_errno(err, errno, "cannot make a socket");
    } else {
        unlink(address.sun_path); /* the data directory's lock is ours: nobody listens there */
        if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        error_errno(err, errno, "cannot listen on %s", path);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

struct listener *listener_start(struct loop *loop, struct api *api, const char *path,
                                struct error *err)
{
    struct listener *listener;
    int fd = bind_socket(path, err), result;

    if (fd < 0)
        return NULL;
    listener = mem_alloc(sizeof *listener);
    listener->loop = loop;
    listener->api = api;
    listener->path = mem_strdup(path);
    uv_pipe_init(loop_uv(loop), &listener->io.pipe, 0);
    listener->io.handle.data = listener;
    result = uv_pipe_open(&listener->io.pipe, fd);
    if (result < 0)
        close(fd);
    else
        result = uv_listen(&listener->io.stream, LISTEN_BACKLOG, on_connection);
    if (result == 0)
        return listener;
    error_errno(err, result, "cannot listen on %s", path);
    listener_stop(listener);
    return NULL;
}

void listener_stop(struct listener *listener)
{
    scoped(unix_path) struct unix_path path = {.directory = -1};

    if (!listener)
        return;
    listener->stopping = true;
    if (unix_path_open(listener->path, &path, NULL))
        unlink(path.text);
    for (size_t i = listener->count; i-- > 0;)
        connection_stop(listener->connections[i]);
    uv_close(&listener->io.handle, on_closed);
}
