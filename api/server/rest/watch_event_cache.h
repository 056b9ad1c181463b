#pragma once
/*
 * What watches are told of one change, in each of the forms in which somebody wants it.
 *
 * A change of a busy collection goes to a thousand watches, and what it says to those of one form
 * is the same bytes: they are written once and shared. Only the lines of the newest change are
 * kept, for all watches hear of it before the next one.
 */
#include "api/server/message/accept.h"
#include "api/server/rest/group_alias.h"
#include "api/server/rest/table/table.h"
#include "api/store/store.h"

struct blob;
struct watch_event_cache;

struct watch_event_key {
    const struct object *object; /* what is shown: the new version, or the old one */
    int64_t revision;            /* of the change */
    enum store_change change;
    enum media_form form;
    enum table_object include;
    const struct group_alias *alias;
    const char *version;
};

struct watch_event_cache *watch_event_cache_new(void);
void watch_event_cache_free(struct watch_event_cache *lines); /* NULL is fine */
/** The line of that change in that form (borrowed), or NULL. */
struct blob *watch_event_cache_find(const struct watch_event_cache *lines,
                                    const struct watch_event_key *key);
void watch_event_cache_add(struct watch_event_cache *lines, const struct watch_event_key *key,
                           struct blob *line);
