/*
 * Tests that api/store/db/db.c resists a file prepared by an attacker.
 */
#include "tests/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/store/db/db.h"
#include "api/store/db/internal.h"

#define PATH "state.db"

static struct db *opened(enum db_mode mode)
{
    struct error err = {0};
    struct db *db = db_open(PATH, mode, &err);

    check(err.message, db != NULL);
    return db;
}

/* covers: reliability.md SEC-39 */
static void the_connection_is_defended_however_it_is_opened(void **state)
{
    static const struct {
        const char *name;
        int option, wanted;
    } rows[] = {
        {"defensive", SQLITE_DBCONFIG_DEFENSIVE, 1},
        {"trusted schema", SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {"extensions", SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {"double quotes", SQLITE_DBCONFIG_DQS_DML, 0},
    };
    static const enum db_mode modes[] = {DB_FULL, DB_NORMAL, DB_LOOK};

    for (size_t m = 0; m < countof(modes); m++) {
        struct db *db = opened(modes[m]);

        for (size_t i = 0; i < countof(rows); i++) {
            int is = -1;

            sqlite3_db_config(db->sqlite, rows[i].option, -1, &is);
            check_int(rows[i].name, is, rows[i].wanted);
        }
        db_close(db);
    }
}

/* covers: reliability.md SEC-39 */
static void a_connection_can_do_nothing_dangerous(void **state)
{
    static const struct {
        const char *name, *sql;
    } rows[] = {
        {"an extension", "SELECT load_extension('anything.so')"},
        {"the schema's own table",
         "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x'"},
    };
    struct db *db = opened(DB_FULL);

    for (size_t i = 0; i < countof(rows); i++)
        check(rows[i].name, sqlite3_exec(db->sqlite, rows[i].sql, NULL, NULL, NULL) != SQLITE_OK);
    check_int("it still works", sqlite3_exec(db->sqlite, "SELECT 1", NULL, NULL, NULL), SQLITE_OK);
    db_close(db);
}

/* The store must not run a trigger that an attacker put into the file. */
static void a_prepared_file_is_not_obeyed(void **state)
{
    struct db *db = opened(DB_FULL);
    struct error err = {0};
    sqlite3 *stranger;

    db_close(db);
    check_int("opened", sqlite3_open(PATH, &stranger), SQLITE_OK);
    check_int("planted",
              sqlite3_exec(stranger,
                           "CREATE TRIGGER trap AFTER INSERT ON state BEGIN "
                           "SELECT load_extension('anything.so'); END",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(stranger);
    check("refused", !db_open(PATH, DB_FULL, &err));
    check_has("it says why", err.message, "unsafe use of load_extension");
}

static void rest_keeps_everything(void **state)
{
    struct error err = {0};
    struct db *db = opened(DB_FULL);

    check_ok("note", db_note(db, 42, DB_IN_USE, &err) == DB_OK, err);
    db_rest(db);
    check_ok("again", db_note(db, 43, DB_CLOSED, &err) == DB_OK, err);
    db_close(db);
    db = opened(DB_FULL);
    check_int("all is there", db_revision_mark(db), 43);
    db_close(db);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_keeps_everything),
        cmocka_unit_test(the_connection_is_defended_however_it_is_opened),
        cmocka_unit_test(a_connection_can_do_nothing_dangerous),
        cmocka_unit_test(a_prepared_file_is_not_obeyed),
    };

    if (getenv("TMPDIR") && chdir(getenv("TMPDIR")))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
