/*
 * The heap is ordered by due time, then by creation, then by name.
 */
#include "schedule/timetable.h"

#include <string.h>

#include "base/mem.h"

enum { SLEEP_MAX_MS = 60000 };

struct timetable {
    struct loop *loop;
    struct timer timer;
    struct heap heap;
    struct zone_cache *zones;
    int64_t zones_seen_ns; /* monotonic time of the last look at the files of zones */
    void (*changed)(void *ctx);
    void *ctx;
};

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    const struct timetable_entry *one = container_of(a, struct timetable_entry, row);
    const struct timetable_entry *other = container_of(b, struct timetable_entry, row);

    if (one->created_ms != other->created_ms)
        return one->created_ms < other->created_ms;
    return strcmp(one->name, other->name) < 0;
}

static void sleep_until_next(struct timetable *timetable)
{
    const struct heap_item *first = heap_first(&timetable->heap);
    int64_t wait_ms;

    if (!first) {
        timer_stop(timetable->loop, &timetable->timer);
        return;
    }
    wait_ms =
        container_of(first, struct timetable_entry, row)->due_ms - loop_wall_ms(timetable->loop);
    timer_start(timetable->loop, &timetable->timer,
                wait_ms < SLEEP_MAX_MS ? wait_ms : SLEEP_MAX_MS);
}

static void look_at_zones(struct timetable *timetable)
{
    int64_t now_ns = loop_mono_ns(timetable->loop);

    if (now_ns - timetable->zones_seen_ns < INT64_C(1000000) * SLEEP_MAX_MS / 2)
        return;
    timetable->zones_seen_ns = now_ns;
    if (zone_cache_refresh(timetable->zones) && timetable->changed)
        timetable->changed(timetable->ctx);
}

/* An entry that is set again for a time that has come is called in the next turn, so that no entry
 * can keep the loop busy. */
static void on_time(struct timer *timer)
{
    struct timetable *timetable = container_of(timer, struct timetable, timer);
    int64_t now_ms = loop_wall_ms(timetable->loop);
    size_t left = timetable->heap.count;

    look_at_zones(timetable);
    while (left-- > 0 && heap_first(&timetable->heap)) {
        struct timetable_entry *entry =
            container_of(heap_first(&timetable->heap), struct timetable_entry, row);

        if (entry->due_ms > now_ms)
            break;
        heap_remove(&timetable->heap, &entry->row);
        entry->due(entry);
    }
    sleep_until_next(timetable);
}

struct timetable *timetable_new(struct loop *loop, void (*changed)(void *ctx), void *ctx)
{
    struct timetable *timetable = mem_alloc(sizeof *timetable);

    timetable->loop = loop;
    timetable->timer.fire = on_time;
    timetable->heap.before = before;
    timetable->zones = zone_cache_new();
    timetable->zones_seen_ns = loop_mono_ns(loop);
    timetable->changed = changed;
    timetable->ctx = ctx;
    return timetable;
}

void timetable_free(struct timetable *timetable)
{
    if (!timetable)
        return;
    timer_stop(timetable->loop, &timetable->timer);
    heap_release(&timetable->heap);
    zone_cache_free(timetable->zones);
    mem_free(timetable);
}

void timetable_set(struct timetable *timetable, struct timetable_entry *entry, int64_t due_ms)
{
    const struct heap_item *first = heap_first(&timetable->heap);

    heap_remove(&timetable->heap, &entry->row);
    entry->due_ms = due_ms;
    heap_add(&timetable->heap, &entry->row, due_ms);
    if (heap_first(&timetable->heap) != first || first == &entry->row)
        sleep_until_next(timetable);
}

void timetable_clear(struct timetable *timetable, struct timetable_entry *entry)
{
    heap_remove(&timetable->heap, &entry->row);
    if (!timetable->heap.count)
        timer_stop(timetable->loop, &timetable->timer);
}

bool timetable_zone(struct timetable *timetable, const char *name, const struct zone **out,
                    struct error *err)
{
    return zone_cache_get(timetable->zones, name, out, err);
}
