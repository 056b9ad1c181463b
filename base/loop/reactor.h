#pragma once
/*
 * The event loop of a shim: file descriptors and alarms of one thread, on epoll, without memory
 * allocation for each event.
 *
 * A turn waits, runs the sources that are ready, rings the alarms that are due and then calls
 * `settle`. Sources and alarms are structs inside their owners. A source may be removed during a
 * turn, also by another source.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collections/heap.h"

struct source {
    /* Called with EPOLLIN, EPOLLOUT, … when the descriptor is ready. */
    void (*ready)(struct source *source, uint32_t events);
    int fd;
};

struct alarm {
    void (*ring)(struct alarm *alarm);
    int64_t due_ns;       /* monotonic time at which the alarm is due */
    struct heap_item row; /* private: element of the heap of the reactor */
};

struct reactor {
    int epoll_fd;
    bool stopped;
    void (*settle)(struct reactor *reactor); /* end of each turn */
    struct heap alarms;                      /* alarms that are set; the next one comes first */
    void *events;                            /* events of the turn in progress */
    int at, n_events;
};

bool reactor_init(struct reactor *reactor); /* false: errno says why */
void reactor_release(struct reactor *reactor);
void reactor_run(struct reactor *reactor); /* runs until reactor->stopped is set */

bool reactor_add(struct reactor *reactor, struct source *source, uint32_t events);
void reactor_change(struct reactor *reactor, struct source *source, uint32_t events);
/* Stops watching a descriptor. Call it before closing the descriptor. */
void reactor_remove(struct reactor *reactor, struct source *source);

void alarm_set(struct reactor *reactor, struct alarm *alarm, int64_t delay_ns);
/* Clears an alarm. Does nothing when the alarm is not set. */
void alarm_clear(struct reactor *reactor, struct alarm *alarm);
static inline bool alarm_is_set(const struct alarm *alarm)
{
    return heap_has(&alarm->row);
}
