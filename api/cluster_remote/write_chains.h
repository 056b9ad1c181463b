#pragma once
/*
 * Writes to a remote cluster: they wait for their turn, are sent, and end with the outcome that
 * their controller hears.
 *
 *   write_chains_create … ─► chain of the object ─► queue of the root ─► sent ─┬─► done
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

struct write_chains_options {
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
struct write_chains_stats {
    uint64_t sent, reads, retries; /* numbers of requests, of reads, of repeated requests */
    unsigned in_flight, in_flight_limit;
    size_t waiting; /* writes that have not ended */
};

/** Borrows what the options name. A new queue is open. */
struct write_chains *write_chains_new(const struct write_chains_options *options);
/** Cancels all writes, reports them as UNAVAILABLE, and frees the queue. NULL is ignored. */
void write_chains_free(struct write_chains *writes);

/* The functions of struct cluster_ops (api/cluster.h), which says what they consume. */
void write_chains_create(struct write_chains *writes, struct cluster_call *call,
                         struct object *draft);
void write_chains_update(struct write_chains *writes, struct cluster_call *call,
                         struct object *object);
void write_chains_update_status(struct write_chains *writes, struct cluster_call *call,
                                const struct object *object, struct blob *status);
void write_chains_remove(struct write_chains *writes, struct cluster_call *call,
                         const struct kind *kind, const char *ns, const char *name,
                         const struct cluster_removal *how);

/** Returns whether a write to this object has not ended. */
bool write_chains_is_busy(const struct write_chains *writes, const struct kind *kind,
                          const char *ns, const char *name);

/** Cancels all writes, and lets none leave until write_chains_unfence. Cancelled writes, and those that
 * are asked for meanwhile, end as UNAVAILABLE with the text `why`, which is borrowed until then.
 * Whether they have taken effect is unknown. */
void write_chains_fence(struct write_chains *writes, const char *why);
void write_chains_unfence(struct write_chains *writes);

struct write_chains_stats write_chains_stats(const struct write_chains *writes);
