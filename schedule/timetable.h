#pragma once
/*
 * Calls each schedule when it is due, with one heap of wall-clock times and one timer.
 *
 * The timer sleeps for at most a minute and then reads the wall clock anew. A clock that is set
 * forward is therefore noticed within a minute, and one that is set back makes nothing due. An idle
 * timetable wakes up once a minute, however many entries it has. Zones whose files have changed are
 * noticed at the same time.
 */
#include "base/collections/heap.h"
#include "base/loop/loop.h"
#include "base/time/zone_file.h"

struct timetable;

/* A member of its owner's struct. Entries that are due at the same time are called in the order of
 * `created_ms`, then `name`. The owner sets the first three members. */
struct timetable_entry {
    void (*due)(struct timetable_entry *entry);
    int64_t created_ms;
    const char *name;     /* borrowed */
    int64_t due_ms;       /* wall time; owners only read it */
    struct heap_item row; /* private to this module */
};

/** `changed` is called when a zone in use has changed, after the new one is in use; may be NULL. */
struct timetable *timetable_new(struct loop *loop, void (*changed)(void *ctx), void *ctx);
void timetable_free(struct timetable *timetable); /* NULL is ignored; the entries must be clear */

/** Sets when the entry is due, which may be in the past. */
void timetable_set(struct timetable *timetable, struct timetable_entry *entry, int64_t due_ms);
void timetable_clear(struct timetable *timetable, struct timetable_entry *entry);

/** Sets `*out` to a zone, borrowed until the caller returns to the loop; see zone_cache_get. */
bool timetable_zone(struct timetable *timetable, const char *name, const struct zone **out,
                    struct error *err);
