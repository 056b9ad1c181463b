#pragma once
/*
 * Writes to a remote cluster: they wait for their turn, are sent, and end with the outcome that
 * their controller hears.
 *
 *   writes_create … ─► chain of the object ─► queue of the root ─► sent ─┬─► done
 *                             ▲                      ▲                   │
 *                             │                      └── paused ◄────────┤ nothing happened
 *                             └── next write of the object               └─► read, then judged
 *
 * Writes to one object follow one another. The *root* of an object is the JobFlow that it belongs
 * to, or else the Job, or else the object. Roots take turns, so that a large flow does not keep a
 * small one waiting. A write whose answer is lost is not repeated blindly: the object is read, and
 * what it shows decides.
 *
 * Ref: spec/cluster.md 2.7, 2.8.
 */
#include "api/client/remote.h"
#include "api/cluster_remote/cache.h"
#include "api/cluster_remote/write.h"

enum { WRITES_ROOT_TURN = 8, WRITES_TRY_FOR_MS = 60000 };

struct writes_options {
    struct loop *loop;
    struct remote *remote;
    struct cache *cache;
    unsigned max_in_flight;
    bool status_by_patch; /* statuses are sent as JSON patches (request.h) */
    /** Returns whether a list and watch of this process cover the object. */
    bool (*covers)(void *ctx, const struct object *object);
    void *ctx;
};

/* Counts since the queue was made. */
struct writes_stats {
    uint64_t sent, reads, retries; /* numbers of requests, of reads, of repeated requests */
    unsigned in_flight, window;
    size_t waiting; /* writes that have not ended */
};

/** Borrows what the options name. A new queue is open. */
struct writes *writes_new(const struct writes_options *options);
/** Cancels all writes, reports them as UNAVAILABLE, and frees the queue. NULL is ignored. */
void writes_free(struct writes *writes);

/* The functions of struct cluster_ops (api/cluster.h), which says what they consume. */
void writes_create(struct writes *writes, struct cluster_call *call, struct object *draft);
void writes_update(struct writes *writes, struct cluster_call *call, struct object *object);
void writes_update_status(struct writes *writes, struct cluster_call *call,
                          const struct object *object, struct blob *status);
void writes_remove(struct writes *writes, struct cluster_call *call, const struct kind *kind,
                   const char *ns, const char *name, const struct cluster_removal *how);

/** Returns whether a write to this object has not ended. */
bool writes_is_busy(const struct writes *writes, const struct kind *kind, const char *ns,
                    const char *name);

/** Cancels all writes, and lets none leave until writes_unfence. Cancelled writes, and those that
 * are asked for meanwhile, end as UNAVAILABLE with the text `why`, which is borrowed until then.
 * Whether they have taken effect is unknown. */
void writes_fence(struct writes *writes, const char *why);
void writes_unfence(struct writes *writes);

struct writes_stats writes_stats(const struct writes *writes);
