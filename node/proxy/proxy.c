/*
 * The thread of the relay: doors, and the joints behind them. See proxy.h.
 *
 * The loop leaves letters; the thread takes them all in turn. Everything but the letter box is the
 * thread's alone.
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

#include "base/hash.h"
#include "base/mem.h"
#include "node/proxy/splice.h"
#include "node/proxy/udp_listener.h"

enum {
    BACKLOG = 128,
    ACCEPTS_PER_EVENT = 16,
    TRIES_MAX = 8,        /* targets a connection is offered to */
    SYN_TRIES = 2,        /* a pod that has just gone does not answer */
    PAUSE_NS = 100000000, /* when descriptors are short */
};

enum letter_type { LETTER_OPEN, LETTER_LEAD, LETTER_CLOSE, LETTER_STOP };

struct letter {
    STAILQ_ENTRY(letter) next;
    enum letter_type type;
    uint32_t door;
    int fd;
    size_t n;
    struct relay_target targets[];
};

struct door {
    UT_hash_handle hh; /* by number */
    uint32_t number;
    struct source source;
    struct relay *relay;
    bool listening, armed;
    struct relay_target *targets; /* [n] */
    size_t n, turn;
};

struct passage {
    struct joint joint;
    struct relay *relay;
    LIST_ENTRY(passage) all;
    uint32_t door;
    unsigned tries;
};

struct relay {
    pthread_t thread;
    pthread_mutex_t lock;
    STAILQ_HEAD(letters, letter) letters; /* under the lock */
    uint32_t last_door;                   /* the loop's */

    struct reactor reactor; /* from here on: the thread's */
    struct source bell;     /* rings when there are letters */
    struct netns_holder holder;
    struct door *doors;
    struct hatches hatches;
    LIST_HEAD(passages, passage) passages;
    size_t n_passages;
    bool full; /* doors are not watched until one has ended, or */
    struct alarm resume;
};

/* ---- doors ---- */

static struct door *door_of(struct relay *relay, uint32_t number)
{
    struct door *door;

    HASH_FIND(hh, relay->doors, &number, sizeof number, door);
    return door;
}

static void watch_door(struct door *door)
{
    bool wanted = door->listening && !door->relay->full;

    if (wanted && !door->armed)
        reactor_add(&door->relay->reactor, &door->source, EPOLLIN);
    else if (!wanted && door->armed)
        reactor_remove(&door->relay->reactor, &door->source);
    door->armed = wanted;
}

static void set_full(struct relay *relay, bool full)
{
    if (relay->full == full)
        return;
    relay->full = full;
    for (struct door *door = relay->doors; door; door = door->hh.next)
        watch_door(door);
}

static void resume(struct alarm *alarm)
{
    struct relay *relay = container_of(alarm, struct relay, resume);

    set_full(relay, relay->n_passages >= RELAY_JOINTS_MAX);
}

/* ---- passages ---- */

static void passage_end(struct joint *joint)
{
    struct passage *passage = container_of(joint, struct passage, joint);
    struct relay *relay = passage->relay;

    joint_close(joint);
    LIST_REMOVE(passage, all);
    relay->n_passages--;
    mem_free(passage);
    set_full(relay, relay->n_passages >= RELAY_JOINTS_MAX);
}

