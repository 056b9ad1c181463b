#pragma once
/*
 * Checksums of rows (DC-28).
 *
 * Each row of each table has a checksum of its other columns. The checksums of all rows but that of
 * the table `state` are added up, and the total is kept in `state`. A changed row has a wrong
 * checksum; a missing row, a doubled row and a page of an earlier time make a wrong total.
 */
#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROW_SUM_VALUES = 12 };

/* The values of a row, in the order of its columns, without the checksum. Starts zeroed. */
struct row_sum {
    uint64_t values[ROW_SUM_VALUES];
    size_t n;
};

static inline void row_sum_int(struct row_sum *sum, int64_t value)
{
    assert(sum->n < ROW_SUM_VALUES);
    sum->values[sum->n++] = (uint64_t)value;
}

void row_sum_bytes(struct row_sum *sum, const void *bytes, size_t len);

static inline void row_sum_null(struct row_sum *sum)
{
    row_sum_int(sum, 0);
}

/** Adds the first `n` columns of the current row of a statement. */
void row_sum_columns(struct row_sum *sum, sqlite3_stmt *statement, int n);
int64_t row_sum(const struct row_sum *sum);

/** Returns the checksum of a row of two columns, such as those of bodies. */
int64_t row_sum_of_bytes(int64_t row, const void *bytes, size_t len);

/** Adds and subtracts checksums modulo 2^64. */
int64_t sum_plus(int64_t total, int64_t sum);
int64_t sum_minus(int64_t total, int64_t sum);

/** Writes the checksum of every row, and a fresh total, as if all rows were whole. The caller has
 * begun a transaction. False with the error in `sqlite`. */
bool db_sign(sqlite3 *sqlite);
/** Signs the row of the table `state` alone, after one of its columns was changed. */
bool db_sign_state(sqlite3 *sqlite);
