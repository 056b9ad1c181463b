#pragma once
/*
 * Long statuses, which lie apart from their objects: a text, and what has changed in it since.
 *
 *   objects                       statuses
 *   (row, …, status)              (256 × row, the text, compressed)
 *    short ones are there;        (256 × row + 1, delta to the next one)
 *    of long ones an empty blob   (256 × row + 2, …)
 *
 * The status of a flow of a thousand steps is a megabyte, and each of its steps changes a few
 * hundred bytes of it at a time: these are what is written (DC-05). When the deltas have come to be
 * many, or more than the text is worth, the text is written anew.
 *
 * What is on disk is remembered of those written lately, for the next delta to be worked out; the
 * first write after a start, or after a long while, is of the whole text.
 */
#include "api/store/db.h"

struct db_statuses; /* which rows have one, and what is remembered */

struct db_statuses *db_statuses_new(void);
void db_statuses_free(struct db_statuses *statuses); /* NULL is fine */

/** It lies apart; in its object's row is an empty blob. */
bool db_status_is_long(const struct blob *status);

/** Within a transaction: what lies apart for `row` shall read as `status`; nothing shall when that
 * is NULL or not long. */
bool db_status_write(struct db *db, int64_t row, const struct blob *status,
                     struct db_counts *counts);

/** The transaction is over. */
void db_statuses_settle(struct db_statuses *statuses, bool committed);

/** Read those of rows `from` to `to`; they are held until db_statuses_loaded. */
bool db_statuses_load(struct db *db, int64_t from, int64_t to, struct error *err);
/** The text of an object whose row has an empty blob; false when it cannot be read. */
bool db_status_loaded(const struct db_statuses *statuses, int64_t row, const void **text,
                      size_t *len);
void db_statuses_loaded(struct db_statuses *statuses);
