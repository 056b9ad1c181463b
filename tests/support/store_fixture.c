/*
 * Opens and closes a store on disk, and runs SQL on its file.
 */
#include "tests/support/store_fixture.h"
#include "tests/unit.h"

#include <unistd.h>

#include "api/store/db/checksum.h"

struct store_fixture store_fixture_at(const char *name)
{
    struct store_fixture fixture = {.clock = clock_virtual_new(0, 1), .directory = test_path(name)};

    fixture.loop = loop_new(fixture.clock);
    return fixture;
}

bool store_fixture_open(struct store_fixture *fixture, struct error *err)
{
    const struct store_options options = {.directory = fixture->directory};

    fixture->store = store_open(fixture->loop, &options, err);
    return fixture->store;
}

struct store_fixture store_fixture_new(const char *name)
{
    struct store_fixture fixture = store_fixture_at(name);
    struct error err;

    check_ok(name, store_fixture_open(&fixture, &err), err);
    return fixture;
}

void store_fixture_close(struct store_fixture *fixture)
{
    store_close(take(fixture->store));
    loop_settle(fixture->loop);
}

void store_fixture_reopen(struct store_fixture *fixture)
{
    struct error err;

    store_fixture_close(fixture);
    check_ok(fixture->directory, store_fixture_open(fixture, &err), err);
}

void store_fixture_free(struct store_fixture *fixture)
{
    store_fixture_close(fixture);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture->directory);
}

const struct object *store_fixture_get(const struct store_fixture *fixture, const char *name)
{
    return store_get(fixture->store, &kind_job, "default", name);
}

static sqlite3 *open_file(const struct store_fixture *fixture)
{
    scoped_str path = mem_printf("%s/store.db", fixture->directory);
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "unix"), SQLITE_OK);
    return db;
}

static void run_sql(const struct store_fixture *fixture, const char *text, bool sign)
{
    sqlite3 *db = open_file(fixture);
    char *message = NULL;

    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        check_fail("%s: %s", text, message);
    if (sign) /* fails when the text has removed a table; then there is nothing to sign */
        db_sign(db);
    sqlite3_close(db);
}

void store_fixture_sql(const struct store_fixture *fixture, const char *text)
{
    run_sql(fixture, text, true);
}

void store_fixture_sql_unsigned(const struct store_fixture *fixture, const char *text)
{
    run_sql(fixture, text, false);
}

void store_fixture_make_older(const struct store_fixture *fixture, int version)
{
    scoped_str mark = mem_printf("%s/store.db-mark", fixture->directory);
    scoped_str sql = mem_printf("CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, "
                                "value INTEGER NOT NULL) WITHOUT ROWID;"
                                "INSERT INTO meta SELECT 'revision', revision FROM state;"
                                "INSERT INTO meta SELECT 'clean', clean FROM state;"
                                "DROP TABLE state; ALTER TABLE kinds DROP COLUMN sum;"
                                "ALTER TABLE bodies DROP COLUMN sum;"
                                "ALTER TABLE statuses DROP COLUMN sum;"
                                "ALTER TABLE objects DROP COLUMN sum;"
                                "PRAGMA user_version = %d",
                                version);

    run_sql(fixture, sql, false);
    unlink(mark);
}

int64_t store_fixture_ask(const struct store_fixture *fixture, const char *text)
{
    sqlite3 *db = open_file(fixture);
    sqlite3_stmt *statement = NULL;
    int64_t answer;

    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}
