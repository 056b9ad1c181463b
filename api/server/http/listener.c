/*
 * Accepts connections, identifies their peers and enforces the bounds on their number. Draining
 * closes the listening sockets first and lets pending responses finish.
 */
#include "api/server/http/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/server/http/unix_path.h"
#include "base/log.h"
#include "base/loop/metrics.h"
#include "base/mem.h"

enum {
    CONNECTIONS_MAX = 1024, /* default limit of connections (L-22) */
    CONNECTIONS_PER_PEER = 128,
    LISTEN_BACKLOG = 4096, /* the kernel's usual bound */
    ACCEPTS_A_TURN = 16,
    UNAUTHENTICATED_PART = 2, /* limits of silent, and of unauthenticated connections: 1/2 of all */
    SPARE_FILES = 64,         /* L-42: file descriptors kept free for the store, pods and logs */
    UNIX_FILES_PART = 16,     /* 1/16 of all file descriptors is kept for the unix socket */
    KEEPALIVE_S = 60,         /* idle time after which TCP probes the peer */
};

struct listen_socket {
    union {
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_stream_t stream;
        uv_handle_t handle;
    } io;
    struct listener *listener;
    enum io_socket socket;
    char *path;        /* path of a unix socket; NULL: TCP */
    unsigned accepted; /* connections accepted in this turn */
    bool is_waiting;   /* a connection is accepted in the next turn */
    struct listen_socket *next;
};

struct listener {
    struct loop *loop;
    struct connection_env env[2]; /* environment by enum io_socket */
    struct api_handler api;       /* the handler of a listener that serves the API */
    struct listener_options options;
    struct tls_context *tls; /* a reference; NULL without TCP */
    struct listen_socket *sockets;
    size_t open_sockets;
    struct connection **connections; /* open connections, [count] */
    size_t count, cap;
    uint64_t arrived; /* number of connections so far */
    bool is_crowded;  /* another connection was closed for the newest one */
    struct timer next_turn;
    struct metric *refused;
    size_t large_bodies;
    bool draining, stopping;
    struct task *drained;
};

static const struct metric_def refused_def = {
    "jobflow_api_connections_refused_total",
    "Connections refused or closed because a limit was reached (L-22, L-42).", METRIC_COUNTER};

static void on_next_turn(struct timer *timer);

static void free_when_empty(struct listener *listener)
{
    if (!listener->stopping || listener->open_sockets > 0 || listener->count > 0)
        return;
    tls_context_unref(listener->tls);
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
    if (listener->count == 0 && listener->drained)
        loop_post(listener->loop, take(listener->drained));
    free_when_empty(listener);
}

static void on_answered(void *ctx, const struct request_record *record)
{
    const struct listener *listener = ctx;

    listener->options.answered(listener->options.ctx, record);
}

void listener_set_limits(struct listener *listener, size_t connections_max,
                         size_t connections_per_peer)
{
    listener->options.connections_max = connections_max ? connections_max : CONNECTIONS_MAX;
    listener->options.connections_per_peer =
        connections_per_peer ? connections_per_peer : CONNECTIONS_PER_PEER;
    for (size_t i = 0; i < countof(listener->env); i++)
        listener->env[i].connections_per_identity = listener->options.connections_per_peer;
}

static struct listener *make(struct loop *loop, const struct listener_options *options)
{
    struct listener *listener = mem_alloc(sizeof *listener);

    if (options)
        listener->options = *options;
    listener->loop = loop;
    listener->next_turn.fire = on_next_turn;
    listener->refused = metric_of(metrics_family(loop_metrics(loop), &refused_def), NULL);
    listener->env[IO_UNIX] = (struct connection_env){
        .loop = loop,
        .authn = listener->options.authn,
        .large_bodies = &listener->large_bodies,
        .closed = on_connection_closed,
        .answered = listener->options.answered ? on_answered : NULL,
        .ctx = listener,
    };
    listener->env[IO_TCP] = listener->env[IO_UNIX];
    listener->env[IO_TCP].hosts = listener->options.hosts;
    listener_set_limits(listener, listener->options.connections_max,
                        listener->options.connections_per_peer);
    return listener;
}

