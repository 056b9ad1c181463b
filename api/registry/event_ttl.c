/*
 * Deletes Events after one hour, and the oldest ones above 20,000 (L-40).
 *
 * The queue is in order of creation. An Event whose count rose since it was queued is queued again
 * instead of deleted. The check runs when an Event is created, so an idle process does nothing.
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

struct event_ttl {
    struct registry *r;
    struct record *first, **last;
    size_t count;
};

static void append(struct event_ttl *ttl, struct record *record)
{
    record->next = NULL;
    *ttl->last = record;
    ttl->last = &record->next;
    ttl->count++;
}

static struct record *take_first(struct event_ttl *ttl)
{
    struct record *record = ttl->first;

    ttl->first = record->next;
    if (!ttl->first)
        ttl->last = &ttl->first;
    ttl->count--;
    return record;
}

static bool is_old(const struct event_ttl *ttl)
{
    return loop_wall_ms(ttl->r->loop) - ttl->first->at_ms >= KEPT_MS;
}

/* Deletes the oldest Event, or queues it again when it has changed. */
static void drop_one(struct event_ttl *ttl)
{
    struct record *record = take_first(ttl);
    const struct object *event = store_get_uid(ttl->r->store, record->uid);

    if (event && event->revision > record->revision && ttl->count < KEPT_MAX) {
        record->revision = event->revision;
        record->at_ms = loop_wall_ms(ttl->r->loop);
        append(ttl, record);
        return;
    }
    mem_free(record);
    if (event)
        registry_remove(ttl->r, event);
}

void event_ttl_added(struct event_ttl *ttl, const struct object *event)
{
    size_t len = strlen(object_uid(event));
    struct record *record = mem_alloc(sizeof *record + len + 1);

    record->at_ms = loop_wall_ms(ttl->r->loop);
    record->revision = event->revision;
    memcpy(record->uid, object_uid(event), len + 1);
    append(ttl, record);
    while (ttl->first && (ttl->count > KEPT_MAX || is_old(ttl)))
        drop_one(ttl);
}

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

struct event_ttl *event_ttl_new(struct registry *r)
{
    struct event_ttl *ttl = mem_alloc(sizeof *ttl);
    struct found found = {0};

    ttl->r = r;
    ttl->last = &ttl->first;
    store_each(r->store, &kind_event, NULL, find, &found);
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, by_revision);
    for (size_t i = 0; i < found.count; i++)
        event_ttl_added(ttl, found.items[i]);
    mem_free(found.items);
    return ttl;
}

void event_ttl_free(struct event_ttl *ttl)
{
    if (!ttl)
        return;
    while (ttl->first)
        mem_free(take_first(ttl));
    mem_free(ttl);
}
