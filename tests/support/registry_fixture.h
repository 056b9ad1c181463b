#pragma once
/*
 * A registry on a store in memory and a virtual clock, and a user with JSON in hand.
 *
 * The words below settle the loop, so that what they bring about has happened when they return. A
 * failure that is not asked for fails the test.
 */
#include "api/registry/registry.h"

struct registry_fixture {
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
struct registry_fixture *registry_fixture_new(const char *directory,
                                              const struct registry_options *options);
void registry_fixture_free(struct registry_fixture *fixture); /* NULL is fine */
SCOPED_DEFINE_PTR(registry_fixture, struct registry_fixture *, registry_fixture_free)
void registry_fixture_settle(struct registry_fixture *fixture);
void registry_fixture_restart(
    struct registry_fixture *fixture); /* needs a directory; the history goes on */

/** Create from JSON ("'" stands for '"'). Borrowed until the next word. */
const struct object *registry_fixture_create(struct registry_fixture *fixture, const char *json);
/** Create and expect failure with `code` and a message that contains `text`. */
void registry_fixture_refuses(struct registry_fixture *fixture, const char *json,
                              enum error_code code, const char *text);
/** The JSON of a text with "'" for '"'; owned. */
json_t *registry_fixture_json(const char *json);

const struct object *registry_fixture_get(struct registry_fixture *fixture, const struct kind *kind,
                                          const char *name);
bool registry_fixture_has(struct registry_fixture *fixture, const struct kind *kind,
                          const char *name);

/** Merge patch. */
bool registry_fixture_patch(struct registry_fixture *fixture, const struct kind *kind,
                            const char *name, const char *json);
bool registry_fixture_patch_status(struct registry_fixture *fixture, const struct kind *kind,
                                   const char *name, const char *json);
/** False with `errors` set. */
bool registry_fixture_delete(struct registry_fixture *fixture, const struct kind *kind,
                             const char *name, const struct registry_delete *how);
#define registry_fixture_delete_with(fixture, kind, name, ...)                                     \
    registry_fixture_delete((fixture), (kind), (name), &(const struct registry_delete){__VA_ARGS__})
/** The last word failed with this code and text. */
void registry_fixture_failed(const struct registry_fixture *fixture, enum error_code code,
                             const char *text);
