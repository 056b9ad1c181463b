#pragma once
/*
 * The SQLite file of a store: opening, settings, migrations, loading, and one transaction per
 * batch.
 *
 * A connection belongs to one thread at a time: to the loop while opening and closing, to the store
 * thread in between. No other descriptor of the file is ever open in the process (D-05).
 */
#include "api/store/batch.h"

struct db;

enum db_mode { DB_FULL, DB_NORMAL, DB_LOOK };

enum db_outcome {
    DB_OK,
    DB_NO_SPACE, /* rolled back; may be tried again (D-08) */
    DB_FAILED,   /* the outcome is unknown (D-04) */
};

/* A row of an object as it is on disk; borrowed during the call. */
struct db_row {
    int64_t row, revision, body;
    const struct kind *kind; /* NULL: a kind this program does not know */
    const char *ns, *name;
    const void *meta, *status; /* status NULL = absent */
    size_t meta_len, status_len;
    const char *damage; /* it cannot be read; NULL: it can, as far as known here */
};

struct db_reader {
    void (*body)(void *ctx, int64_t row, const void *bytes, size_t len);
    void (*object)(void *ctx, const struct db_row *row);
    void *ctx;
};

struct db_counts {
    uint64_t rows, bytes; /* written; bound to statements */
};

/**
 * Open or create `path`, check the settings by reading them back (D-01), bring the schema up to
 * date, and check the whole file if the last user did not close it (D-07). Errors: CONFLICT when
 * another process has it open, STORAGE when it is damaged or too new, INTERNAL.
 */
struct db *db_open(const char *path, enum db_mode mode, struct error *err);
void db_close(struct db *db); /* NULL is fine */

enum db_life { DB_IN_USE, DB_CLOSED };
/** Note durably that no revision at or above `revision_mark` was given out, and whether the store
 * is being left in order. */
bool db_note(struct db *db, int64_t revision_mark, enum db_life life, struct error *err);

/* Rows of kinds of which there are few (kind.few) have numbers from here on, up to zero. */
#define DB_FEW_FIRST (-(INT64_C(1) << 48))
#define DB_ROW_LAST  (INT64_C(1) << 54)

/* What of the file is read: everything, the rows below zero, or those others whose name is `name`
 * or begins with it and a dash, as the names of a job's pods do. */
struct db_part {
    enum { DB_ALL, DB_FEW, DB_NAMED } what;
    const char *name;
};
/** Read the rows of the part and their bodies, in order of row numbers. STORAGE when the file is
 * damaged. */
bool db_load(struct db *db, const struct db_part *part, const struct db_reader *reader,
             struct error *err);
int64_t db_revision_mark(const struct db *db); /* as found when opening */

/** Write a batch in one transaction. `err` is set unless DB_OK. */
enum db_outcome db_commit(struct db *db, const struct batch *batch, struct db_counts *counts,
                          struct error *err);
/** Nothing is to do for a while: give back what the process keeps in memory for being quick. */
void db_rest(struct db *db);
/** Whether the write-ahead log is worth moving into the file, when nobody waits; and whether it is
 * time however many wait. */
bool db_log_is_long(const struct db *db);
bool db_log_is_full(const struct db *db);
/** Move what the write-ahead log gathered into the file. After db_commit. False when the disk
 * failed (D-04); being full is no failure, but then the log is neither long nor full before it has
 * grown again. */
bool db_checkpoint(struct db *db, struct error *err);
