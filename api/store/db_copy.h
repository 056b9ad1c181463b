#pragma once
/*
 * A copy of the database into another file, while it is in use: SQLite's backup interface, some
 * pages at a time. What is committed between two steps is in the copy.
 */
#include "api/store/db.h"

struct db_copy;

/** Begin to copy into `path`, which is made anew, 0600. On the thread that has the database. */
struct db_copy *db_copy_start(struct db *db, const char *path, struct error *err);
enum db_copy_state { DB_COPY_MORE, DB_COPY_DONE, DB_COPY_FAILED };
enum db_copy_state db_copy_step(struct db_copy *copy, struct error *err);
/** Free; a copy that is not DONE is removed. NULL is fine. */
void db_copy_end(struct db_copy *copy);
