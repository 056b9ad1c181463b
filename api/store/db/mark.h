#pragma once
/*
 * The mark of a store: a small file beside the database that says how far the store was (DC-28).
 *
 *   commit ─► sync of the write-ahead log ─► mark written ─► the commit is acknowledged
 *                                                 └─ mark synced within a second, or when idle
 *
 * SQLite ends a damaged or truncated write-ahead log at the first bad frame and says nothing. The
 * mark tells that commits are missing. It is written after its commit was synced, so no loss of
 * power makes it run ahead of the store:
 *
 *   - After the end of the process, however it ended, the mark names the last acknowledged commit.
 *   - After a loss of power it names that one, or one that was acknowledged at most a second (or,
 *     of an idle store, 50 ms) earlier. A later one may be missing without a word.
 *
 * The file has two records, written in turn, so that a torn write spoils one of them at most. Access
 * goes through SQLite's VFS, like access to the database.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What is marked. The members are those of the table `state` (schema.sql). */
struct mark_content {
    int64_t generation, commits, newest, revision, clean;
};

enum mark_found {
    MARK_ABSENT,  /* no file, or one in which nothing was written yet */
    MARK_DAMAGED, /* neither of the two records is readable */
    MARK_READ,
};

struct mark;

enum mark_access { MARK_READ_ONLY, MARK_WRITE };
/** Opens the mark at `path`. MARK_WRITE creates the file when there is none. INTERNAL with the
 * reason. */
struct mark *mark_open(const char *path, enum mark_access access, struct error *err);
void mark_close(struct mark *mark); /* NULL is fine */

/** Says what was found when the file was opened; `out` is set for MARK_READ. */
enum mark_found mark_read(const struct mark *mark, struct mark_content *out);

enum mark_result { MARK_OK, MARK_NO_SPACE, MARK_FAILED };
/** Writes the next mark; mark_sync makes it survive a loss of power. */
enum mark_result mark_write(struct mark *mark, const struct mark_content *content,
                            struct error *err);
bool mark_sync(struct mark *mark, struct error *err);
bool mark_is_unsynced(const struct mark *mark);
/** Whether the mark must be synced now: it was written since its last sync, and that sync is at
 * least a second ago. */
bool mark_is_due(const struct mark *mark);