/* The holder's sockets would. */
static void never_wait(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int new_socket(void *ctx, int type)
{
    struct relay *relay = ctx;
    int fd = relay->holder.fd >= 0 ? netns_holder_socket(&relay->holder, type, NULL)
                                   : socket(AF_INET, type | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        never_wait(fd);
    return fd;
}

static void hurry(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A connection to the next target, under way; -1: none could be begun. */
static int begin(struct relay *relay, struct door *door)
{
    const struct relay_target *target = &door->targets[door->turn++ % door->n];
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(target->port), .sin_addr.s_addr = target->ip};
    const int tries = SYN_TRIES;
    int fd = new_socket(relay, SOCK_STREAM);

    if (fd < 0)
        return -1;
    hurry(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &tries, sizeof tries);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* Offer it to the next one; when nobody is left, it ends. */
static void offer(struct joint *joint)
{
    struct passage *passage = container_of(joint, struct passage, joint);
    struct door *door = door_of(passage->relay, passage->door);

    while (door && passage->tries < door->n && passage->tries < TRIES_MAX) {
        int fd = begin(passage->relay, door);

        passage->tries++;
        if (fd >= 0) {
            joint_connect(joint, fd);
            return;
        }
    }
    passage_end(joint);
}

static void let_in(struct door *door, int fd)
{
    struct relay *relay = door->relay;
    struct passage *passage = mem_alloc(sizeof *passage);

    passage->relay = relay;
    passage->door = door->number;
    joint_init(&passage->joint, &relay->reactor, fd);
    passage->joint.failed = offer;
    passage->joint.ended = passage_end;
    LIST_INSERT_HEAD(&relay->passages, passage, all);
    relay->n_passages++;
    hurry(fd);
    offer(&passage->joint);
}

static void on_door(struct source *source, uint32_t events)
{
    struct door *door = container_of(source, struct door, source);
    struct relay *relay = door->relay;

    for (int i = 0; i < ACCEPTS_PER_EVENT && !relay->full; i++) {
        int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            let_in(door, fd);
            if (relay->n_passages >= RELAY_JOINTS_MAX)
                set_full(relay, true);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            set_full(relay, true);
            alarm_set(&relay->reactor, &relay->resume, PAUSE_NS);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* ---- letters ---- */

static bool is_of_datagrams(int fd)
{
    socklen_t len = sizeof(int);
    int type = 0;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
}

static void open_door(struct relay *relay, const struct letter *letter)
{
    struct door *door;

    never_wait(letter->fd);
    if (is_of_datagrams(letter->fd)) {
        hatch_open(&relay->hatches, letter->door, letter->fd);
        return;
    }
    door = mem_alloc(sizeof *door);
    *door = (struct door){.number = letter->door, .source = {on_door, letter->fd}, .relay = relay};
    HASH_ADD(hh, relay->doors, number, sizeof door->number, door);
}

/* A listening socket that is shut down keeps its address and refuses, until it listens again. */
static void lead_door(struct relay *relay, const struct letter *letter)
{
    struct door *door = door_of(relay, letter->door);

    if (!door) {
        hatch_lead(&relay->hatches, letter->door, letter->targets, letter->n);
        return;
    }
    door->targets = mem_resize(door->targets, (letter->n + 1) * sizeof *door->targets);
    memcpy(door->targets, letter->targets, letter->n * sizeof *door->targets);
    door->n = letter->n;
    if (door->n && !door->listening)
        door->listening = listen(door->source.fd, BACKLOG) == 0;
    if (!door->n && door->listening) {
        door->listening = false;
        watch_door(door);
        shutdown(door->source.fd, SHUT_RDWR);
    }
    watch_door(door);
}

static void close_door(struct door *door)
{
    door->listening = false;
    watch_door(door);
    close(door->source.fd);
    HASH_DELETE(hh, door->relay->doors, door);
    mem_free(door->targets);
    mem_free(door);
}

static void close_numbered(struct relay *relay, const struct letter *letter)
{
    struct door *door = door_of(relay, letter->door);

    if (door)
        close_door(door);
    else
        hatch_close(&relay->hatches, letter->door);
}

static void stop(struct relay *relay, const struct letter *letter)
{
    relay->reactor.stopped = true;
}

static void (*const takers[])(struct relay *relay, const struct letter *letter) = {
    [LETTER_OPEN] = open_door,
    [LETTER_LEAD] = lead_door,
    [LETTER_CLOSE] = close_numbered,
    [LETTER_STOP] = stop,
};

static struct letter *next_letter(struct relay *relay)
{
    struct letter *letter;

    pthread_mutex_lock(&relay->lock);
    letter = STAILQ_FIRST(&relay->letters);
    if (letter)
        STAILQ_REMOVE_HEAD(&relay->letters, next);
    pthread_mutex_unlock(&relay->lock);
    return letter;
}

static void on_bell(struct source *source, uint32_t events)
{
    struct relay *relay = container_of(source, struct relay, bell);
    uint64_t rings;
    struct letter *letter;

    if (read(source->fd, &rings, sizeof rings) < 0)
        return;
    while ((letter = next_letter(relay))) {
        takers[letter->type](relay, letter);
        mem_free(letter);
    }
}

static void send_letter(struct relay *relay, struct letter *letter)
{
    const uint64_t ring = 1;

    pthread_mutex_lock(&relay->lock);
    STAILQ_INSERT_TAIL(&relay->letters, letter, next);
    pthread_mutex_unlock(&relay->lock);
    while (write(relay->bell.fd, &ring, sizeof ring) < 0 && errno == EINTR)
        ;
}

static struct letter *new_letter(enum letter_type type, uint32_t door, size_t n)
{
    struct letter *letter = mem_alloc(sizeof *letter + n * sizeof letter->targets[0]);

    letter->type = type;
    letter->door = door;
    letter->fd = -1;
    letter->n = n;
    return letter;
}

uint32_t relay_open(struct relay *relay, int fd)
{
    struct letter *letter = new_letter(LETTER_OPEN, ++relay->last_door, 0);
    uint32_t number = letter->door;

    letter->fd = fd;
    send_letter(relay, letter);
    return number;
}

void relay_lead(struct relay *relay, uint32_t door, const struct relay_target *targets, size_t n)
{
    struct letter *letter =
        new_letter(LETTER_LEAD, door, n < RELAY_TARGETS_MAX ? n : RELAY_TARGETS_MAX);

    if (letter->n)
        memcpy(letter->targets, targets, letter->n * sizeof *targets);
    send_letter(relay, letter);
}

void relay_close(struct relay *relay, uint32_t door)
{
    send_letter(relay, new_letter(LETTER_CLOSE, door, 0));
}

/* ---- life ---- */

static void settled(struct reactor *reactor)
{
}

static void *run(void *arg)
{
    struct relay *relay = arg;

    reactor_run(&relay->reactor);
    return NULL;
}

static void release(struct relay *relay)
{
    struct letter *letter;

    while (!LIST_EMPTY(&relay->passages))
        passage_end(&LIST_FIRST(&relay->passages)->joint);
    while (relay->doors)
        close_door(relay->doors);
    hatches_release(&relay->hatches);
    while ((letter = next_letter(relay))) {
        if (letter->fd >= 0)
            close(letter->fd);
        mem_free(letter);
    }
    alarm_clear(&relay->reactor, &relay->resume);
    reactor_remove(&relay->reactor, &relay->bell);
    close(relay->bell.fd);
    reactor_release(&relay->reactor);
    netns_holder_close(&relay->holder);
    pthread_mutex_destroy(&relay->lock);
    mem_free(relay);
}

/* Signals are the loop's. */
static int start_thread(struct relay *relay)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&relay->thread, NULL, run, relay);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct relay *relay_start(struct netns_holder holder, struct error *err)
{
    struct relay *relay = mem_alloc(sizeof *relay);
    int error;

    relay->holder = holder;
    relay->resume.ring = resume;
    relay->reactor.settle = settled;
    relay->reactor.epoll_fd = -1;
    relay->hatches.reactor = &relay->reactor;
    relay->hatches.new_socket = new_socket;
    relay->hatches.ctx = relay;
    hatches_init(&relay->hatches);
    relay->bell = (struct source){on_bell, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    STAILQ_INIT(&relay->letters);
    LIST_INIT(&relay->passages);
    pthread_mutex_init(&relay->lock, NULL);
    error = relay->bell.fd >= 0 && reactor_init(&relay->reactor) &&
                    reactor_add(&relay->reactor, &relay->bell, EPOLLIN)
                ? start_thread(relay)
                : errno;
    if (!error)
        return relay;
    error_errno(err, error, "the relay of Services");
    release(relay);
    return NULL;
}

void relay_stop(struct relay *relay)
{
    if (!relay)
        return;
    send_letter(relay, new_letter(LETTER_STOP, 0, 0));
    pthread_join(relay->thread, NULL);
    release(relay);
}
