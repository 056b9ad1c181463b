#pragma once
/*
 * A store on disk in a fresh directory, on a loop with virtual time.
 */
#include "api/store/store.h"

struct store_world {
    struct clock *clock;
    struct loop *loop;
    struct store *store; /* NULL: closed */
    char *directory;     /* owned */
};

struct store_world store_world_at(const char *name); /* closed */
bool store_world_open(struct store_world *world, struct error *err);
struct store_world store_world_new(const char *name); /* open */
void store_world_close(struct store_world *world);
void store_world_reopen(struct store_world *world);
void store_world_free(struct store_world *world);

/** The job of that name in namespace "default". */
const struct object *store_world_get(const struct store_world *world, const char *name);

/* Of the closed store's file: run SQL; the number it answers. */
void store_world_sql(const struct store_world *world, const char *text);
int64_t store_world_ask(const struct store_world *world, const char *text);
