#pragma once
/*
 * Follows a collection of an API server: it lists, watches from there, and lists again when the
 * server no longer has the changes since.
 *
 *   list (pages, or the begin of a watch) ─► watch ─► watch ─► … ─► 410: list
 *
 * An object known before a list and absent from it was deleted meanwhile. A cache (mirror) removes
 * such objects when the list is complete.
 *
 * Ref: spec/kube-api.md 16.4; k8s.io/client-go tools/cache/reflector.go.
 */
#include <jansson.h>

#include "api/client/documents.h"
#include "api/client/remote.h"

struct reflector;

/* All but `failed` are required; objects are borrowed. Callbacks may stop the reflector; its memory
 * must stay until they have returned. */
struct reflector_ops {
    void (*begun)(struct reflector *reflector);                    /* called when a list starts */
    void (*present)(struct reflector *reflector, json_t *object);  /* current state of an object */
    void (*vanished)(struct reflector *reflector, json_t *object); /* a deleted object, in its last
                                                                    * state */
    void (*listed)(struct reflector *reflector); /* the list is complete; objects not in it are
                                                  * gone */
    /** A call failed. The reflector retries by itself. */
    void (*failed)(struct reflector *reflector, const struct error *err);
};

enum { REFLECTOR_EVENT_BYTES_MAX = 4 << 20, REFLECTOR_NOT_INSTALLED_MS = 30000 };

struct reflector {
    /* The owner sets the members from here to the next comment. */
    const struct reflector_ops *ops;
    struct remote *remote;
    char *collection;       /* path, with selectors in the query; owned */
    size_t event_bytes_max; /* largest event; 0: REFLECTOR_EVENT_BYTES_MAX */
    bool from_newest;       /* the first list shows the newest state, not any that the server has
                             * at hand */
    /* Lists of the newest state come as a watch that begins with every object, as long as the server
     * takes such requests. Set to false when it does not; may be shared. NULL: lists come in pages. */
    bool *streams;
    /* The owner may read the members up to the comment "private" and changes none from here on. */
    bool synced;    /* a list was completed */
    bool listing;   /* a list is in progress */
    char *revision; /* last seen; NULL: none */
    /* private */
    struct remote_call call;
    struct documents events;
    struct timer timer; /* runs until the next call */
    struct backoff backoff;
    char *target;         /* URL of the call */
    char *page;           /* continue token; NULL: first page */
    struct error refusal; /* the ERROR event that ended a watch */
    int64_t watch_began_ns;
    unsigned watch_events;
    int64_t troubled_since_ns; /* time since which watches have failed with internal errors; 0: none
                                * has */
    bool started;
    bool newest;    /* the next list names no revision, so that it shows the newest state */
    bool whole;     /* the next list is not paged */
    bool streaming; /* the watch in progress has not told all objects yet */
};

/** Starts the reflector. The owner's members are set, all others zero. */
void reflector_start(struct reflector *reflector);
/** Stops without further callbacks. A reflector that was not started is fine. */
void reflector_stop(struct reflector *reflector);
