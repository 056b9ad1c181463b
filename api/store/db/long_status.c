/*
 * Writes and reads the parts of long statuses. Runs on the store thread, except during opening and
 * closing.
 */
#include "api/store/db/long_status.h"

#include <string.h>
#include <sys/queue.h>

#include "api/store/db/delta.h"
#include "api/store/db/internal.h"
#include "base/collections/hash.h"
#include "base/collections/table.h"
#include "base/mem.h"

enum {
    LONG_BYTES = 16 << 10,
    PARTS_PER_ROW = 256,       /* part numbers per row; schema.sql uses the same factor */
    PARTS_MAX = 64,            /* parts to combine on reading; more causes a full rewrite */
    DELTAS_PER_TEXT = 4,       /* limit of delta bytes, as a multiple of the first part */
    REMEMBERED_BYTES = 8 << 20 /* total size of cached texts */
};

/* The parts of one row on disk, or about to be written. */
struct parts {
    int64_t row;
    char *text; /* the text that they combine to; NULL = not cached */
    size_t len;
    size_t first_bytes, delta_bytes; /* bytes on disk: of the first part, of the others */
    int count;                       /* parts that are on disk, or were when it was last known */
    int64_t sum, n_rows;    /* on disk: sum of the checksums of the parts, and number of parts */
    int64_t old_sum, old_n; /* sum and number before the open transaction */
    bool touched, gone;     /* changed by, or deleted by, the open transaction */
    TAILQ_ENTRY(parts) age; /* links the cached texts by age */
};

struct db_statuses {
    struct table rows;
    TAILQ_HEAD(remembered_parts, parts) remembered; /* least recently written first */
    size_t bytes;
    struct parts **touched;
    size_t n_touched, cap_touched;
};

struct db_statuses *db_statuses_new(void)
{
    struct db_statuses *statuses = mem_alloc(sizeof *statuses);

    TAILQ_INIT(&statuses->remembered);
    return statuses;
}

static uint64_t row_hash(int64_t row)
{
    return hash_bytes(&row, sizeof row);
}

static bool same_row(const void *item, const void *key)
{
    return ((const struct parts *)item)->row == *(const int64_t *)key;
}

static struct parts *find(const struct db_statuses *statuses, int64_t row)
{
    return statuses->rows.count ? table_find(&statuses->rows, row_hash(row), same_row, &row) : NULL;
}

static struct parts *add(struct db_statuses *statuses, int64_t row)
{
    struct parts *parts = mem_alloc(sizeof *parts);

    parts->row = row;
    table_add(&statuses->rows, row_hash(row), parts);
    return parts;
}

static void forget_text(struct db_statuses *statuses, struct parts *parts)
{
    if (!parts->text)
        return;
    TAILQ_REMOVE(&statuses->remembered, parts, age);
    statuses->bytes -= parts->len;
    mem_free(take(parts->text));
}

static void drop(struct db_statuses *statuses, struct parts *parts)
{
    forget_text(statuses, parts);
    table_remove(&statuses->rows, row_hash(parts->row), parts);
    mem_free(parts);
}

static void remember_text(struct db_statuses *statuses, struct parts *parts, const char *text,
                          size_t len)
{
    forget_text(statuses, parts);
    parts->text = mem_alloc(len + 1);
    memcpy(parts->text, text, len);
    parts->len = len;
    TAILQ_INSERT_TAIL(&statuses->remembered, parts, age);
    statuses->bytes += len;
    while (statuses->bytes > REMEMBERED_BYTES && TAILQ_FIRST(&statuses->remembered) != parts)
        forget_text(statuses, TAILQ_FIRST(&statuses->remembered));
}

static void touch(struct db_statuses *statuses, struct parts *parts)
{
    if (parts->touched)
        return;
    parts->touched = true;
    parts->old_sum = parts->sum;
    parts->old_n = parts->n_rows;
    mem_grow(statuses->touched, statuses->n_touched, statuses->cap_touched);
    statuses->touched[statuses->n_touched++] = parts;
}

