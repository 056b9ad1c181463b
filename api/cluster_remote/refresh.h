#pragma once
/*
 * Lists a part of a collection again and puts the objects into the cache. Repeats the request until
 * the server answers.
 */
#include "api/client/remote.h"
#include "api/cluster_remote/cache.h"

struct refresh_options {
    struct remote *remote;
    struct cache *cache;
    /** Returns whether a list and watch of this process cover the object. */
    bool (*covers)(void *ctx, const struct object *object);
    void *ctx;
};

/** Starts a refresh. Borrows what the options name. */
void refresh_start(const struct refresh_options *options, struct cluster_refresh *refresh);
void refresh_cancel(struct cluster_refresh *refresh);
