/*
 * The forms asked for are few, so they are a short list that is searched from its beginning.
 */
#include "api/server/rest/watch_event_cache.h"

#include "api/types/blob.h"
#include "base/mem.h"

enum { FORMS_MAX = 8 }; /* more of them at a time are written anew for each watch */

struct watch_event_cache {
    struct object *object; /* keeps the address of the newest change from being used again */
    struct {
        struct watch_event_key key;
        struct blob *line; /* a reference */
    } at[FORMS_MAX];
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

static void forget(struct watch_event_cache *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        blob_unref(lines->at[i].line);
    object_unref(take(lines->object));
    lines->n = 0;
}

struct blob *watch_event_cache_find(const struct watch_event_cache *lines,
                                    const struct watch_event_key *key)
{
    for (size_t i = 0; i < lines->n; i++)
        if (is_same(&lines->at[i].key, key))
            return lines->at[i].line;
    return NULL;
}

void watch_event_cache_add(struct watch_event_cache *lines, const struct watch_event_key *key,
                           struct blob *line)
{
    if (lines->n > 0 && !is_same_change(&lines->at[0].key, key))
        forget(lines);
    if (lines->n == FORMS_MAX)
        return;
    if (lines->n == 0)
        lines->object = object_ref(key->object);
    lines->at[lines->n].key = *key;
    lines->at[lines->n++].line = blob_ref(line);
}

struct watch_event_cache *watch_event_cache_new(void)
{
    return mem_alloc(sizeof(struct watch_event_cache));
}

void watch_event_cache_free(struct watch_event_cache *lines)
{
    if (!lines)
        return;
    forget(lines);
    mem_free(lines);
}
