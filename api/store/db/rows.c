/*
 * Reads all rows once, writes batches, and checkpoints the write-ahead log.
 */
#include <malloc.h>
#include <string.h>

#include "api/store/db/internal.h"
#include "base/rss.h"

/* The bytes of a column. Each column is read once, both for its value and for the checksum: reading
 * it again takes as long as the hash of a short text. */
struct span {
    int type;       /* of SQLite */
    const void *at; /* NULL unless it is a text or a blob that is not empty */
    size_t len;
};

static struct span read_blob(sqlite3_stmt *statement, int column, struct row_sum *sum)
{
    struct span span = {.type = sqlite3_column_type(statement, column)};

    if (span.type == SQLITE_INTEGER) {
        row_sum_int(sum, sqlite3_column_int64(statement, column));
    } else if (span.type == SQLITE_NULL) {
        row_sum_null(sum);
    } else {
        span.at = sqlite3_column_blob(statement, column);
        span.len = (size_t)sqlite3_column_bytes(statement, column);
        row_sum_bytes(sum, span.at, span.len);
    }
    return span;
}

static const char *read_text(sqlite3_stmt *statement, int column, struct row_sum *sum)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    row_sum_bytes(sum, text, (size_t)sqlite3_column_bytes(statement, column));
    return text ? text : "";
}

static int64_t read_int(sqlite3_stmt *statement, int column, struct row_sum *sum)
{
    int64_t value = sqlite3_column_int64(statement, column);

    row_sum_int(sum, value);
    return value;
}

/* Compares the checksum of the values that were read with the one that the row has. */
static bool is_whole(struct db *db, const struct row_sum *sum, int64_t stored)
{
    if (row_sum(sum) != stored)
        return false;
    db->seen.total = sum_plus(db->seen.total, stored);
    return true;
}

static bool read_body(struct db *db, const struct db_reader *reader, sqlite3_stmt *statement,
                      struct error *err)
{
    struct row_sum sum = {0};
    int64_t row = read_int(statement, 0, &sum);
    struct span bytes = read_blob(statement, 1, &sum);

    db->seen.bodies++;
    if (!is_whole(db, &sum, sqlite3_column_int64(statement, 2)))
        return db_damaged(db, err, "the checksum of body %lld is wrong", (long long)row);
    reader->body(reader->ctx, row, bytes.at ? bytes.at : "", bytes.len);
    return true;
}

static bool read_object(struct db *db, const struct db_reader *reader, sqlite3_stmt *statement,
                        struct error *err)
{
    struct row_sum sum = {0};
    struct db_row row = {.row = read_int(statement, 0, &sum)};
    int64_t code = read_int(statement, 1, &sum);
    struct span meta, status;

    row.kind = code > 0 && (size_t)code < db->n_kinds_by_code ? db->kinds_by_code[code] : NULL;
    row.ns = read_text(statement, 2, &sum);
    row.name = read_text(statement, 3, &sum);
    row.revision = read_int(statement, 4, &sum);
    row.body = read_int(statement, 5, &sum);
    meta = read_blob(statement, 6, &sum);
    row.meta = meta.at;
    row.meta_len = meta.len;
    status = read_blob(statement, 7, &sum);
    row.status = status.at;
    row.status_len = status.len;
    row.sum = sqlite3_column_int64(statement, 8);
    db->seen.objects++;
    if (!is_whole(db, &sum, row.sum)) {
        row.damage = "its checksum is wrong";
        if (!db_damaged(db, err, "the checksum of %s %s/%s (row %lld) is wrong",
                        row.kind ? row.kind->name : "an object", row.ns, row.name,
                        (long long)row.row))
            return false;
    }
    if (status.type == SQLITE_BLOB && !status.len &&
        !db_status_loaded(db->statuses, row.row, &row.status, &row.status_len))
        row.damage = "its status is damaged or missing";
    reader->object(reader->ctx, &row);
    return true;
}

/* A range of rows, and a name prefix that their objects must have. */
struct range {
    int64_t from, to;
    const char *name; /* name that is looked for; NULL: any */
};

#define OF_NAME  "(?3 IS NULL OR name = ?3 OR (name >= ?3 || '-' AND name < ?3 || '.'))"
#define OF_RANGE "id BETWEEN ?1 AND ?2 AND " OF_NAME