static struct listener *serve(struct listener *listener, struct http_handler *handler)
{
    for (size_t i = 0; i < countof(listener->env); i++)
        listener->env[i].handler = handler;
    return listener;
}

struct listener *listener_new_for(struct loop *loop, struct http_handler *handler,
                                  const struct listener_options *options)
{
    return serve(make(loop, options), handler);
}

struct listener *listener_new(struct loop *loop, struct api *api,
                              const struct listener_options *options)
{
    struct listener *listener = make(loop, options);

    return serve(listener, api_handler_init(&listener->api, api));
}

void listener_set_page(struct listener *listener, struct http_handler *page)
{
    for (size_t i = 0; i < countof(listener->env); i++)
        listener->env[i].page = page;
}

void listener_drop_revoked(struct listener *listener)
{
    for (size_t i = listener->count; i-- > 0;)
        if (connection_is_revoked(listener->connections[i]))
            connection_close(listener->connections[i]);
}

size_t listener_connections(const struct listener *listener)
{
    return listener->count;
}

void listener_set_tls(struct listener *listener, struct tls_context *tls)
{
    tls_context_unref(listener->tls);
    listener->tls = tls_context_ref(tls);
}

/* Identifies the user of a unix socket. SEC-01: the socket's mode keeps other users out, and the
 * peer's user is checked all the same. */
static bool identify_unix(const struct listener *listener, struct connection *connection)
{
    struct identity *identity = NULL;
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)connection_stream(connection), &fd) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    if (listener->options.authn)
        identity = authn_identity_of_uid(listener->options.authn, peer.uid);
    connection_set_peer(connection, identity ? identity_ref(identity) : NULL,
                        mem_printf("uid:%u", (unsigned)peer.uid));
    return identity || (!listener->options.authn && (peer.uid == getuid() || peer.uid == 0));
}

static bool identify_tcp(struct connection *connection)
{
    uv_tcp_t *tcp = (uv_tcp_t *)connection_stream(connection);
    struct sockaddr_storage address;
    int len = sizeof address;
    char text[INET6_ADDRSTRLEN];

    if (uv_tcp_getpeername(tcp, (struct sockaddr *)&address, &len) < 0 ||
        uv_ip_name((const struct sockaddr *)&address, text, sizeof text) < 0)
        return false;
    uv_tcp_nodelay(tcp, 1);
    uv_tcp_keepalive(tcp, 1, KEEPALIVE_S);
    connection_set_peer(connection, NULL, mem_strdup(text));
    return true;
}

/* The kernel assigns the lowest free descriptor, so a high one means that few are left. More of
 * them are kept for the unix socket, so that the owner gets in when the network has taken the
 * others. */
static bool files_are_scarce(struct connection *connection, enum io_socket socket)
{
    struct rlimit files;
    rlim_t spare = SPARE_FILES;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)connection_stream(connection), &fd) ||
        getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == RLIM_INFINITY)
        return false;
    if (socket == IO_TCP)
        spare += files.rlim_cur / UNIX_FILES_PART;
    return (rlim_t)fd + spare >= files.rlim_cur;
}

static size_t count_sockets(const struct listener *listener, enum io_socket socket)
{
    size_t n = 0;

    for (size_t i = 0; i < listener->count; i++)
        n += connection_socket(listener->connections[i]) == socket;
    return n;
}

/* Returns the connection to close for the newest one, or NULL. `full`: there is no room at all, so
 * any unauthenticated connection may be closed. */
static struct connection *to_evict(const struct listener *listener, bool full)
{
    struct eviction_candidate *candidates = mem_array(listener->count, sizeof *candidates);
    const struct eviction_bounds bounds = {
        .unauthenticated = full ? 0 : listener->options.connections_max / UNAUTHENTICATED_PART,
        .per_group = full ? SIZE_MAX : listener->options.connections_per_peer * 2,
    };
    long at;

    for (size_t i = 0; i < listener->count; i++)
        connection_eviction_candidate(listener->connections[i], &candidates[i]);
    at = eviction_choose(candidates, listener->count, listener->count - 1, &bounds);
    mem_free(candidates);
    return at == EVICT_NONE ? NULL : listener->connections[at];
}

