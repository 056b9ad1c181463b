/*
 * Events are kept for an hour, and not more than 20,000 of them: the oldest go first (L-40).
 *
 * A queue in the order they were made. One that was counted up since it was queued goes to the end
 * instead of away. Looked at when an event is made, so that an idle process does nothing.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/mem.h"

enum { KEPT_MAX = 20000, KEPT_MS = 60 * 60 * 1000 };

struct record {
    struct record *next;
    int64_t at_ms, revision;
    char uid[];
};

struct retention {
    struct registry *r;
    struct record *first, **last;
    size_t count;
};

static void append(struct retention *retention, struct record *record)
{
    record->next = NULL;
    *retention->last = record;
    retention->last = &record->next;
    retention->count++;
}

static struct record *take_first(struct retention *retention)
{
    struct record *record = retention->first;

    retention->first = record->next;
    if (!retention->first)
        retention->last = &retention->first;
    retention->count--;
    return record;
}

static bool is_old(const struct retention *retention)
{
    return loop_wall_ms(retention->r->loop) - retention->first->at_ms >= KEPT_MS;
}

/* The oldest goes, or goes to the end. */
static void drop_one(struct retention *retention)
{
    struct record *record = take_first(retention);
    const struct object *event = store_get_uid(retention->r->store, record->uid);

    if (event && event->revision > record->revision && retention->count < KEPT_MAX) {
        record->revision = event->revision;
        record->at_ms = loop_wall_ms(retention->r->loop);
        append(retention, record);
        return;
    }
    mem_free(record);
    if (event)
        registry_remove(retention->r, event);
}

void retention_added(struct retention *retention, const struct object *event)
{
    size_t len = strlen(object_uid(event));
    struct record *record = mem_alloc(sizeof *record + len + 1);

    record->at_ms = loop_wall_ms(retention->r->loop);
    record->revision = event->revision;
    memcpy(record->uid, object_uid(event), len + 1);
    append(retention, record);
    while (retention->first && (retention->count > KEPT_MAX || is_old(retention)))
        drop_one(retention);
}

/* ---- what an earlier life left ---- */

struct found {
    const struct object **items;
    size_t count, cap;
};

static void find(void *arg, const struct object *event)
{
    struct found *found = arg;

    mem_grow(found->items, found->count, found->cap);
    found->items[found->count++] = event;
}

static int by_revision(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a;
    const struct object *y = *(const struct object *const *)b;

    return (x->revision > y->revision) - (x->revision < y->revision);
}

struct retention *retention_new(struct registry *r)
{
    struct retention *retention = mem_alloc(sizeof *retention);
    struct found found = {0};

    retention->r = r;
    retention->last = &retention->first;
    store_each(r->store, &kind_event, NULL, find, &found);
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, by_revision);
    for (size_t i = 0; i < found.count; i++)
        retention_added(retention, found.items[i]);
    mem_free(found.items);
    return retention;
}

void retention_free(struct retention *retention)
{
    if (!retention)
        return;
    while (retention->first)
        mem_free(take_first(retention));
    mem_free(retention);
}
