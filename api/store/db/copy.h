#pragma once
/*
 * Copies the database into another file while it is in use, some pages at a time. The copy includes
 * what is committed between two steps.
 */
#include "api/store/db/db.h"

struct db_copy;

/** Starts a copy into `path`, which is created anew with mode 0600. Must run on the thread that
 * owns the database. */
struct db_copy *db_copy_start(struct db *db, const char *path, struct error *err);
enum db_copy_state { DB_COPY_MORE, DB_COPY_DONE, DB_COPY_FAILED };
enum db_copy_state db_copy_step(struct db_copy *copy, struct error *err);
/** Ends and frees the copy. The file is removed unless the copy is DONE. NULL is fine. */
void db_copy_end(struct db_copy *copy);
