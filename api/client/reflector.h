#pragma once
/*
 * A collection of an API server, followed: list, then watch from there on, and list again when the
 * server no longer knows what has happened since.
 *
 *   list (pages) ─► watch ─► watch ─► … ─► 410: list
 *
 * What was known before a list and is not in it has vanished meanwhile; whoever keeps objects
 * (mirror) drops them when the list is complete.
 *
 * Ref: spec/kube-api.md 16.4; k8s.io/client-go tools/cache/reflector.go.
 */
#include <jansson.h>

#include "api/client/documents.h"
#include "api/client/remote.h"

struct reflector;

/* All but `failed` are required; objects are borrowed. Callbacks may stop the reflector, whose
 * memory stays until they have returned. */
struct reflector_ops {
    void (*begun)(struct reflector *reflector);                    /* a list: all may have gone */
    void (*present)(struct reflector *reflector, json_t *object);  /* it is like this now */
    void (*vanished)(struct reflector *reflector, json_t *object); /* its last state */
    void (*listed)(struct reflector *reflector); /* what was not in the list has gone */
    /** It did not work, and is tried again by itself. */
    void (*failed)(struct reflector *reflector, const struct error *err);
};

enum { REFLECTOR_EVENT_BYTES_MAX = 4 << 20, REFLECTOR_NOT_INSTALLED_MS = 30000 };

struct reflector {
    /* set by the owner */
    const struct reflector_ops *ops;
    struct remote *remote;
    char *collection;       /* path, with selectors in the query; owned */
    size_t event_bytes_max; /* 0: REFLECTOR_EVENT_BYTES_MAX */
    /* read only */
    bool synced; /* a whole list has come */
    /* private */
    struct remote_call call;
    struct documents events;
    struct timer timer; /* the next try */
    struct backoff backoff;
    char *target;         /* of the call */
    char *revision;       /* seen so far; NULL: none */
    char *page;           /* continue; NULL: the list begins */
    struct error refusal; /* the ERROR event that ended a watch */
    int64_t watch_began_ns;
    unsigned watch_events;
    int64_t troubled_since_ns; /* internal errors of watches; 0: none */
    bool started, listing, newest,
        whole; /* newest: no revision to begin with; whole: in one page */
};

/** Begin. The owner's members are set, all others zero. */
void reflector_start(struct reflector *reflector);
/** No callback follows. Also of one that is not started. */
void reflector_stop(struct reflector *reflector);
