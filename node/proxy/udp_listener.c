/*
 * Forwards datagrams. The socket of a listener without targets is connected to itself: then the
 * kernel refuses datagrams of others, as for an unused port, and the address stays bound.
 */
#include "node/proxy/udp_listener.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { DATAGRAM_MAX = 65535, DATAGRAMS_PER_EVENT = 16, TRIES_MAX = 8 };

struct udp_listener {
    UT_hash_handle hh; /* links the listeners in a hash table by number */
    uint32_t number;
    struct source source;
    struct udp_listeners *all;
    struct proxy_target *targets; /* targets of the listener, [n]; owned */
    size_t n, turn;
    LIST_HEAD(clients, client) clients;
};

/* A program that has sent a datagram to a listener. */
struct client {
    struct udp_session session;
    struct udp_listener *listener;
    LIST_ENTRY(client) of_listener;
    struct source source; /* socket connected to the client's target */
    struct proxy_target target;
};

static int64_t now(void)
{
    return clock_mono_ns(clock_real());
}

static void client_end(struct client *client)
{
    struct udp_listeners *all = client->listener->all;

    reactor_remove(all->reactor, &client->source);
    close(client->source.fd);
    udp_sessions_remove(&all->udp_sessions, &client->session);
    LIST_REMOVE(client, of_listener);
    mem_free(client);
}

static void end_session(struct udp_session *session)
{
    client_end(container_of(session, struct client, session));
}

static void set_expiry(struct udp_listeners *all)
{
    int64_t due_ns = udp_sessions_due_ns(&all->udp_sessions, now());

    if (due_ns >= 0)
        alarm_set(all->reactor, &all->expiry, due_ns);
}

static void expire(struct alarm *alarm)
{
    struct udp_listeners *all = container_of(alarm, struct udp_listeners, expiry);
    struct udp_session *session;

    while ((session = udp_sessions_expired(&all->udp_sessions, now())))
        end_session(session);
    set_expiry(all);
}

/* Forwards the answers of a target to the client. */
static void on_answer(struct source *source, uint32_t events)
{
    struct client *client = container_of(source, struct client, source);
    struct udp_listeners *all = client->listener->all;
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = (in_port_t)client->session.key.port,
                                   .sin_addr.s_addr = client->session.key.ip};

    for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
        ssize_t n = recv(source->fd, all->bytes, DATAGRAM_MAX, 0);

        if (n < 0 && errno == ECONNREFUSED)
            client_end(client);
        if (n < 0)
            return;
        udp_sessions_used(&all->udp_sessions, &client->session, UDP_FROM_TARGET, now());
        sendto(client->listener->source.fd, all->bytes, (size_t)n, 0, (const struct sockaddr *)&to,
               sizeof to);
    }
}

/* Returns a socket connected to the next target, or -1 on failure. If there are too many sessions,
 * the one that rests longest ends. */
