#pragma once
/*
 * The cluster interface on a remote API server (kube-apiserver, or jobflow serve).
 *
 *   feeds (list, watch) ──► cache ──► changes ──► watchers (controllers)
 *                             ▲
 *   controllers ──► writes ──► answers ──► done
 *
 * An answer enters the cache before `done` runs, so that a controller reads its own writes. Nothing
 * in the cache goes back to an older version. What is accepted is durable: the server answers after
 * its own commit. There is no order between changes of different objects, and no write is atomic
 * with another.
 *
 * Ref: spec/cluster.md 2, DCL-01 to DCL-06.
 */
#include "api/client/remote.h"
#include "api/cluster.h"
#include "api/cluster_remote/write_chains.h"

/* A kind that is followed. */
struct cluster_remote_kind {
    const struct kind *kind;
    const char *label; /* label that followed objects have; NULL: all are followed */
    const char *value; /* value of the label; NULL: any */
};

struct cluster_remote_options {
    struct remote *streams; /* for lists and watches */
    struct remote *calls;   /* for writes and single reads */
    unsigned max_in_flight;
    /* Statuses are sent as JSON patches. Servers before 1.22 take the fields of the spec from their
     * owners when a status is put without the spec. */
    bool status_by_patch;
    bool streamed_lists;                     /* the server may take lists that come as watches */
    const struct cluster_remote_kind *kinds; /* borrowed; ends with a row without kind */
    /* The namespaces that are followed; borrowed, ends with NULL. NULL: all. */
    char *const *namespaces;
    /** Is called when every kind has been listed once. */
    void (*synced)(void *ctx);
    /** Is called when the server cannot be used because its revisions are no numbers. */
    void (*unsupported)(void *ctx, const struct error *err);
    void *ctx;
};

/** Creates the cluster. Sends nothing before cluster_remote_start. Borrows what the options name.
 */
struct cluster *cluster_remote_new(struct loop *loop, const struct cluster_remote_options *options);
/** Lists and watches the kinds of the options. */
void cluster_remote_start(struct cluster *cluster);
/** Stops following, cancels what is under way, and frees. Controllers must be stopped. */
void cluster_remote_free(struct cluster *cluster); /* NULL is ignored */

bool cluster_remote_is_synced(const struct cluster *cluster);

/** Lets no write leave and cancels those under way, as write_chains_fence does. A new cluster is fenced.
 */
void cluster_remote_fence(struct cluster *cluster, const char *why);
void cluster_remote_unfence(struct cluster *cluster);

struct write_chains_stats cluster_remote_stats(const struct cluster *cluster);
