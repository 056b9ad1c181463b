#pragma once
/*
 * Internals of the connection, shared by db.c (opening, settings, schema), db_rows.c (loading and
 * committing) and db_status.c (long statuses).
 */
#include <sqlite3.h>

#include "api/store/db_status.h"

/* clang-format off */
#define STATEMENTS(X)                                                                          \
    X(BEGIN,         "BEGIN IMMEDIATE")                                                        \
    X(COMMIT,        "COMMIT")                                                                 \
    X(ROLLBACK,      "ROLLBACK")                                                               \
    X(PUT_OBJECT,    "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)")         \
    X(DELETE_OBJECT, "DELETE FROM objects WHERE id = ?")                                       \
    X(PUT_BODY,      "INSERT INTO bodies VALUES (?, ?)")                                       \
    X(DELETE_BODY,   "DELETE FROM bodies WHERE id = ?")                                        \
    X(PUT_STATUS,    "INSERT INTO statuses VALUES (?, ?)")                                     \
    X(DELETE_STATUS, "DELETE FROM statuses WHERE id BETWEEN ? AND ?")                          \
    X(SET_META,      "UPDATE meta SET value = ?2 WHERE key = ?1")
/* clang-format on */

#define STATEMENT_ENUM(name, sql) DO_##name,
enum statement { STATEMENTS(STATEMENT_ENUM) STATEMENT_N };
#undef STATEMENT_ENUM

struct db {
    sqlite3 *sqlite;
    sqlite3_stmt *statements[STATEMENT_N];
    char *path;
    bool read_only;
    int log_pages; /* pages in the write-ahead log */
    int log_kept;  /* pages when the last checkpoint failed because the disk was full */
    int64_t revision_mark;
    bool clean;
    int kind_codes[KIND_N];            /* the number of each kind in the file */
    const struct kind **kinds_by_code; /* [n_kinds_by_code] */
    size_t n_kinds_by_code;
    struct db_statuses *statuses;
};

enum { DB_LOG_LONG = 1000, DB_LOG_FULL = 2000 }; /* pages of the write-ahead log */

/** Sets `err` from SQLite's last error. Returns false. */
bool db_fail(struct db *db, struct error *err, const char *doing);
/** Runs a statement that returns no rows. */
bool db_step(struct db *db, enum statement which);
bool db_set_meta(struct db *db, const char *key, int64_t value);