static void tell(const struct listener *listener, const char *what,
                 const struct connection *connection)
{
    log_warn(what, kv_str("peer", connection_peer_name(connection)),
             kv_int("connections", (int64_t)listener->count));
    metric_add(listener->refused, 1);
}

/* Makes room for the newest connection. Returns false when it is refused. Connections of the unix
 * socket have a limit of their own and are never closed for others, because the kernel has
 * identified their users. */
static bool make_room(struct listener *listener, struct connection *newest, enum io_socket socket)
{
    bool scarce = files_are_scarce(newest, socket);
    bool full = scarce || count_sockets(listener, socket) > listener->options.connections_max;
    struct connection *oldest = socket == IO_TCP ? to_evict(listener, full) : NULL;

    if (socket == IO_TCP)
        listener->is_crowded = oldest != NULL;
    if (oldest) {
        tell(listener, "connection without credentials gives up its place", oldest);
        connection_close(oldest);
    } else if (full) {
        tell(listener, scarce ? "too many open files" : "too many connections", newest);
    }
    return oldest || !full;
}

static void accept_one(struct listen_socket *sock)
{
    struct listener *listener = sock->listener;
    uv_stream_t *server = &sock->io.stream;
    struct connection *connection;
    bool known;

    sock->accepted++;
    connection = connection_new(
        &listener->env[sock->socket],
        &(struct connection_peer){.socket = sock->socket,
                                  .tls = sock->socket == IO_TCP ? listener->tls : NULL,
                                  .number = ++listener->arrived});
    mem_grow(listener->connections, listener->count, listener->cap);
    listener->connections[listener->count++] = connection;
    known =
        uv_accept(server, connection_stream(connection)) == 0 &&
        (sock->socket == IO_UNIX ? identify_unix(listener, connection) : identify_tcp(connection));
    if (!known) {
        log_warn("connection refused", kv_str("peer", connection_peer_name(connection)));
        connection_close(connection);
    } else if (make_room(listener, connection, sock->socket)) {
        connection_start(connection);
    } else {
        connection_refuse_busy(connection);
    }
}

/* Accepts what has waited for this turn. libuv goes on with the others by itself. */
static void on_next_turn(struct timer *timer)
{
    struct listener *listener = container_of(timer, struct listener, next_turn);

    for (struct listen_socket *sock = listener->sockets; sock; sock = sock->next) {
        sock->accepted = 0;
        if (sock->is_waiting) {
            sock->is_waiting = false;
            timer_start(listener->loop, &listener->next_turn, 1);
            accept_one(sock);
        }
    }
}

/* Takes few connections of a socket in one turn of the loop, which lasts a millisecond at least,
 * and a single one while places are given up. So those that have a place keep it for a time in
 * which a client can send its request, and are served in between. The others wait in the kernel:
 * libuv offers no further connection of a socket until the offered one has been accepted. */
static void on_connection(uv_stream_t *server, int status)
{
    struct listen_socket *sock = server->data;
    struct listener *listener = sock->listener;

    if (status < 0 || listener->draining || listener->stopping)
        return;
    if (!timer_armed(&listener->next_turn))
        timer_start(listener->loop, &listener->next_turn, 1);
    if (sock->accepted == ACCEPTS_A_TURN ||
        (sock->accepted && sock->socket == IO_TCP && listener->is_crowded))
        sock->is_waiting = true;
    else
        accept_one(sock);
}

static void on_socket_closed(uv_handle_t *handle)
{
    struct listen_socket *sock = handle->data;
    struct listener *listener = sock->listener;

    mem_free(sock->path);
    mem_free(sock);
    listener->open_sockets--;
    free_when_empty(listener);
}

static struct listen_socket *new_socket(struct listener *listener, enum io_socket socket)
{
    struct listen_socket *sock = mem_alloc(sizeof *sock);

    if (socket == IO_UNIX)
        uv_pipe_init(loop_uv(listener->loop), &sock->io.pipe, 0);
    else
        uv_tcp_init(loop_uv(listener->loop), &sock->io.tcp);
    sock->io.handle.data = sock;
    sock->listener = listener;
    sock->socket = socket;
    listener->open_sockets++;
    return sock;
}

