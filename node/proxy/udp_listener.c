/*
 * Doors for datagrams. See udp_listener.h.
 *
 * A hatch that leads nowhere is connected to itself: others who send to it are refused then, as by
 * a port at which nobody listens, and its address stays its own.
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

struct hatch {
    UT_hash_handle hh; /* by number */
    uint32_t number;
    struct source source;
    struct hatches *all;
    struct relay_target *targets; /* [n]; owned */
    size_t n, turn;
    LIST_HEAD(talks, talk) talks;
};

/* Of one who has sent. */
struct talk {
    struct session session;
    struct hatch *hatch;
    LIST_ENTRY(talk) of_hatch;
    struct source source; /* connected to the target */
    struct relay_target target;
};

static int64_t now(void)
{
    return clock_mono_ns(clock_real());
}

/* ---- talks ---- */

static void end_talk(struct talk *talk)
{
    struct hatches *all = talk->hatch->all;

    reactor_remove(all->reactor, &talk->source);
    close(talk->source.fd);
    sessions_remove(&all->sessions, &talk->session);
    LIST_REMOVE(talk, of_hatch);
    mem_free(talk);
}

static void end_session(struct session *session)
{
    end_talk(container_of(session, struct talk, session));
}

static void set_expiry(struct hatches *all)
{
    int64_t due_ns = sessions_due_ns(&all->sessions, now());

    if (due_ns >= 0)
        alarm_set(all->reactor, &all->expiry, due_ns);
}

static void expire(struct alarm *alarm)
{
    struct hatches *all = container_of(alarm, struct hatches, expiry);
    struct session *session;

    while ((session = sessions_expired(&all->sessions, now())))
        end_session(session);
    set_expiry(all);
}

/* What a target says goes back to who has asked. */
static void on_answer(struct source *source, uint32_t events)
{
    struct talk *talk = container_of(source, struct talk, source);
    struct hatches *all = talk->hatch->all;
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = (in_port_t)talk->session.key.port,
                                   .sin_addr.s_addr = talk->session.key.ip};

    for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
        ssize_t n = recv(source->fd, all->bytes, DATAGRAM_MAX, 0);

        if (n < 0 && errno == ECONNREFUSED)
            end_talk(talk);
        if (n < 0)
            return;
        sessions_used(&all->sessions, &talk->session, true, now());
        sendto(talk->hatch->source.fd, all->bytes, (size_t)n, 0, (const struct sockaddr *)&to,
               sizeof to);
    }
}

