#pragma once
/*
 * Internals of the connection, shared by db.c (opening, settings, schema), rows.c (loading and
 * committing) and long_status.c (long statuses).
 */
#include <sqlite3.h>

#include "api/store/db/checksum.h"
#include "api/store/db/long_status.h"
#include "api/store/db/mark.h"

/* clang-format off */
#define STATEMENTS(X)                                                                          \
    X(BEGIN,         "BEGIN IMMEDIATE")                                                        \
    X(COMMIT,        "COMMIT")                                                                 \
    X(ROLLBACK,      "ROLLBACK")                                                               \
    X(PUT_OBJECT,    "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")      \
    X(DELETE_OBJECT, "DELETE FROM objects WHERE id = ?")                                       \
    X(PUT_BODY,      "INSERT INTO bodies VALUES (?, ?, ?)")                                    \
    X(DELETE_BODY,   "DELETE FROM bodies WHERE id = ?")                                        \
    X(PUT_STATUS,    "INSERT INTO statuses VALUES (?, ?, ?)")                                  \
    X(DELETE_STATUS, "DELETE FROM statuses WHERE id BETWEEN ? AND ?")                          \
    X(PUT_STATE,     "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
/* clang-format on */

#define STATEMENT_ENUM(name, sql) DO_##name,
enum statement { STATEMENTS(STATEMENT_ENUM) STATEMENT_N };
#undef STATEMENT_ENUM

/* The row of the table `state`, in the order of its columns behind `id` (schema.sql). */
/* clang-format off */
#define DB_STATE(X)                                                                            \
    X(generation) X(commits) X(newest) X(revision) X(clean) X(backup) X(total) X(checked)      \
    X(objects) X(bodies) X(parts)
/* clang-format on */
#define STATE_MEMBER(name) int64_t name;
struct db_state {
    DB_STATE(STATE_MEMBER)
};
#undef STATE_MEMBER

struct db {
    sqlite3 *sqlite;
    sqlite3_stmt *statements[STATEMENT_N];
    char *path;
    bool read_only, lenient;
    enum db_mode mode;
    int log_pages; /* pages in the write-ahead log */
    bool trim_log; /* the next checkpoint gives back the space of the log */
    int log_kept;  /* pages when the last checkpoint failed because the disk was full */
    struct mark *mark;
    struct mark_content marked;  /* content of the mark as found when it was opened */
    enum mark_found mark_found;  /* says whether the mark was readable when it was opened */
    struct db_state state, next; /* after the last commit; after the open transaction */
    bool ready;                  /* the file has every kind, and is noted as in use */
    bool checked;                /* the content of every row was parsed, or written here */
    struct db_state seen;        /* counted while loading: total and numbers of rows */
    struct buf damage;           /* the findings of a lenient connection */
    size_t n_damages;
    int known_codes[KIND_N];           /* kind_codes as it was when the transaction began */
    int kind_codes[KIND_N];            /* the number of each kind in the file */
    const struct kind **kinds_by_code; /* kinds by their code in the file, [n_kinds_by_code] */
    size_t n_kinds_by_code;
    struct db_statuses *statuses;
};

enum { DB_LOG_LONG = 1000, DB_LOG_FULL = 2000 }; /* pages of the write-ahead log */

/** Sets `err` from SQLite's last error. Returns false. */
bool db_fail(struct db *db, struct error *err, const char *doing);
/** Judges the result that ended a loop over rows: true at the end of the rows. SQLITE_ROW: the loop
 * has set `err`. */
bool db_rows_end(struct db *db, int code, const char *doing, struct error *err);
/** Returns whether the last error of SQLite means that the disk is full. */
bool db_no_space(const struct db *db);
/** Begins a transaction. Adds kinds that the file does not have yet. */
bool db_begin(struct db *db, struct error *err);
/** Ends a transaction that failed. False when SQLite cannot. */
bool db_roll_back(struct db *db);
/** Runs a statement that returns no rows. */
bool db_step(struct db *db, enum statement which);

/* Defined in state.c. */
/** Notes damage. Returns true if the connection is lenient and goes on without the damaged rows;
 * otherwise false, with STORAGE in `err`. */
bool db_damaged(struct db *db, struct error *err, const char *format, ...) PRINTF_LIKE(3, 4);
/** Opens the mark, and refuses a store whose file is missing or empty though it had content. To be
 * called before SQLite opens the file, because SQLite deletes the log of an empty one. */
bool db_state_before(struct db *db, struct error *err);
/** Reads the state and compares it with the mark. */
bool db_state_read(struct db *db, struct error *err);
/** Reads the state only. False when it is missing or damaged. */
bool db_state_read_row(struct db *db);
/** Writes `next` as the state. Part of the open transaction. */
bool db_state_put(struct db *db);
/** After a commit: `next` is the state, and is marked. */
bool db_state_committed(struct db *db, struct error *err);
/** After a checkpoint, which syncs every commit. */
bool db_state_checkpointed(struct db *db, struct error *err);
/** Compares what was loaded with the state. */
bool db_state_compare_loaded(struct db *db, struct error *err);
/** A file of the present schema that has no mark gets one that says nothing yet. */
bool db_state_first_mark(struct db *db, struct error *err);
