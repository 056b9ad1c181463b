#pragma once
/*
 * Caches the encoded events of the newest change, so that watches share them.
 *
 * A change in a busy collection goes to a thousand watches, and all watches that use the same form
 * (JSON, Table, …) receive the same bytes: each form is encoded once. All watches hear of a change
 * before the next one, so only the newest change is kept.
 */
#include "api/server/message/accept.h"
#include "api/server/rest/group_alias.h"
#include "api/server/rest/table/table.h"
#include "api/store/store.h"

struct blob;
struct watch_event_cache;

struct watch_event_key {
    const struct object *object; /* the version that the event shows: the new or the old one */
    int64_t revision;            /* revision of the change */
    enum store_change change;
    enum media_form form;
    enum table_object include;
    const struct group_alias *alias;
    const char *version;
};

struct watch_event_cache *watch_event_cache_new(void);
void watch_event_cache_free(struct watch_event_cache *cache); /* NULL is ignored */
/** Returns the encoded event (borrowed), or NULL. */
struct blob *watch_event_cache_find(const struct watch_event_cache *cache,
                                    const struct watch_event_key *key);
/** Adds an encoded event and keeps a reference. An event of another change clears the cache. */
void watch_event_cache_add(struct watch_event_cache *cache, const struct watch_event_key *key,
                           struct blob *event);
