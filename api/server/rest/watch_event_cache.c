/*
 * The cache is a short list: few forms are in use at a time.
 */
#include "api/server/rest/watch_event_cache.h"

#include "api/types/blob.h"
#include "base/mem.h"

enum { FORMS_MAX = 8 }; /* further forms are encoded for each watch */

struct watch_event_cache {
    struct object *object; /* a reference, so that no other object gets the key's address */
    struct {
        struct watch_event_key key;
        struct blob *event; /* reference to the event as it is sent */
    } entries[FORMS_MAX];
    size_t n;
};

static bool is_same_change(const struct watch_event_key *a, const struct watch_event_key *b)
{
    return a->object == b->object && a->revision == b->revision;
}

static bool is_same(const struct watch_event_key *a, const struct watch_event_key *b)
{
    return is_same_change(a, b) && a->change == b->change && a->form == b->form &&
           a->include == b->include && a->alias == b->alias && a->version == b->version;
}

static void clear(struct watch_event_cache *cache)
{
    for (size_t i = 0; i < cache->n; i++)
        blob_unref(cache->entries[i].event);
    object_unref(take(cache->object));
    cache->n = 0;
}

struct blob *watch_event_cache_find(const struct watch_event_cache *cache,
                                    const struct watch_event_key *key)
{
    for (size_t i = 0; i < cache->n; i++)
        if (is_same(&cache->entries[i].key, key))
            return cache->entries[i].event;
    return NULL;
}

void watch_event_cache_add(struct watch_event_cache *cache, const struct watch_event_key *key,
                           struct blob *event)
{
    if (cache->n > 0 && !is_same_change(&cache->entries[0].key, key))
        clear(cache);
    if (cache->n == FORMS_MAX)
        return;
    if (cache->n == 0)
        cache->object = object_ref(key->object);
    cache->entries[cache->n].key = *key;
    cache->entries[cache->n++].event = blob_ref(event);
}

struct watch_event_cache *watch_event_cache_new(void)
{
    return mem_alloc(sizeof(struct watch_event_cache));
}

void watch_event_cache_free(struct watch_event_cache *cache)
{
    if (!cache)
        return;
    clear(cache);
    mem_free(cache);
}
