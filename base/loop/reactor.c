/*
 * The event loop of a shim: epoll for descriptors, a heap for alarms.
 */
#include "base/loop/reactor.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"

enum { EVENTS_PER_TURN = 64, NS_PER_MS = 1000000 };

/* Alarms that are due at the same time ring in any order. */
static bool never_before(const struct heap_item *a, const struct heap_item *b)
{
    return false;
}

bool reactor_init(struct reactor *reactor)
{
    reactor->alarms.before = never_before;
    reactor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return reactor->epoll_fd >= 0;
}

void reactor_release(struct reactor *reactor)
{
    close(reactor->epoll_fd);
    heap_release(&reactor->alarms);
}

bool reactor_add(struct reactor *reactor, struct source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    return epoll_ctl(reactor->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

void reactor_change(struct reactor *reactor, struct source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    epoll_ctl(reactor->epoll_fd, EPOLL_CTL_MOD, source->fd, &event);
}

void reactor_remove(struct reactor *reactor, struct source *source)
{
    struct epoll_event *events = reactor->events;

    epoll_ctl(reactor->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
    for (int i = reactor->at; i < reactor->n_events; i++)
        if (events[i].data.ptr == source)
            events[i].data.ptr = NULL;
}

static struct alarm *first_alarm(const struct reactor *reactor)
{
    struct heap_item *first = heap_first(&reactor->alarms);

    return first ? container_of(first, struct alarm, row) : NULL;
}

void alarm_set(struct reactor *reactor, struct alarm *alarm, int64_t delay_ns)
{
    assert(alarm->ring);
    alarm_clear(reactor, alarm);
    alarm->due_ns = clock_mono_ns(clock_real()) + delay_ns;
    heap_add(&reactor->alarms, &alarm->row, alarm->due_ns);
}

void alarm_clear(struct reactor *reactor, struct alarm *alarm)
{
    heap_remove(&reactor->alarms, &alarm->row);
}

static int until_first_alarm_ms(const struct reactor *reactor)
{
    const struct alarm *first = first_alarm(reactor);

    if (!first)
        return -1;

    int64_t left_ns = first->due_ns - clock_mono_ns(clock_real());

    if (left_ns <= 0)
        return 0;
    left_ns = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ns > INT32_MAX ? INT32_MAX : (int)left_ns;
}

static void ring_due(struct reactor *reactor)
{
    struct alarm *alarm = first_alarm(reactor);

    if (!alarm)
        return;

    int64_t now_ns = clock_mono_ns(clock_real());

    for (; alarm && alarm->due_ns <= now_ns; alarm = first_alarm(reactor)) {
        alarm_clear(reactor, alarm);
        alarm->ring(alarm);
    }
}

void reactor_run(struct reactor *reactor)
{
    struct epoll_event events[EVENTS_PER_TURN];

    reactor->events = events;
    while (!reactor->stopped) {
        int n =
            epoll_wait(reactor->epoll_fd, events, EVENTS_PER_TURN, until_first_alarm_ms(reactor));

        assert(n >= 0 || errno == EINTR);
        reactor->n_events = n > 0 ? n : 0;
        for (reactor->at = 0; reactor->at < reactor->n_events; reactor->at++) {
            struct source *source = events[reactor->at].data.ptr;

            if (source)
                source->ready(source, events[reactor->at].events);
        }
        reactor->n_events = 0;
        ring_due(reactor);
        reactor->settle(reactor);
    }
    reactor->events = NULL;
}