static bool start_listening(struct listen_socket *sock, int result)
{
    if (result == 0)
        result = uv_listen(&sock->io.stream, LISTEN_BACKLOG, on_connection);
    if (result < 0) {
        uv_close(&sock->io.handle, on_socket_closed);
        errno = -result;
        return false;
    }
    sock->next = sock->listener->sockets;
    sock->listener->sockets = sock;
    return true;
}

/* Binds a unix socket with exactly this mode, whatever the umask is. */
static int bind_socket(const char *path, unsigned mode, struct error *err)
{
    scoped(unix_path) struct unix_path short_path = {.directory = -1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (!unix_path_open(path, &short_path, err))
        return -1;
    memcpy(address.sun_path, short_path.text, sizeof address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, mode) < 0) {
        error_errno(err, errno, "cannot make a socket");
    } else {
        unlink(address.sun_path); /* stale: this process holds the data directory's lock */
        if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        error_errno(err, errno, "cannot listen on %s", path);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

bool listener_add_unix(struct listener *listener, const char *path, unsigned mode,
                       struct error *err)
{
    int fd = bind_socket(path, mode, err), result;
    struct listen_socket *sock;

    if (fd < 0)
        return false;
    sock = new_socket(listener, IO_UNIX);
    sock->path = mem_strdup(path);
    result = uv_pipe_open(&sock->io.pipe, fd);
    if (result < 0)
        close(fd);
    return start_listening(sock, result) || error_errno(err, errno, "cannot listen on %s", path);
}

static bool parse_address(const char *text, int port, struct sockaddr_storage *out)
{
    return uv_ip4_addr(text, port, (struct sockaddr_in *)out) == 0 ||
           uv_ip6_addr(text, port, (struct sockaddr_in6 *)out) == 0;
}

static int port_of(const struct listen_socket *sock)
{
    struct sockaddr_storage address;
    int len = sizeof address;

    if (uv_tcp_getsockname(&sock->io.tcp, (struct sockaddr *)&address, &len) < 0)
        return 0;
    return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                              : ((struct sockaddr_in6 *)&address)->sin6_port);
}

bool listener_add_tcp(struct listener *listener, const char *address, int port,
                      struct tls_context *tls, int *out_port, struct error *err)
{
    struct sockaddr_storage where;
    struct listen_socket *sock;

    if (!parse_address(address, port, &where))
        return error_set(err, ERR_INVALID, "", "\"%s\" is not an address to listen on", address);
    if (tls != listener->tls)
        listener_set_tls(listener, tls);
    sock = new_socket(listener, IO_TCP);
    if (!start_listening(sock, uv_tcp_bind(&sock->io.tcp, (const struct sockaddr *)&where, 0))) {
        bool taken = errno == EADDRINUSE;

        error_errno(err, errno, "cannot listen on %s port %d", address, port);
        if (taken && err)
            err->code = ERR_EXISTS;
        return false;
    }
    *out_port = port_of(sock);
    return true;
}

static void close_sockets(struct listener *listener)
{
    struct listen_socket *sock;

    timer_stop(listener->loop, &listener->next_turn);
    while ((sock = listener->sockets)) {
        scoped(unix_path) struct unix_path path = {.directory = -1};

        listener->sockets = sock->next;
        if (sock->path && unix_path_open(sock->path, &path, NULL))
            unlink(path.text);
        uv_close(&sock->io.handle, on_socket_closed);
    }
}

void listener_drain(struct listener *listener, struct task *drained)
{
    listener->draining = true;
    close_sockets(listener);
    for (size_t i = listener->count; i-- > 0;)
        connection_drain(listener->connections[i]);
    if (listener->count == 0)
        loop_post(listener->loop, drained);
    else
        listener->drained = drained;
}

void listener_stop(struct listener *listener)
{
    if (!listener)
        return;
    listener->stopping = true;
    listener->drained = NULL;
    close_sockets(listener);
    for (size_t i = listener->count; i-- > 0;)
        connection_stop(listener->connections[i]);
    free_when_empty(listener);
}
