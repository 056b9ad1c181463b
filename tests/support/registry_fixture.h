#pragma once
/*
 * A registry on a store in memory and a virtual clock, with functions that act as a user with JSON
 * documents.
 *
 * The functions below settle the loop, so that all consequences have happened when they return. An
 * unexpected failure fails the test.
 */
#include "api/registry/registry.h"

struct registry_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct registry_options options;
    char *directory;          /* directory of the store, owned; NULL: the store is in memory */
    struct error_list errors; /* errors of the last operation that was expected to fail */
    struct buf history;       /* durable changes without events: "+Job/a ~Job/a -Job/a " */
    struct store_watch *watches[KIND_N];
};

/** Creates the fixture. `directory` NULL: the store is in memory. Deletion protection and flow
 * update rules are on. */
struct registry_fixture *registry_fixture_new(const char *directory,
                                              const struct registry_options *options);
void registry_fixture_free(struct registry_fixture *fixture); /* NULL is ignored */
SCOPED_DEFINE_PTR(registry_fixture, struct registry_fixture *, registry_fixture_free)
void registry_fixture_settle(struct registry_fixture *fixture);
void registry_fixture_restart(
    struct registry_fixture *fixture); /* opens the directory again, which must not be NULL;
                                        * `history` is kept */

/** Creates an object from JSON ("'" stands for '"'). Borrowed until the next operation. */
const struct object *registry_fixture_create(struct registry_fixture *fixture, const char *json);
/** Creates an object and expects an error with `code` and a message that contains `text`. */
void registry_fixture_refuses(struct registry_fixture *fixture, const char *json,
                              enum error_code code, const char *text);
/** Parses JSON with "'" in place of '"'; owned. */
json_t *registry_fixture_json(const char *json);

const struct object *registry_fixture_get(struct registry_fixture *fixture, const struct kind *kind,
                                          const char *name);
bool registry_fixture_has(struct registry_fixture *fixture, const struct kind *kind,
                          const char *name);

/** Applies a merge patch; returns false with `errors` set. */
bool registry_fixture_patch(struct registry_fixture *fixture, const struct kind *kind,
                            const char *name, const char *json);
bool registry_fixture_patch_status(struct registry_fixture *fixture, const struct kind *kind,
                                   const char *name, const char *json);
/** Deletes an object; returns false with `errors` set. */
bool registry_fixture_delete(struct registry_fixture *fixture, const struct kind *kind,
                             const char *name, const struct registry_delete *how);
#define registry_fixture_delete_with(fixture, kind, name, ...)                                     \
    registry_fixture_delete((fixture), (kind), (name), &(const struct registry_delete){__VA_ARGS__})
/** Checks that the last operation failed with this code and a message that contains `text`. */
void registry_fixture_failed(const struct registry_fixture *fixture, enum error_code code,
                             const char *text);
