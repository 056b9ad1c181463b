#pragma once
/*
 * Lists objects page by page, and watches them from the revision of the list.
 */
#include "api/client/documents.h"
#include "api/types/kind.h"
#include "cli/client/client.h"

struct list_query {
    const struct kind *kind;
    const char *ns;   /* namespace of the objects; NULL = all namespaces */
    const char *name; /* name of the object; NULL = all; otherwise the list has one object or
                       * none */
    const char *labels, *fields;
    /* Media type of the answers. NULL = JSON, pages are Lists; or that of a Table, pages are
     * Tables. */
    const char *accept;
    const char *include_object; /* how much of each object a Table has: "Object" or "None"; NULL:
                                 * Metadata */
    const char *path;           /* a list that is no collection of a kind; NULL */
    unsigned limit;             /* objects of a page; 0: 500 */
    /* For list_each without a revision: looks at the compact text of an object (base/encoding/
     * jsonscan.h). What it returns false for is not parsed, which takes most of the time of a long
     * list. Only a hint: objects of a server that writes other text are all passed. NULL: all. */
    bool (*wanted)(const void *ctx, const char *object);
    const void *wanted_ctx;
};

/** Returns the path and query of a list request. Owned. */
char *list_target(const struct list_query *query);

/**
 * Fetches page after page and passes each, borrowed, to `page`, which returns false to stop.
 * `*out_revision` (the pointer may be NULL) receives the list's revision for a later watch; owned
 * by the caller.
 */
bool list_pages(struct client *client, const struct list_query *query,
                bool (*page)(void *ctx, json_t *page), void *ctx, char **out_revision,
                struct error *err);

/* NOT_FOUND means that the server does not have the kind. */

/** Passes each object of a list, borrowed, to `each`, which returns false to stop. */
bool list_each(struct client *client, const struct list_query *query,
               bool (*each)(void *ctx, json_t *object), void *ctx, char **out_revision,
               struct error *err);

/** Passes the name of each object, borrowed, to `each`. Fetches metadata only and builds no
 * documents. */
bool list_names(struct client *client, const struct list_query *query,
                void (*each)(void *ctx, const char *name), void *ctx, struct error *err);

/** A watch and its callbacks; the `object` they get is borrowed. */
enum watch_event { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED };

struct watcher {
    struct client_call call; /* private to this module */
    char *target;            /* private to this module */
    struct documents events; /* private to this module */
    /** Called for each event. Returns false to end the watch and client_run. */
    bool (*changed)(struct watcher *watcher, enum watch_event event, json_t *object);
    /** Called when the watch has ended: closed by the server (err->code NONE), too far behind
     * (GONE: list again), or failed. May be NULL. */
    void (*ended)(struct watcher *watcher, const struct error *err);
};

/** Starts a watch from `revision` on ("0": sends the present state first). */
void watcher_start(struct client *client, struct watcher *watcher, const struct list_query *query,
                   const char *revision);
void watcher_stop(struct watcher *watcher); /* must not be called from the watcher's callbacks */
SCOPED_DEFINE(watcher, struct watcher, watcher_stop)