void db_statuses_settle(struct db_statuses *statuses, bool committed)
{
    for (size_t i = 0; i < statuses->n_touched; i++) {
        struct parts *parts = statuses->touched[i];

        parts->touched = false;
        if (committed && parts->gone) {
            drop(statuses, parts);
        } else if (!committed) { /* a rollback restores the parts of before */
            parts->gone = false;
            parts->sum = parts->old_sum;
            parts->n_rows = parts->old_n;
            forget_text(statuses, parts);
        }
    }
    statuses->n_touched = 0;
}

void db_statuses_free(struct db_statuses *statuses)
{
    if (!statuses)
        return;
    for (size_t i = 0; statuses->rows.slots && i <= statuses->rows.mask; i++) {
        struct parts *parts = statuses->rows.slots[i].item;

        if (parts)
            mem_free(parts->text);
        mem_free(parts);
    }
    table_release(&statuses->rows);
    mem_free(statuses->touched);
    mem_free(statuses);
}

bool db_status_is_long(const struct blob *status)
{
    return status && status->len >= LONG_BYTES;
}

static bool delete_parts(struct db *db, struct parts *parts)
{
    sqlite3_stmt *statement = db->statements[DO_DELETE_STATUS];
    int64_t row = parts->row;

    db->next.total = sum_minus(db->next.total, parts->sum);
    db->next.parts -= parts->n_rows;
    parts->sum = parts->n_rows = 0;
    sqlite3_bind_int64(statement, 1, row * PARTS_PER_ROW);
    sqlite3_bind_int64(statement, 2, row * PARTS_PER_ROW + PARTS_PER_ROW - 1);
    return db_step(db, DO_DELETE_STATUS);
}

static bool insert_part(struct db *db, struct parts *parts, int part, const struct buf *bytes,
                        struct db_counts *counts)
{
    sqlite3_stmt *statement = db->statements[DO_PUT_STATUS];
    int64_t id = parts->row * PARTS_PER_ROW + part;
    int64_t sum = row_sum_of_bytes(id, bytes->data, bytes->len);
    size_t len = bytes->len;

    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_blob64(statement, 2, bytes->data, len, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, sum);
    db->next.total = sum_plus(db->next.total, sum);
    db->next.parts++;
    parts->sum = sum_plus(parts->sum, sum);
    parts->n_rows++;
    counts->rows++;
    counts->bytes += len;
    return db_step(db, DO_PUT_STATUS);
}

static bool write_text(struct db *db, struct parts *parts, const struct blob *status,
                       struct db_counts *counts)
{
    scoped(buf) struct buf packed = {0};

    delta_make((struct delta_text){0}, (struct delta_text){status->text, status->len}, &packed);
    parts->first_bytes = packed.len;
    parts->delta_bytes = 0;
    parts->count = 1;
    return delete_parts(db, parts) && insert_part(db, parts, 0, &packed, counts);
}

static bool write_change(struct db *db, struct parts *parts, const struct blob *status,
                         struct db_counts *counts)
{
    scoped(buf) struct buf delta = {0};

    if (parts->count == PARTS_MAX)
        return write_text(db, parts, status, counts);
    delta_make((struct delta_text){parts->text, parts->len},
               (struct delta_text){status->text, status->len}, &delta);
    if (parts->delta_bytes + delta.len > parts->first_bytes * DELTAS_PER_TEXT)
        return write_text(db, parts, status, counts);
    parts->delta_bytes += delta.len;
    return insert_part(db, parts, parts->count++, &delta, counts);
}

bool db_status_write(struct db *db, int64_t row, const struct blob *status,
                     struct db_counts *counts)
{
    struct db_statuses *statuses = db->statuses;
    struct parts *parts = find(statuses, row);
    bool ok;

    if (!parts && !db_status_is_long(status))
        return true;
    if (!parts)
        parts = add(statuses, row);
    touch(statuses, parts);
    parts->gone = !db_status_is_long(status);
    if (parts->gone) {
        forget_text(statuses, parts);
        return delete_parts(db, parts);
    }
    if (parts->text && parts->len == status->len &&
        memcmp(parts->text, status->text, status->len) == 0)
        return true;
    ok = (parts->text ? write_change : write_text)(db, parts, status, counts);
    remember_text(statuses, parts, status->text, status->len);
    return ok;
}

