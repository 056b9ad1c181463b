#pragma once
/*
 * Keeps the objects of a remote cluster that this process has seen: in lists, in watches, and in
 * the answers to its own requests.
 *
 * No object ever goes back to an older version, whichever way a version arrives. An object of a
 * followed collection is reported to the owner when it is added, changed and deleted. An object
 * that is known by answers alone, because its kind is not followed or the selector of the
 * collection leaves it out, can be read until CACHE_ANSWER_KEPT_MS after it was last requested. It
 * is never reported.
 *
 * Ref: spec/cluster.md 2.4, rules R1 to R13.
 */
#include "api/cluster.h"

enum { CACHE_ANSWER_KEPT_MS = 30000, CACHE_TOMBSTONE_MS = 60000 };

struct cache;

struct cache_ops {
    /** Is called when a followed object has changed, with the arguments of struct cluster_watcher.
     */
    void (*changed)(void *ctx, enum cluster_change change, const struct object *old,
                    const struct object *object);
    /** Returns whether a request about this object is under way. Until it ends, the mark of a
     * deleted object is kept. */
    bool (*is_busy)(void *ctx, const struct kind *kind, const char *ns, const char *name);
};

struct cache *cache_new(struct loop *loop, const struct cache_ops *ops, void *ctx);
void cache_free(struct cache *cache); /* NULL is ignored; reports nothing */

/** Returns the newest known version, borrowed, or NULL when there is none. */
const struct object *cache_get(struct cache *cache, const struct kind *kind, const char *ns,
                               const char *name);
/** Visits the followed objects of a kind in the namespace `ns`, or in all namespaces when it is
 * NULL. */
void cache_each(struct cache *cache, const struct kind *kind, const char *ns,
                void (*visit)(void *arg, const struct object *object), void *arg);
/** Visits the followed objects of a kind that name the owner. O(their number). */
void cache_each_owned(struct cache *cache, const struct kind *kind, const char *owner_uid,
                      void (*visit)(void *arg, const struct object *object), void *arg);

/* How a version of an object arrived. */
enum cache_source {
    CACHE_FOLLOWED, /* in a list or a watch, or in an answer about an object that these cover */
    CACHE_ANSWERED, /* in an answer about an object that no list and no watch covers */
};

/** Takes a version of an object. A version that is not newer than the known one is dropped, and so
 * is one of an object that was deleted. `list` is the number of the list that has the version as an
 * item, or 0. */
void cache_take(struct cache *cache, const struct object *object, enum cache_source source,
                unsigned list);
/** Takes the deletion of an object, whose last state is `last`. */
void cache_take_end(struct cache *cache, const struct object *last);
/** Takes the news that no object with this uid exists on the server. A known object then counts as
 * deleted in its last known state. */
void cache_forget(struct cache *cache, const struct kind *kind, const char *ns, const char *name,
                  const char *uid);

/** Begins a list and returns its number. */
unsigned cache_list_begin(struct cache *cache);
/** Ends a list of the objects of a kind in `ns` (NULL: in all namespaces), which shows the state of
 * `revision`. Objects that were not in it are gone, unless the known version is younger than the
 * list. */
void cache_list_end(struct cache *cache, const struct kind *kind, const char *ns, unsigned list,
                    int64_t revision);