static sqlite3_stmt *ask(struct db *db, const char *sql, const struct range *range,
                         struct error *err)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK) {
        db_fail(db, err, sql);
        return NULL;
    }
    sqlite3_bind_int64(statement, 1, range->from);
    sqlite3_bind_int64(statement, 2, range->to);
    if (range->name)
        sqlite3_bind_text(statement, 3, range->name, -1, SQLITE_STATIC);
    return statement;
}

static bool read_table(struct db *db, const struct db_reader *reader, const char *sql,
                       const struct range *range,
                       bool (*read)(struct db *db, const struct db_reader *reader,
                                    sqlite3_stmt *statement, struct error *err),
                       struct error *err)
{
    sqlite3_stmt *statement = ask(db, sql, range, err);
    bool ok;
    int code;

    if (!statement)
        return false;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!read(db, reader, statement, err))
            break;
    ok = db_rows_end(db, code, "reading it", err);
    sqlite3_finalize(statement);
    return ok;
}

/* Narrows the range to the rows of a name. They mostly lie side by side; one scan finds them, since
 * the names have no index. */
static bool narrow(struct db *db, struct range *range, struct error *err)
{
    sqlite3_stmt *statement =
        ask(db, "SELECT min(id), max(id) FROM objects WHERE " OF_RANGE, range, err);
    bool ok = statement && sqlite3_step(statement) == SQLITE_ROW;

    if (ok && sqlite3_column_type(statement, 0) == SQLITE_NULL)
        range->to = range->from - 1;
    else if (ok)
        *range = (struct range){sqlite3_column_int64(statement, 0),
                                sqlite3_column_int64(statement, 1), range->name};
    else if (statement)
        db_fail(db, err, "looking for a name");
    sqlite3_finalize(statement);
    return ok;
}

/* Bodies are read in full when all rows are, without a join. */
#define SELECT_BODIES "SELECT id, bytes, sum FROM bodies"
#define SELECT_OBJECTS                                                                             \
    "SELECT id, kind, namespace, name, revision, body, meta, status, sum FROM objects WHERE "

bool db_load(struct db *db, const struct db_part *part, const struct db_reader *reader,
             struct error *err)
{
    static const char all[] = SELECT_BODIES " ORDER BY id";
    static const char some[] =
        SELECT_BODIES " WHERE id IN (SELECT body FROM objects WHERE " OF_RANGE ") ORDER BY id";
    struct range range = {DB_FEW_FIRST, DB_ROW_LAST, part->name};
    bool ok;

    if (part->what == DB_FEW)
        range.to = -1;
    if (part->what == DB_NAMED)
        range.from = 0;
    ok = (part->what != DB_NAMED || narrow(db, &range, err)) &&
         read_table(db, reader, part->what == DB_ALL ? all : some, &range, read_body, err) &&
         db_statuses_load(db, range.from, range.to, err) &&
         read_table(db, reader, SELECT_OBJECTS OF_RANGE " ORDER BY id", &range, read_object, err) &&
         (part->what != DB_ALL || db_state_compare_loaded(db, err));
    db_statuses_loaded(db->statuses);
    return ok;
}

/* Replaces the checksum of a row in the total. */
static void count_sum(struct db *db, int64_t old, int64_t new)
{
    db->next.total = sum_plus(sum_minus(db->next.total, old), new);
}

static bool write_object(struct db *db, const struct batch_write *write, struct db_counts *counts)
{
    sqlite3_stmt *statement = db->statements[DO_PUT_OBJECT];
    const struct object *object = write->object;
    const struct blob *status = object->status;
    const bool apart = db_status_is_long(status);
    size_t meta_len;
    const char *meta = meta_stored(object->meta, &meta_len);
    struct row_sum sum = {0};

    row_sum_int(&sum, write->row);
    row_sum_int(&sum, db->kind_codes[object->kind->id]);
    row_sum_bytes(&sum, object_namespace(object), strlen(object_namespace(object)));
    row_sum_bytes(&sum, object_name(object), strlen(object_name(object)));
    row_sum_int(&sum, object->revision);
    row_sum_int(&sum, write->body_row);
    row_sum_bytes(&sum, meta, meta_len);
    if (status)
        row_sum_bytes(&sum, status->text, apart ? 0 : status->len);
    else
        row_sum_null(&sum);
    write->object->row_sum = row_sum(&sum);
    count_sum(db, write->old ? write->old->row_sum : 0, write->object->row_sum);
    db->next.objects += !write->old;
    sqlite3_bind_int64(statement, 9, write->object->row_sum);
    sqlite3_bind_int64(statement, 1, write->row);
    sqlite3_bind_int(statement, 2, db->kind_codes[object->kind->id]);
    sqlite3_bind_text(statement, 3, object_namespace(object), -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, object_name(object), -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, object->revision);
    sqlite3_bind_int64(statement, 6, write->body_row);
    sqlite3_bind_blob64(statement, 7, meta, meta_len, SQLITE_STATIC);
    if (status)
        sqlite3_bind_blob64(statement, 8, status->text, apart ? 0 : status->len, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, 8);
    counts->rows++;
    counts->bytes += meta_len + (status && !apart ? status->len : 0);
    return db_step(db, DO_PUT_OBJECT) && db_status_write(db, write->row, status, counts);
}

