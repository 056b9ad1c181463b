/*
 * The thread of the proxy has the listeners and the connections forwarded from them.
 *
 * The loop puts commands into a queue and wakes the thread by an eventfd. The thread takes all
 * commands in order. Only the queue is shared; everything else belongs to the thread.
 */
#include "node/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/mem.h"
#include "node/proxy/splice.h"
#include "node/proxy/udp_listener.h"

enum {
    BACKLOG = 128,
    ACCEPTS_PER_EVENT = 16,
    TRIES_MAX = 8, /* number of targets tried for a connection */
    SYN_TRIES = 2, /* number of SYN packets sent; a pod that has just ended does not answer */
    PAUSE_NS = 100000000, /* how long accepting pauses when descriptors run out */
};

enum command_type { COMMAND_OPEN, COMMAND_SET_TARGETS, COMMAND_CLOSE, COMMAND_STOP };

struct command {
    STAILQ_ENTRY(command) next;
    enum command_type type;
    uint32_t listener;
    int fd;
    size_t n;
    struct proxy_target targets[];
};

struct listener {
    UT_hash_handle hh; /* links the listeners in a hash table by number */
    uint32_t number;
    struct source source;
    struct proxy *proxy;
    bool listening, armed;
    struct proxy_target *targets; /* targets of the listener, [n] */
    size_t n, turn;
};

struct conn {
    struct splice splice;
    struct proxy *proxy;
    LIST_ENTRY(conn) all;
    uint32_t listener;
    unsigned tries;
};

struct proxy {
    pthread_t thread;
    pthread_mutex_t lock;
    STAILQ_HEAD(commands, command) commands; /* queue of commands, protected by the lock */
    uint32_t last_listener; /* the last number given to a listener; only the loop uses it */

    struct reactor reactor; /* this member and those below are used only by the thread */
    struct source wakeup;   /* readable when there are commands */
    struct netns_holder holder;
    struct listener *listeners;
    struct udp_listeners udp_listeners;
    LIST_HEAD(conns, conn) conns;
    size_t n_conns;
    bool full; /* too many connections: listeners do not accept until one has ended */
    struct alarm resume;
};

static struct listener *listener_of(struct proxy *proxy, uint32_t number)
{
    struct listener *listener;

    HASH_FIND(hh, proxy->listeners, &number, sizeof number, listener);
    return listener;
}

static void listener_watch(struct listener *listener)
{
    bool wanted = listener->listening && !listener->proxy->full;

    if (wanted && !listener->armed)
        reactor_add(&listener->proxy->reactor, &listener->source, EPOLLIN);
    else if (!wanted && listener->armed)
        reactor_remove(&listener->proxy->reactor, &listener->source);
    listener->armed = wanted;
}

static void set_full(struct proxy *proxy, bool full)
{
    if (proxy->full == full)
        return;
    proxy->full = full;
    for (struct listener *listener = proxy->listeners; listener; listener = listener->hh.next)
        listener_watch(listener);
}

static void resume(struct alarm *alarm)
{
    struct proxy *proxy = container_of(alarm, struct proxy, resume);

    set_full(proxy, proxy->n_conns >= PROXY_CONNS_MAX);
}

static void conn_end(struct splice *splice)
{
    struct conn *conn = container_of(splice, struct conn, splice);
    struct proxy *proxy = conn->proxy;

    splice_close(splice);
    LIST_REMOVE(conn, all);
    proxy->n_conns--;
    mem_free(conn);
    set_full(proxy, proxy->n_conns >= PROXY_CONNS_MAX);
}

