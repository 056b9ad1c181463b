#pragma once
/*
 * The SQLite file of a store: opening, settings, migrations, loading, and one transaction per
 * batch.
 *
 * A connection belongs to one thread at a time: to the loop during opening and closing, to the
 * store thread in between. The process has no other descriptor of the file open (D-05).
 */
#include "api/store/db/batch.h"

struct db;

enum db_mode {
    DB_FULL,
    DB_NORMAL,
    DB_LOOK,          /* reads only; waits while another process has the file open */
    DB_LOOK_UNLOCKED, /* reads only and looks at no lock: nothing may change meanwhile */
    DB_DAMAGED,       /* reads only; what is damaged is noted and left out (db_damage) */
};

enum db_outcome {
    DB_OK,
    DB_NO_SPACE, /* rolled back; the caller may retry (D-08) */
    DB_FAILED,   /* the outcome is unknown (D-04) */
};

/* A row of an object as it is on disk. Borrowed during the call. */
struct db_row {
    int64_t row, revision, body;
    const struct kind *kind; /* kind of the row; NULL: a kind this program does not know */
    const char *ns, *name;
    const void *meta, *status; /* as stored; `status` is NULL when the object has none */
    size_t meta_len, status_len;
    int64_t sum;        /* checksum of the row */
    const char *damage; /* why the row cannot be used; NULL: no damage is known here */
};

struct db_reader {
    void (*body)(void *ctx, int64_t row, const void *bytes, size_t len);
    void (*object)(void *ctx, const struct db_row *row);
    void *ctx;
};

struct db_counts {
    uint64_t rows, bytes; /* number of rows written; number of bytes bound to statements */
};

/**
 * Opens or creates `path`. It reads each setting back (D-01), migrates the schema, compares the
 * store with its mark (mark.h), and checks the file for damage if the last process did not close it
 * (D-07). Errors: CONFLICT when another process has it open, STORAGE when it is damaged or too new,
 * INTERNAL. A file that is refused is not changed.
 */
struct db *db_open(const char *path, enum db_mode mode, struct error *err);
void db_close(struct db *db); /* NULL is ignored */

/** What a database opened with DB_DAMAGED was found to lack, one finding a line; "" when nothing
 * was found so far. Borrowed. */
const char *db_damage(const struct db *db);
/** Sets STORAGE for damage of the store file `path`: the finding, the newest backup, and the
 * command that repairs. Returns false. */
bool db_damage_error(const char *path, const char *finding, struct error *err);

enum db_life { DB_IN_USE, DB_CLOSED };
/** Records durably that no revision at or above `revision_mark` was assigned, and whether the store
 * was closed cleanly. When the disk is full it changes nothing; db_commit works all the same, once
 * there is room. */
enum db_outcome db_note(struct db *db, int64_t revision_mark, enum db_life life, struct error *err);
/** Keeps the write-ahead log when the file is closed, with the space that it has beyond its content
 * (store_dir_move_reserve). */
void db_keep_log(struct db *db);

/* The first row number for kinds with few objects (kind.few); their rows are below zero. */
#define DB_FEW_FIRST (-(INT64_C(1) << 48))
#define DB_ROW_LAST  (INT64_C(1) << 54)

/* The part of the file to read: all rows, the rows below zero, or the other rows whose name is
 * `name` or begins with `name` and a dash, as the names of a job's pods do. */
struct db_part {
    enum { DB_ALL, DB_FEW, DB_NAMED } what;
    const char *name;
};
/** Reads the rows of the part and their bodies, in order of row numbers, and verifies each
 * checksum. STORAGE when the file is damaged. */
bool db_load(struct db *db, const struct db_part *part, const struct db_reader *reader,
             struct error *err);
/** Whether the content of every row was parsed since another program wrote to the file. What
 * db_commit writes needs no parsing. db_set_checked: it was, after db_load of all rows. */
bool db_is_checked(const struct db *db);
void db_set_checked(struct db *db);
/** No revision at or above this one was ever assigned, as the file and its mark said when they were
 * opened. */
int64_t db_revision_mark(const struct db *db);
/** The mark was written, but a loss of power could still undo it. db_mark_is_due: since a second or
 * longer. */
bool db_mark_is_unsynced(const struct db *db);
bool db_mark_is_due(const struct db *db);
bool db_mark_sync(struct db *db, struct error *err); /* false when the disk failed (D-04) */

/** Writes a batch in one transaction. `err` is set unless the result is DB_OK. */
enum db_outcome db_commit(struct db *db, const struct batch *batch, struct db_counts *counts,
                          struct error *err);
/** Frees SQLite's caches. Called when the store is idle. */
void db_rest(struct db *db);
/** Returns whether the write-ahead log is long enough to checkpoint while the store is idle.
 * db_log_is_full says that it must be checkpointed even under load. */
bool db_log_is_long(const struct db *db);
bool db_log_is_full(const struct db *db);
/** Checkpoints the write-ahead log: moves its content into the file. Called after db_commit. False
 * when the disk failed (D-04). A full disk is no failure: the log then counts as neither long nor
 * full until it has grown again. */
bool db_checkpoint(struct db *db, struct error *err);