static bool delete_object(struct db *db, const struct batch_write *write, struct db_counts *counts)
{
    if (!write->old) /* created and deleted within the batch */
        return true;
    count_sum(db, write->old->row_sum, 0);
    db->next.objects--;
    sqlite3_bind_int64(db->statements[DO_DELETE_OBJECT], 1, write->row);
    counts->rows++;
    return db_step(db, DO_DELETE_OBJECT) && db_status_write(db, write->row, NULL, counts);
}

static bool write_body(struct db *db, const struct batch_body *body, struct db_counts *counts)
{
    enum statement which = body->gone ? DO_DELETE_BODY : DO_PUT_BODY;
    sqlite3_stmt *statement = db->statements[which];
    int64_t sum = row_sum_of_bytes(body->row, body->blob->text, body->blob->len);

    sqlite3_bind_int64(statement, 1, body->row);
    if (!body->gone) {
        sqlite3_bind_blob64(statement, 2, body->blob->text, body->blob->len, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 3, sum);
        counts->bytes += body->blob->len;
    }
    count_sum(db, body->gone ? sum : 0, body->gone ? 0 : sum);
    db->next.bodies += body->gone ? -1 : 1;
    counts->rows++;
    return db_step(db, which);
}

static bool write_all(struct db *db, const struct batch *batch, struct db_counts *counts)
{
    for (size_t i = 0; i < batch->n_bodies; i++)
        if (!write_body(db, &batch->bodies[i], counts))
            return false;
    for (size_t i = 0; i < batch->n_writes; i++) {
        const struct batch_write *write = &batch->writes[i];

        if (!(write->object ? write_object : delete_object)(db, write, counts))
            return false;
    }
    if (batch->revision_mark)
        db->next.revision = batch->revision_mark;
    if (batch->revision)
        db->next.newest = batch->revision;
    return db_state_put(db);
}

enum db_outcome db_commit(struct db *db, const struct batch *batch, struct db_counts *counts,
                          struct error *err)
{
    struct db_counts written = {0};
    enum db_outcome outcome;
    bool ok;

    ok = db_begin(db, err) && write_all(db, batch, &written) && db_step(db, DO_COMMIT);
    db_statuses_settle(db->statuses, ok);
    if (ok) {
        counts->rows += written.rows;
        counts->bytes += written.bytes;
        db->ready = true;
        db->trim_log |= batch->trim_log;
        return db_state_committed(db, err) ? DB_OK : DB_FAILED;
    }
    outcome = db_no_space(db) ? DB_NO_SPACE : DB_FAILED;
    db_fail(db, err, "committing");
    return db_roll_back(db) ? outcome : DB_FAILED;
}

bool db_log_is_long(const struct db *db)
{
    return db->trim_log || db->log_pages - db->log_kept >= DB_LOG_LONG;
}

bool db_log_is_full(const struct db *db)
{
    return db->log_pages - db->log_kept >= DB_LOG_FULL;
}

bool db_checkpoint(struct db *db, struct error *err)
{
    int mode = db->trim_log ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;

    if (sqlite3_wal_checkpoint_v2(db->sqlite, NULL, mode, NULL, NULL) == SQLITE_OK) {
        db->log_pages = db->log_kept = 0;
        db->trim_log = false;
        return db_state_checkpointed(db, err);
    }
    if (!db_no_space(db))
        return db_fail(db, err, "moving its log into it");
    db->log_kept = db->log_pages; /* the log keeps its content for now */
    return true;
}

void db_rest(struct db *db)
{
    sqlite3_db_release_memory(db->sqlite);
    malloc_trim(0); /* returns memory fragmented by earlier load to the system */
    rss_give_back();
}
