/*
 * Opening, closing, and SQLite beside the store.
 */
#include "tests/support/store_fixture.h"
#include "tests/unit.h"

#include <sqlite3.h>

struct store_world store_world_at(const char *name)
{
    struct store_world world = {.clock = clock_virtual_new(0, 1), .directory = test_path(name)};

    world.loop = loop_new(world.clock);
    return world;
}

bool store_world_open(struct store_world *world, struct error *err)
{
    const struct store_options options = {.directory = world->directory};

    world->store = store_open(world->loop, &options, err);
    return world->store;
}

struct store_world store_world_new(const char *name)
{
    struct store_world world = store_world_at(name);
    struct error err;

    check_ok(name, store_world_open(&world, &err), err);
    return world;
}

void store_world_close(struct store_world *world)
{
    store_close(take(world->store));
    loop_settle(world->loop);
}

void store_world_reopen(struct store_world *world)
{
    struct error err;

    store_world_close(world);
    check_ok(world->directory, store_world_open(world, &err), err);
}

void store_world_free(struct store_world *world)
{
    store_world_close(world);
    loop_free(world->loop);
    clock_free(world->clock);
    mem_free(world->directory);
}

const struct object *store_world_get(const struct store_world *world, const char *name)
{
    return store_get(world->store, &kind_job, "default", name);
}

static sqlite3 *open_file(const struct store_world *world)
{
    scoped_str path = mem_printf("%s/store.db", world->directory);
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "unix"), SQLITE_OK);
    return db;
}

void store_world_sql(const struct store_world *world, const char *text)
{
    sqlite3 *db = open_file(world);
    char *message = NULL;

    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        check_fail("%s: %s", text, message);
    sqlite3_close(db);
}

int64_t store_world_ask(const struct store_world *world, const char *text)
{
    sqlite3 *db = open_file(world);
    sqlite3_stmt *statement = NULL;
    int64_t answer;

    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}