/* Makes a socket non-blocking. Sockets from the namespace holder are blocking. */
static void set_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int new_socket(void *ctx, int type)
{
    struct proxy *proxy = ctx;
    int fd = proxy->holder.fd >= 0 ? netns_holder_socket(&proxy->holder, type, NULL)
                                   : socket(AF_INET, type | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        set_nonblocking(fd);
    return fd;
}

static void set_nodelay(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Begins a connection to the next target. Returns its descriptor, or -1. */
static int connect_next(struct proxy *proxy, struct listener *listener)
{
    const struct proxy_target *target = &listener->targets[listener->turn++ % listener->n];
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(target->port), .sin_addr.s_addr = target->ip};
    const int tries = SYN_TRIES;
    int fd = new_socket(proxy, SOCK_STREAM);

    if (fd < 0)
        return -1;
    set_nodelay(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &tries, sizeof tries);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* Tries the next target, and ends the connection when none is left. */
static void try_next_target(struct splice *splice)
{
    struct conn *conn = container_of(splice, struct conn, splice);
    struct listener *listener = listener_of(conn->proxy, conn->listener);

    while (listener && conn->tries < listener->n && conn->tries < TRIES_MAX) {
        int fd = connect_next(conn->proxy, listener);

        conn->tries++;
        if (fd >= 0) {
            splice_connect(splice, fd);
            return;
        }
    }
    conn_end(splice);
}

static void conn_new(struct listener *listener, int fd)
{
    struct proxy *proxy = listener->proxy;
    struct conn *conn = mem_alloc(sizeof *conn);

    conn->proxy = proxy;
    conn->listener = listener->number;
    splice_init(&conn->splice, &proxy->reactor, fd);
    conn->splice.failed = try_next_target;
    conn->splice.ended = conn_end;
    LIST_INSERT_HEAD(&proxy->conns, conn, all);
    proxy->n_conns++;
    set_nodelay(fd);
    try_next_target(&conn->splice);
}

static void on_accept(struct source *source, uint32_t events)
{
    struct listener *listener = container_of(source, struct listener, source);
    struct proxy *proxy = listener->proxy;

    for (int i = 0; i < ACCEPTS_PER_EVENT && !proxy->full; i++) {
        int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            conn_new(listener, fd);
            if (proxy->n_conns >= PROXY_CONNS_MAX)
                set_full(proxy, true);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            set_full(proxy, true);
            alarm_set(&proxy->reactor, &proxy->resume, PAUSE_NS);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static bool is_udp(int fd)
{
    socklen_t len = sizeof(int);
    int type = 0;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
}

static void open_listener(struct proxy *proxy, const struct command *command)
{
    struct listener *listener;

    set_nonblocking(command->fd);
    if (is_udp(command->fd)) {
        udp_listener_open(&proxy->udp_listeners, command->listener, command->fd);
        return;
    }
    listener = mem_alloc(sizeof *listener);
    *listener = (struct listener){
        .number = command->listener, .source = {on_accept, command->fd}, .proxy = proxy};
    HASH_ADD(hh, proxy->listeners, number, sizeof listener->number, listener);
}

/* Sets the targets of a listener. A listening socket that is shut down keeps its address and
 * refuses connections until it listens again. */
static void set_targets(struct proxy *proxy, const struct command *command)
{
    struct listener *listener = listener_of(proxy, command->listener);

    if (!listener) {
        udp_listener_set_targets(&proxy->udp_listeners, command->listener, command->targets,
                                 command->n);
        return;
    }
    listener->targets = mem_resize(listener->targets, (command->n + 1) * sizeof *listener->targets);
    memcpy(listener->targets, command->targets, command->n * sizeof *listener->targets);
    listener->n = command->n;
    if (listener->n && !listener->listening)
        listener->listening = listen(listener->source.fd, BACKLOG) == 0;
    if (!listener->n && listener->listening) {
        listener->listening = false;
        listener_watch(listener);
        shutdown(listener->source.fd, SHUT_RDWR);
    }
    listener_watch(listener);
}

static void listener_close(struct listener *listener)
{
    listener->listening = false;
    listener_watch(listener);
    close(listener->source.fd);
    HASH_DELETE(hh, listener->proxy->listeners, listener);
    mem_free(listener->targets);
    mem_free(listener);
}

static void close_listener(struct proxy *proxy, const struct command *command)
{
    struct listener *listener = listener_of(proxy, command->listener);

    if (listener)
        listener_close(listener);
    else
        udp_listener_close(&proxy->udp_listeners, command->listener);
}

static void stop(struct proxy *proxy, const struct command *command)
{
    proxy->reactor.stopped = true;
}

static void (*const handlers[])(struct proxy *proxy, const struct command *command) = {
    [COMMAND_OPEN] = open_listener,
    [COMMAND_SET_TARGETS] = set_targets,
    [COMMAND_CLOSE] = close_listener,
    [COMMAND_STOP] = stop,
};

static struct command *next_command(struct proxy *proxy)
{
    struct command *command;

    pthread_mutex_lock(&proxy->lock);
    command = STAILQ_FIRST(&proxy->commands);
    if (command)
        STAILQ_REMOVE_HEAD(&proxy->commands, next);
    pthread_mutex_unlock(&proxy->lock);
    return command;
}

static void on_wakeup(struct source *source, uint32_t events)
{
    struct proxy *proxy = container_of(source, struct proxy, wakeup);
    uint64_t count;
    struct command *command;

    if (read(source->fd, &count, sizeof count) < 0)
        return;
    while ((command = next_command(proxy))) {
        handlers[command->type](proxy, command);
        mem_free(command);
    }
}

static void send_command(struct proxy *proxy, struct command *command)
{
    const uint64_t ring = 1;

    pthread_mutex_lock(&proxy->lock);
    STAILQ_INSERT_TAIL(&proxy->commands, command, next);
    pthread_mutex_unlock(&proxy->lock);
    while (write(proxy->wakeup.fd, &ring, sizeof ring) < 0 && errno == EINTR)
        ;
}

static struct command *command_new(enum command_type type, uint32_t listener, size_t n)
{
    struct command *command = mem_alloc(sizeof *command + n * sizeof command->targets[0]);

    command->type = type;
    command->listener = listener;
    command->fd = -1;
    command->n = n;
    return command;
}

uint32_t proxy_open(struct proxy *proxy, int fd)
{
    struct command *command = command_new(COMMAND_OPEN, ++proxy->last_listener, 0);
    uint32_t number = command->listener;

    command->fd = fd;
    send_command(proxy, command);
    return number;
}

void proxy_set_targets(struct proxy *proxy, uint32_t listener, const struct proxy_target *targets,
                       size_t n)
{
    struct command *command =
        command_new(COMMAND_SET_TARGETS, listener, n < PROXY_TARGETS_MAX ? n : PROXY_TARGETS_MAX);

    if (command->n)
        memcpy(command->targets, targets, command->n * sizeof *targets);
    send_command(proxy, command);
}

void proxy_close(struct proxy *proxy, uint32_t listener)
{
    send_command(proxy, command_new(COMMAND_CLOSE, listener, 0));
}

static void settled(struct reactor *reactor)
{
}

static void *run(void *arg)
{
    struct proxy *proxy = arg;

    reactor_run(&proxy->reactor);
    return NULL;
}

static void release(struct proxy *proxy)
{
    struct command *command;

    while (!LIST_EMPTY(&proxy->conns))
        conn_end(&LIST_FIRST(&proxy->conns)->splice);
    while (proxy->listeners)
        listener_close(proxy->listeners);
    udp_listeners_release(&proxy->udp_listeners);
    while ((command = next_command(proxy))) {
        if (command->fd >= 0)
            close(command->fd);
        mem_free(command);
    }
    alarm_clear(&proxy->reactor, &proxy->resume);
    reactor_remove(&proxy->reactor, &proxy->wakeup);
    close(proxy->wakeup.fd);
    reactor_release(&proxy->reactor);
    netns_holder_close(&proxy->holder);
    pthread_mutex_destroy(&proxy->lock);
    mem_free(proxy);
}

/* Starts the thread with all signals blocked, because the loop handles them. */
static int start_thread(struct proxy *proxy)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&proxy->thread, NULL, run, proxy);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct proxy *proxy_start(struct netns_holder holder, struct error *err)
{
    struct proxy *proxy = mem_alloc(sizeof *proxy);
    int error;

    proxy->holder = holder;
    proxy->resume.ring = resume;
    proxy->reactor.settle = settled;
    proxy->reactor.epoll_fd = -1;
    proxy->udp_listeners.reactor = &proxy->reactor;
    proxy->udp_listeners.new_socket = new_socket;
    proxy->udp_listeners.ctx = proxy;
    udp_listeners_init(&proxy->udp_listeners);
    proxy->wakeup = (struct source){on_wakeup, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    STAILQ_INIT(&proxy->commands);
    LIST_INIT(&proxy->conns);
    pthread_mutex_init(&proxy->lock, NULL);
    error = proxy->wakeup.fd >= 0 && reactor_init(&proxy->reactor) &&
                    reactor_add(&proxy->reactor, &proxy->wakeup, EPOLLIN)
                ? start_thread(proxy)
                : errno;
    if (!error)
        return proxy;
    error_errno(err, error, "the proxy of Services");
    release(proxy);
    return NULL;
}

void proxy_stop(struct proxy *proxy)
{
    if (!proxy)
        return;
    send_command(proxy, command_new(COMMAND_STOP, 0, 0));
    pthread_join(proxy->thread, NULL);
    release(proxy);
}