/* Applies the next part of a row to `text`: the first is the whole text, each later one a delta. */
static bool put_together(struct buf *text, bool first, const void *bytes, size_t len)
{
    scoped(buf) struct buf next = {0};
    bool ok;

    if (first)
        buf_clear(text);
    ok = delta_apply((struct delta_text){text->data, text->len}, (struct delta_text){bytes, len},
                     &next);
    buf_release(text);
    *text = next;
    next = (struct buf){0};
    return ok;
}

static void keep_row(struct db_statuses *statuses, const struct parts *read, struct buf *text,
                     bool ok)
{
    struct parts *parts = add(statuses, read->row);

    parts->sum = read->sum;
    parts->n_rows = read->n_rows;
    if (!ok)
        return;
    parts->len = text->len;
    parts->text = buf_take(text);
    TAILQ_INSERT_TAIL(&statuses->remembered, parts, age);
    statuses->bytes += parts->len;
}

/* Returns the part number of a row id. Ids may be negative: kinds with few objects have rows below
 * zero. */
static int64_t part_of(int64_t id)
{
    return (id % PARTS_PER_ROW + PARTS_PER_ROW) % PARTS_PER_ROW;
}

static int64_t row_of(int64_t id)
{
    return (id - part_of(id)) / PARTS_PER_ROW;
}

/* Reads the next part of the status that `read` describes. False when it is damaged, or another
 * than the next one. */
static bool read_part(struct db *db, sqlite3_stmt *statement, struct parts *read, struct buf *text,
                      bool *ok, struct error *err)
{
    int64_t id = sqlite3_column_int64(statement, 0);
    const void *bytes = sqlite3_column_blob(statement, 1);
    size_t len = (size_t)sqlite3_column_bytes(statement, 1);
    int64_t sum = row_sum_of_bytes(id, bytes, len);
    bool whole = sum == sqlite3_column_int64(statement, 2);

    *ok = (read->n_rows ? *ok : true) && whole && part_of(id) == read->n_rows &&
          put_together(text, !read->n_rows, bytes ? bytes : "", len);
    read->sum = sum_plus(read->sum, sum);
    read->n_rows++;
    db->seen.parts++;
    db->seen.total = sum_plus(db->seen.total, sum);
    return whole ||
           db_damaged(db, err, "the checksum of part %lld of the status of row %lld is wrong",
                      (long long)part_of(id), (long long)row_of(id));
}

bool db_statuses_load(struct db *db, int64_t from, int64_t to, struct error *err)
{
    static const char sql[] =
        "SELECT id, bytes, sum FROM statuses WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    scoped(buf) struct buf text = {0};
    sqlite3_stmt *statement = NULL;
    struct parts read = {0};
    bool ok = false, all;
    int code;

    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        return db_fail(db, err, sql);
    sqlite3_bind_int64(statement, 1, from * PARTS_PER_ROW);
    sqlite3_bind_int64(statement, 2, to * PARTS_PER_ROW + PARTS_PER_ROW - 1);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t row = row_of(sqlite3_column_int64(statement, 0));

        if (read.n_rows && row != read.row) {
            keep_row(db->statuses, &read, &text, ok);
            read = (struct parts){0};
        }
        read.row = row;
        if (!read_part(db, statement, &read, &text, &ok, err))
            break;
    }
    if (read.n_rows)
        keep_row(db->statuses, &read, &text, ok);
    all = db_rows_end(db, code, sql, err);
    sqlite3_finalize(statement);
    return all;
}

bool db_status_loaded(const struct db_statuses *statuses, int64_t row, const void **text,
                      size_t *len)
{
    const struct parts *parts = find(statuses, row);

    if (!parts || !parts->text)
        return false;
    *text = parts->text;
    *len = parts->len;
    return true;
}

void db_statuses_loaded(struct db_statuses *statuses)
{
    while (!TAILQ_EMPTY(&statuses->remembered))
        forget_text(statuses, TAILQ_FIRST(&statuses->remembered));
}
