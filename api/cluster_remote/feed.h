#pragma once
/*
 * Follows one collection of the server and puts its objects into the cache.
 */
#include "api/client/reflector.h"
#include "api/cluster_remote/cache.h"

struct feed {
    /* The owner sets the members from here to the comment "private". */
    struct cache *cache;
    const struct kind *kind;
    const char *ns;    /* namespace that is followed; NULL: all */
    const char *label; /* label that followed objects have; NULL: all are followed */
    const char *value; /* value of the label; NULL: any */
    bool *streams;     /* see struct reflector */
    void (*synced)(struct feed *feed); /* called when the first list is complete */
    /** Is called when the revisions of the server are not numbers that can be compared. */
    void (*unsupported)(struct feed *feed, const struct error *err);
    void *ctx; /* for use by the owner */
    /* private */
    struct reflector reflector;
    unsigned list;
    bool was_synced;
};

void feed_start(struct feed *feed, struct remote *remote);
void feed_stop(struct feed *feed);
/** Returns whether the feed's list and watch cover this object. */
bool feed_covers(const struct feed *feed, const struct object *object);

/**
 * Decodes an object of the server (owned). Members that no controller uses, such as managedFields,
 * are dropped. Returns NULL with INVALID when this program cannot decode the object, and with
 * NOT_IMPLEMENTED when its resourceVersion is no number (R1).
 */
struct object *feed_decode(const struct kind *kind, json_t *doc, struct error *err);
