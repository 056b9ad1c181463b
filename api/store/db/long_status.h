#pragma once
/*
 * Long statuses, stored apart from their objects as a text and the deltas since it was written.
 *
 *   objects                       statuses
 *   (row, …, status)              (256 × row, the text, compressed)
 *    holds short statuses;        (256 × row + 1, delta to the next one)
 *    an empty blob for long ones  (256 × row + 2, …)
 *
 * The status of a flow of a thousand steps is a megabyte, and each step changes a few hundred bytes
 * of it at a time; only these changes are written (DC-05). When the deltas become many or large,
 * the whole text is written again.
 *
 * The texts written lately are cached as the base of the next delta. The first write after a start,
 * or after a text left the cache, writes the whole text.
 */
#include "api/store/db/db.h"

struct db_statuses; /* the rows with a long status, and the cached texts */

struct db_statuses *db_statuses_new(void);
void db_statuses_free(struct db_statuses *statuses); /* NULL is ignored */

/** Returns true when `status` is stored apart. The object's row then has an empty blob. */
bool db_status_is_long(const struct blob *status);

/** Within a transaction: writes `status` apart for `row`. NULL or a short status deletes what is
 * stored apart. */
bool db_status_write(struct db *db, int64_t row, const struct blob *status,
                     struct db_counts *counts);

/** Ends the transaction: keeps the cache when `committed`, else drops what the transaction changed.
 */
void db_statuses_settle(struct db_statuses *statuses, bool committed);

/** Reads the long statuses of rows `from` to `to` into memory. db_statuses_loaded frees them. */
bool db_statuses_load(struct db *db, int64_t from, int64_t to, struct error *err);
/** Returns the long status of a row whose blob is empty; borrowed. False when it cannot be read. */
bool db_status_loaded(const struct db_statuses *statuses, int64_t row, const void **text,
                      size_t *len);
void db_statuses_loaded(struct db_statuses *statuses);
