#pragma once
/*
 * A registry on a store in memory and a virtual clock, and a user with JSON in hand.
 *
 * The words below settle the loop, so that what they bring about has happened when they return. A
 * failure that is not asked for fails the test.
 */
#include "api/registry/registry.h"

struct world {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct registry_options options;
    char *directory;          /* owned; NULL = in memory */
    struct error_list errors; /* of the last word that was expected to fail */
    struct buf history;       /* "+Job/a ~Job/a -Job/a ": durable changes, without events */
    struct store_watch *watches[KIND_N];
};

/** `directory` NULL: in memory. Deletion protection and flow update rules are on. */
struct world *world_new(const char *directory, const struct registry_options *options);
void world_free(struct world *world); /* NULL is fine */
SCOPED_DEFINE_PTR(world, struct world *, world_free)
void world_settle(struct world *world);
void world_restart(struct world *world); /* needs a directory; the history goes on */

/** Create from JSON ("'" stands for '"'). Borrowed until the next word. */
const struct object *world_create(struct world *world, const char *json);
/** Create and expect failure with `code` and a message that contains `text`. */
void world_refuses(struct world *world, const char *json, enum error_code code, const char *text);
/** The JSON of a text with "'" for '"'; owned. */
json_t *world_json(const char *json);

const struct object *world_get(struct world *world, const struct kind *kind, const char *name);
bool world_has(struct world *world, const struct kind *kind, const char *name);

/** Merge patch. */
bool world_patch(struct world *world, const struct kind *kind, const char *name, const char *json);
bool world_patch_status(struct world *world, const struct kind *kind, const char *name,
                        const char *json);
/** False with `errors` set. */
bool world_delete(struct world *world, const struct kind *kind, const char *name,
                  const struct registry_delete *how);
#define world_delete_with(world, kind, name, ...)                                                  \
    world_delete((world), (kind), (name), &(const struct registry_delete){__VA_ARGS__})
/** The last word failed with this code and text. */
void world_failed(const struct world *world, enum error_code code, const char *text);
