/*
 * The event loop of a shim. See reactor.h.
 */
#include "base/reactor.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { EVENTS_PER_TURN = 64, NS_PER_MS = 1000000 };

bool reactor_init(struct reactor *reactor)
{
    reactor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return reactor->epoll_fd >= 0;
}

void reactor_release(struct reactor *reactor)
{
    close(reactor->epoll_fd);
    mem_free(reactor->alarms);
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

static void place(struct reactor *reactor, struct alarm *alarm, size_t position)
{
    reactor->alarms[position] = alarm;
    alarm->position = position;
}

static void sift_up(struct reactor *reactor, struct alarm *alarm, size_t position)
{
    for (; position > 1 && reactor->alarms[position / 2]->due_ns > alarm->due_ns; position /= 2)
        place(reactor, reactor->alarms[position / 2], position);
    place(reactor, alarm, position);
}

static void sift_down(struct reactor *reactor, struct alarm *alarm, size_t position)
{
    for (size_t child; (child = 2 * position) <= reactor->n_alarms; position = child) {
        if (child < reactor->n_alarms &&
            reactor->alarms[child + 1]->due_ns < reactor->alarms[child]->due_ns)
            child++;
        if (reactor->alarms[child]->due_ns >= alarm->due_ns)
            break;
        place(reactor, reactor->alarms[child], position);
    }
    place(reactor, alarm, position);
}

void alarm_set(struct reactor *reactor, struct alarm *alarm, int64_t delay_ns)
{
    assert(alarm->ring);
    alarm_clear(reactor, alarm);
    alarm->due_ns = clock_mono_ns(clock_real()) + delay_ns;
    if (reactor->n_alarms + 1 >= reactor->cap_alarms) {
        reactor->cap_alarms = reactor->cap_alarms ? 2 * reactor->cap_alarms : 16;
        reactor->alarms = mem_resize(reactor->alarms, reactor->cap_alarms * sizeof(struct alarm *));
    }
    sift_up(reactor, alarm, ++reactor->n_alarms);
}

void alarm_clear(struct reactor *reactor, struct alarm *alarm)
{
    size_t position = alarm->position;

    if (!position)
        return;
    alarm->position = 0;

    struct alarm *last = reactor->alarms[reactor->n_alarms--];

    if (last == alarm)
        return;
    if (position > 1 && reactor->alarms[position / 2]->due_ns > last->due_ns)
        sift_up(reactor, last, position);
    else
        sift_down(reactor, last, position);
}

static int until_first_alarm_ms(const struct reactor *reactor)
{
    if (!reactor->n_alarms)
        return -1;

    int64_t left_ns = reactor->alarms[1]->due_ns - clock_mono_ns(clock_real());

    if (left_ns <= 0)
        return 0;
    left_ns = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ns > INT32_MAX ? INT32_MAX : (int)left_ns;
}

static void ring_due(struct reactor *reactor)
{
    if (!reactor->n_alarms)
        return;

    int64_t now_ns = clock_mono_ns(clock_real());

    while (reactor->n_alarms && reactor->alarms[1]->due_ns <= now_ns) {
        struct alarm *alarm = reactor->alarms[1];

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
