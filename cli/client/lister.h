#pragma once
/*
 * Lists in pages, and watches that go on from them.
 */
#include "api/client/documents.h"
#include "api/types/kind.h"
#include "cli/client/client.h"

struct list_query {
    const struct kind *kind;
    const char *ns;   /* NULL = all namespaces */
    const char *name; /* NULL = all; the list then holds one object or none */
    const char *labels, *fields;
    const char *accept;         /* NULL = JSON: pages are Lists; a Table's: pages are Tables */
    const char *include_object; /* of Tables: "Object", "None"; NULL: metadata */
};

/** The path and query of it; owned. */
char *list_target(const struct list_query *query);

/**
 * Get page after page, each borrowed by `page`, which returns false to stop. `out_revision` (may be
 * NULL) becomes the list's, for a watch that goes on from there; owned, in `*out_revision`.
 */
bool list_pages(struct client *client, const struct list_query *query,
                bool (*page)(void *ctx, json_t *page), void *ctx, char **out_revision,
                struct error *err);

/** Each object of a List, borrowed by `each`, which returns false to stop. */
bool list_each(struct client *client, const struct list_query *query,
               bool (*each)(void *ctx, json_t *object), void *ctx, char **out_revision,
               struct error *err);

/** The name of each object, borrowed by `each`. Nothing else of them is asked for, nor made a
 * document of. */
bool list_names(struct client *client, const struct list_query *query,
                void (*each)(void *ctx, const char *name), void *ctx, struct error *err);

/** Pages of whatever is at `target`, a path with or without a query. */
bool list_pages_at(struct client *client, const char *target, const char *accept,
                   bool (*page)(void *ctx, json_t *page), void *ctx, char **out_revision,
                   struct error *err);

/** What a watch tells; `object` is borrowed. */
enum watch_event { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED };

struct watcher {
    struct client_call call; /* private */
    char *target;            /* private */
    struct documents events; /* private */
    /** Return false to end the watch and with it client_run. */
    bool (*changed)(struct watcher *watcher, enum watch_event event, json_t *object);
    /** The watch has ended: by the other side (err->code NONE), because it has fallen behind (GONE:
     * list again), or by an error. May be NULL. */
    void (*ended)(struct watcher *watcher, const struct error *err);
};

/** Watch from `revision` on ("0": the present state first). */
void watcher_start(struct client *client, struct watcher *watcher, const struct list_query *query,
                   const char *revision);
void watcher_stop(struct watcher *watcher); /* not from its own callbacks */
SCOPED_DEFINE(watcher, struct watcher, watcher_stop)