/* Connected to the target whose turn it is; -1: it is not to be had. */
static int next_target(struct hatch *hatch, struct relay_target *out)
{
    struct hatches *all = hatch->all;
    struct session *oldest = sessions_in_the_way(&all->sessions);
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd;

    if (oldest)
        end_session(oldest);
    *out = hatch->targets[hatch->turn++ % hatch->n];
    to.sin_port = htons(out->port);
    to.sin_addr.s_addr = out->ip;
    fd = all->new_socket(all->ctx, SOCK_DGRAM);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static struct talk *begin_talk(struct hatch *hatch, const struct session_key *key)
{
    struct hatches *all = hatch->all;
    struct relay_target target;
    int fd = next_target(hatch, &target);
    struct talk *talk;

    if (fd < 0)
        return NULL;
    talk = mem_alloc(sizeof *talk);
    talk->hatch = hatch;
    talk->target = target;
    talk->source = (struct source){on_answer, fd};
    reactor_add(all->reactor, &talk->source, EPOLLIN);
    LIST_INSERT_HEAD(&hatch->talks, talk, of_hatch);
    sessions_add(&all->sessions, &talk->session, key, now());
    set_expiry(all);
    return talk;
}

/* On this machine who refuses does so at once. */
static bool is_refused(const struct talk *talk)
{
    socklen_t len = sizeof(int);
    int error = 0;

    return !talk->session.answered &&
           getsockopt(talk->source.fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
           error == ECONNREFUSED;
}

static bool send_over(const struct talk *talk, size_t len)
{
    const struct hatches *all = talk->hatch->all;

    if (send(talk->source.fd, all->bytes, len, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
        return false;
    return !is_refused(talk);
}

/* A target that refuses is passed over. */
static void hand_on(struct hatch *hatch, const struct session_key *key, size_t len)
{
    struct hatches *all = hatch->all;

    for (size_t i = 0; i < hatch->n && i < TRIES_MAX; i++) {
        struct session *known = sessions_find(&all->sessions, key);
        struct talk *talk = known ? container_of(known, struct talk, session) : NULL;

        if (!talk)
            talk = begin_talk(hatch, key);
        if (!talk)
            return;
        sessions_used(&all->sessions, &talk->session, false, now());
        if (send_over(talk, len))
            return;
        end_talk(talk);
    }
}

static void on_question(struct source *source, uint32_t events)
{
    struct hatch *hatch = container_of(source, struct hatch, source);

    for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
        struct sockaddr_in from = {0};
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(source->fd, hatch->all->bytes, DATAGRAM_MAX, 0,
                             (struct sockaddr *)&from, &size);
        struct session_key key = {hatch->number, from.sin_addr.s_addr, from.sin_port};

        if (n < 0)
            return;
        hand_on(hatch, &key, (size_t)n);
    }
}

/* ---- hatches ---- */

static struct hatch *hatch_of(const struct hatches *all, uint32_t number)
{
    struct hatch *hatch;

    HASH_FIND(hh, all->hatches, &number, sizeof number, hatch);
    return hatch;
}

/* Neither connect can be answered by anything: what stays as it was drops datagrams instead of
 * refusing them, or the other way round. */
static void shut(struct hatch *hatch)
{
    struct sockaddr_in own;
    socklen_t size = sizeof own;

    if (getsockname(hatch->source.fd, (struct sockaddr *)&own, &size) == 0)
        (void)connect(hatch->source.fd, (const struct sockaddr *)&own, size);
}

static void unshut(struct hatch *hatch)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    (void)connect(hatch->source.fd, &none, sizeof none);
}

void hatch_open(struct hatches *all, uint32_t number, int fd)
{
    struct hatch *hatch = mem_alloc(sizeof *hatch);

    hatch->number = number;
    hatch->source = (struct source){on_question, fd};
    hatch->all = all;
    LIST_INIT(&hatch->talks);
    HASH_ADD(hh, all->hatches, number, sizeof hatch->number, hatch);
    shut(hatch);
}

static bool is_target(const struct hatch *hatch, const struct relay_target *target)
{
    for (size_t i = 0; i < hatch->n; i++)
        if (hatch->targets[i].ip == target->ip && hatch->targets[i].port == target->port)
            return true;
    return false;
}

static void end_talks_to_others(struct hatch *hatch)
{
    struct talk *talk, *next;

    for (talk = LIST_FIRST(&hatch->talks); talk; talk = next) {
        next = LIST_NEXT(talk, of_hatch);
        if (!is_target(hatch, &talk->target))
            end_talk(talk);
    }
}

void hatch_lead(struct hatches *all, uint32_t number, const struct relay_target *targets, size_t n)
{
    struct hatch *hatch = hatch_of(all, number);
    size_t before = hatch ? hatch->n : 0;

    if (!hatch)
        return;
    hatch->targets = mem_resize(hatch->targets, (n + 1) * sizeof *targets);
    memcpy(hatch->targets, targets, n * sizeof *targets);
    hatch->n = n;
    end_talks_to_others(hatch);
    if (n && !before) {
        unshut(hatch);
        reactor_add(all->reactor, &hatch->source, EPOLLIN);
    } else if (!n && before) {
        reactor_remove(all->reactor, &hatch->source);
        shut(hatch);
    }
}

void hatch_close(struct hatches *all, uint32_t number)
{
    struct hatch *hatch = hatch_of(all, number);

    if (!hatch)
        return;
    if (hatch->n)
        reactor_remove(all->reactor, &hatch->source);
    while (!LIST_EMPTY(&hatch->talks))
        end_talk(LIST_FIRST(&hatch->talks));
    close(hatch->source.fd);
    HASH_DELETE(hh, all->hatches, hatch);
    mem_free(hatch->targets);
    mem_free(hatch);
}

/* ---- life ---- */

void hatches_init(struct hatches *all)
{
    sessions_init(&all->sessions);
    all->expiry.ring = expire;
    all->bytes = mem_alloc(DATAGRAM_MAX);
}

void hatches_release(struct hatches *all)
{
    while (all->hatches)
        hatch_close(all, all->hatches->number);
    alarm_clear(all->reactor, &all->expiry);
    mem_free(all->bytes);
}