static int next_target(struct udp_listener *listener, struct proxy_target *out)
{
    struct udp_listeners *all = listener->all;
    struct udp_session *oldest = udp_sessions_oldest_if_full(&all->udp_sessions);
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd;

    if (oldest)
        end_session(oldest);
    *out = listener->targets[listener->turn++ % listener->n];
    to.sin_port = htons(out->port);
    to.sin_addr.s_addr = out->ip;
    fd = all->new_socket(all->ctx, SOCK_DGRAM);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static struct client *client_new(struct udp_listener *listener, const struct udp_session_key *key)
{
    struct udp_listeners *all = listener->all;
    struct proxy_target target;
    int fd = next_target(listener, &target);
    struct client *client;

    if (fd < 0)
        return NULL;
    client = mem_alloc(sizeof *client);
    client->listener = listener;
    client->target = target;
    client->source = (struct source){on_answer, fd};
    reactor_add(all->reactor, &client->source, EPOLLIN);
    LIST_INSERT_HEAD(&listener->clients, client, of_listener);
    udp_sessions_add(&all->udp_sessions, &client->session, key, now());
    set_expiry(all);
    return client;
}

/* Returns whether the target has refused. On the same machine the refusal is known at once. */
static bool is_refused(const struct client *client)
{
    socklen_t len = sizeof(int);
    int error = 0;

    return !client->session.answered &&
           getsockopt(client->source.fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
           error == ECONNREFUSED;
}

static bool send_to_target(const struct client *client, size_t len)
{
    const struct udp_listeners *all = client->listener->all;

    if (send(client->source.fd, all->bytes, len, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
        return false;
    return !is_refused(client);
}

/* Forwards the datagram, which is in the buffer. Targets that refuse are skipped. */
static void forward(struct udp_listener *listener, const struct udp_session_key *key, size_t len)
{
    struct udp_listeners *all = listener->all;

    for (size_t i = 0; i < listener->n && i < TRIES_MAX; i++) {
        struct udp_session *known = udp_sessions_find(&all->udp_sessions, key);
        struct client *client = known ? container_of(known, struct client, session) : NULL;

        if (!client)
            client = client_new(listener, key);
        if (!client)
            return;
        udp_sessions_used(&all->udp_sessions, &client->session, UDP_FROM_CLIENT, now());
        if (send_to_target(client, len))
            return;
        client_end(client);
    }
}

static void on_request(struct source *source, uint32_t events)
{
    struct udp_listener *listener = container_of(source, struct udp_listener, source);

    for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
        struct sockaddr_in from = {0};
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(source->fd, listener->all->bytes, DATAGRAM_MAX, 0,
                             (struct sockaddr *)&from, &size);
        struct udp_session_key key = {listener->number, from.sin_addr.s_addr, from.sin_port};

        if (n < 0)
            return;
        forward(listener, &key, (size_t)n);
    }
}

static struct udp_listener *listener_of(const struct udp_listeners *all, uint32_t number)
{
    struct udp_listener *listener;

    HASH_FIND(hh, all->udp_listeners, &number, sizeof number, listener);
    return listener;
}

/* Makes a listener without targets refuse datagrams, or one with targets take them. The change
 * cannot be retried if it fails: then datagrams without a target are dropped instead of refused, or
 * datagrams with one refused. */
static void refuse_datagrams(struct udp_listener *listener)
{
    struct sockaddr_in own;
    socklen_t size = sizeof own;

    if (getsockname(listener->source.fd, (struct sockaddr *)&own, &size) == 0)
        (void)connect(listener->source.fd, (const struct sockaddr *)&own, size);
}

static void accept_datagrams(struct udp_listener *listener)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    (void)connect(listener->source.fd, &none, sizeof none);
}

void udp_listener_open(struct udp_listeners *all, uint32_t number, int fd)
{
    struct udp_listener *listener = mem_alloc(sizeof *listener);

    listener->number = number;
    listener->source = (struct source){on_request, fd};
    listener->all = all;
    LIST_INIT(&listener->clients);
    HASH_ADD(hh, all->udp_listeners, number, sizeof listener->number, listener);
    refuse_datagrams(listener);
}

static bool is_target(const struct udp_listener *listener, const struct proxy_target *target)
{
    for (size_t i = 0; i < listener->n; i++)
        if (listener->targets[i].ip == target->ip && listener->targets[i].port == target->port)
            return true;
    return false;
}

static void end_clients_of_others(struct udp_listener *listener)
{
    struct client *client, *next;

    for (client = LIST_FIRST(&listener->clients); client; client = next) {
        next = LIST_NEXT(client, of_listener);
        if (!is_target(listener, &client->target))
            client_end(client);
    }
}

void udp_listener_set_targets(struct udp_listeners *all, uint32_t number,
                              const struct proxy_target *targets, size_t n)
{
    struct udp_listener *listener = listener_of(all, number);
    size_t before = listener ? listener->n : 0;

    if (!listener)
        return;
    listener->targets = mem_resize(listener->targets, (n + 1) * sizeof *targets);
    memcpy(listener->targets, targets, n * sizeof *targets);
    listener->n = n;
    end_clients_of_others(listener);
    if (n && !before) {
        accept_datagrams(listener);
        reactor_add(all->reactor, &listener->source, EPOLLIN);
    } else if (!n && before) {
        reactor_remove(all->reactor, &listener->source);
        refuse_datagrams(listener);
    }
}

void udp_listener_close(struct udp_listeners *all, uint32_t number)
{
    struct udp_listener *listener = listener_of(all, number);

    if (!listener)
        return;
    if (listener->n)
        reactor_remove(all->reactor, &listener->source);
    while (!LIST_EMPTY(&listener->clients))
        client_end(LIST_FIRST(&listener->clients));
    close(listener->source.fd);
    HASH_DELETE(hh, all->udp_listeners, listener);
    mem_free(listener->targets);
    mem_free(listener);
}

void udp_listeners_init(struct udp_listeners *all)
{
    udp_sessions_init(&all->udp_sessions);
    all->expiry.ring = expire;
    all->bytes = mem_alloc(DATAGRAM_MAX);
}

void udp_listeners_release(struct udp_listeners *all)
{
    while (all->udp_listeners)
        udp_listener_close(all, all->udp_listeners->number);
    alarm_clear(all->reactor, &all->expiry);
    mem_free(all->bytes);
}
