/*
 * Checksums with XXH3: one hash over the numbers of a row and the hashes of its texts. The SQL
 * functions row_sum and total_sum compute the same for whole tables.
 */
#include "api/store/db/checksum.h"

#include "base/collections/hash.h"
#include "base/compiler.h"

void row_sum_bytes(struct row_sum *sum, const void *bytes, size_t len)
{
    row_sum_int(sum, (int64_t)hash_stable(len ? bytes : "", len));
}

void row_sum_columns(struct row_sum *sum, sqlite3_stmt *statement, int n)
{
    for (int i = 0; i < n; i++) {
        int type = sqlite3_column_type(statement, i);
        const void *bytes;

        if (type == SQLITE_INTEGER) {
            row_sum_int(sum, sqlite3_column_int64(statement, i));
        } else if (type == SQLITE_NULL) {
            row_sum_null(sum);
        } else {
            bytes = type == SQLITE_BLOB ? sqlite3_column_blob(statement, i)
                                        : (const void *)sqlite3_column_text(statement, i);
            row_sum_bytes(sum, bytes, (size_t)sqlite3_column_bytes(statement, i));
        }
    }
}

int64_t row_sum(const struct row_sum *sum)
{
    return (int64_t)hash_stable(sum->values, sum->n * sizeof *sum->values);
}

int64_t row_sum_of_bytes(int64_t row, const void *bytes, size_t len)
{
    struct row_sum sum = {0};

    row_sum_int(&sum, row);
    row_sum_bytes(&sum, bytes, len);
    return row_sum(&sum);
}

int64_t sum_plus(int64_t total, int64_t sum)
{
    return (int64_t)((uint64_t)total + (uint64_t)sum);
}

int64_t sum_minus(int64_t total, int64_t sum)
{
    return (int64_t)((uint64_t)total - (uint64_t)sum);
}

static void sql_row_sum(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct row_sum sum = {0};

    for (int i = 0; i < n; i++) {
        int type = sqlite3_value_type(values[i]);
        const void *bytes;

        if (type == SQLITE_INTEGER) {
            row_sum_int(&sum, sqlite3_value_int64(values[i]));
        } else if (type == SQLITE_NULL) {
            row_sum_null(&sum);
        } else {
            bytes = type == SQLITE_BLOB ? sqlite3_value_blob(values[i])
                                        : (const void *)sqlite3_value_text(values[i]);
            row_sum_bytes(&sum, bytes, (size_t)sqlite3_value_bytes(values[i]));
        }
    }
    sqlite3_result_int64(context, row_sum(&sum));
}

static void sql_total_step(sqlite3_context *context, int n, sqlite3_value **values)
{
    int64_t *total = sqlite3_aggregate_context(context, sizeof *total);

    if (total)
        *total = sum_plus(*total, sqlite3_value_int64(values[0]));
}

static void sql_total(sqlite3_context *context)
{
    int64_t *total = sqlite3_aggregate_context(context, sizeof *total);

    sqlite3_result_int64(context, total ? *total : 0);
}

/* clang-format off */
static const char *const signing[] = {
    "UPDATE kinds SET sum = row_sum(id, api_version, kind)",
    "UPDATE bodies SET sum = row_sum(id, bytes)",
    "UPDATE statuses SET sum = row_sum(id, bytes)",
    "UPDATE objects SET sum = row_sum(id, kind, namespace, name, revision, body, meta, status)",
    "UPDATE state SET objects = (SELECT count(*) FROM objects), "
        "bodies = (SELECT count(*) FROM bodies), parts = (SELECT count(*) FROM statuses), "
        "total = (SELECT total_sum(sum) FROM (SELECT sum FROM kinds UNION ALL "
            "SELECT sum FROM bodies UNION ALL SELECT sum FROM statuses UNION ALL "
            "SELECT sum FROM objects))",
};
/* clang-format on */

static bool define_functions(sqlite3 *sqlite)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;

    return sqlite3_create_function(sqlite, "row_sum", -1, flags, NULL, sql_row_sum, NULL, NULL) ==
               SQLITE_OK &&
           sqlite3_create_function(sqlite, "total_sum", 1, flags, NULL, NULL, sql_total_step,
                                   sql_total) == SQLITE_OK;
}

bool db_sign_state(sqlite3 *sqlite)
{
    return define_functions(sqlite) &&
           sqlite3_exec(sqlite,
                        "UPDATE state SET sum = row_sum(id, generation, commits, newest, revision, "
                        "clean, backup, total, checked, objects, bodies, parts)",
                        NULL, NULL, NULL) == SQLITE_OK;
}

bool db_sign(sqlite3 *sqlite)
{
    bool ok = define_functions(sqlite);

    for (size_t i = 0; ok && i < countof(signing); i++)
        ok = sqlite3_exec(sqlite, signing[i], NULL, NULL, NULL) == SQLITE_OK;
    return ok && db_sign_state(sqlite);
}
