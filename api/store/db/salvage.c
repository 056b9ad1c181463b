/*
 * Copies whole rows from a damaged file into a new one.
 *
 * A page that SQLite cannot read hides the rows in it, and a scan ends there. The rows behind it
 * are found by halving the range of row numbers: each half is scanned from both ends towards the
 * damage.
 */
#include "api/store/db/salvage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/store/db/db.h"
#include "base/mem.h"

enum {
    LOST_MAX = 1000,   /* findings that are listed */
    SCANS_MAX = 20000, /* scans of one table; an unreadable page costs some dozens of them */
};
/* Revisions are raised by this when neither the file nor its mark says how far they were. */
#define REVISION_JUMP (INT64_C(1) << 40)

struct table_info {
    const char *name, *columns;
    int n_columns; /* number of columns without the checksum */
};
/* clang-format off */
enum { KINDS, BODIES, STATUSES, OBJECTS, TABLES };
static const struct table_info tables[] = {
    [KINDS]    = {"kinds",    "id, api_version, kind, sum", 3},
    [BODIES]   = {"bodies",   "id, bytes, sum", 2},
    [STATUSES] = {"statuses", "id, bytes, sum", 2},
    [OBJECTS]  = {"objects",  "id, kind, namespace, name, revision, body, meta, status, sum", 8},
};
/* clang-format on */

struct copier {
    struct salvage *salvage;
    const char *new_path;
    sqlite3 *from; /* NULL: nothing of the file is readable */
    struct db *to;
    sqlite3_stmt *insert;
    const struct table_info *table; /* the table that is being copied */
    int64_t n_copied[TABLES], n_broken[TABLES];
    int64_t newest; /* the highest revision of a copied object */
    int64_t total;  /* of the checksums of the copied rows */
    int scans;
};

PRINTF_LIKE(2, 3) static void lose(struct copier *copier, const char *format, ...)
{
    struct salvage *salvage = copier->salvage;
    char line[ERROR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (salvage->n_lost++ < LOST_MAX)
        buf_printf(&salvage->lost, "%s\n", line);
}

static bool fail(sqlite3 *sqlite, const char *path, struct error *err)
{
    return error_set(err, ERR_INTERNAL, "", "%s: %s", path, sqlite3_errmsg(sqlite));
}

/* Says which object a damaged row was, as far as its columns can be believed. */
static void lose_row(struct copier *copier, sqlite3_stmt *row)
{
    const char *ns, *name;

    copier->n_broken[copier->table - tables]++;
    if (copier->table !=
        &tables[OBJECTS]) /* a lost row of these is told with the objects that need it */
        return;
    ns = (const char *)sqlite3_column_text(row, 2);
    name = (const char *)sqlite3_column_text(row, 3);
    lose(copier, "%s/%s (row %lld): its checksum is wrong", ns ? ns : "", name ? name : "?",
         (long long)sqlite3_column_int64(row, 0));
}

/* Copies a row. False only when the new file cannot be written. */
static bool copy_row(struct copier *copier, sqlite3_stmt *row)
{
    struct row_sum sum = {0};
    int n = copier->table->n_columns, code;

    row_sum_columns(&sum, row, n);
    if (row_sum(&sum) != sqlite3_column_int64(row, n)) {
        lose_row(copier, row);
        return true;
    }
    for (int i = 0; i <= n; i++)
        sqlite3_bind_value(copier->insert, i + 1, sqlite3_column_value(row, i));
    code = sqlite3_step(copier->insert);
    sqlite3_reset(copier->insert);
    if (copier->table == &tables[OBJECTS] && sqlite3_column_int64(row, 4) > copier->newest)
        copier->newest = sqlite3_column_int64(row, 4);
    copier->n_copied[copier->table - tables]++;
    copier->total = sum_plus(copier->total, row_sum(&sum));
    return code == SQLITE_DONE;
}

/* Scans rows `from` to `to`, in either direction, until the end or the damage. `*out` is the last
 * row that was read. */
enum scanned { SCAN_END, SCAN_DAMAGE, SCAN_FAILED };
static enum scanned scan(struct copier *copier, int64_t from, int64_t to, bool backwards,
                         int64_t *out)
{
    scoped_str sql =
        mem_printf("SELECT %s FROM %s WHERE id BETWEEN ?1 AND ?2 ORDER BY id%s",
                   copier->table->columns, copier->table->name, backwards ? " DESC" : "");
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(copier->from, sql, -1, &rows, NULL);

    copier->scans++;
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(rows, 1, from);
        sqlite3_bind_int64(rows, 2, to);
        while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
            *out = sqlite3_column_int64(rows, 0);
            if (!copy_row(copier, rows))
                break;
        }
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? SCAN_END : code == SQLITE_ROW ? SCAN_FAILED : SCAN_DAMAGE;
}

/* Copies what is readable of rows `from` to `to`. False when the new file cannot be written. */
static bool salvage(struct copier *copier, int64_t from, int64_t to)
{
    int64_t last = from - 1, first = to + 1, middle;
    enum scanned scanned;

    if (from > to || copier->scans >= SCANS_MAX)
        return true;
    scanned = scan(copier, from, to, false, &last);
    if (scanned != SCAN_DAMAGE || last >= to)
        return scanned != SCAN_FAILED;
    if (scan(copier, last + 1, to, true, &first) == SCAN_FAILED)
        return false;
    if (first - last < 3) /* no row lies between them */
        return true;
    middle = last + (first - last) / 2;
    return salvage(copier, last + 1, middle - 1) && salvage(copier, middle, first - 1);
}

static bool copy_table(struct copier *copier, int number, struct error *err)
{
    static const char places[] = "?, ?, ?, ?, ?, ?, ?, ?, ?";
    const struct table_info *table = &tables[number];
    scoped_str sql = mem_printf("INSERT OR IGNORE INTO %s (%s) VALUES (%.*s)", table->name,
                                table->columns, 3 * table->n_columns + 1, places);
    const int64_t parts = number == STATUSES ? 256 : 1; /* rows of statuses: see schema.sql */
    bool ok;

    copier->table = table;
    copier->scans = 0;
    ok = sqlite3_prepare_v2(copier->to->sqlite, sql, -1, &copier->insert, NULL) == SQLITE_OK &&
         salvage(copier, DB_FEW_FIRST * parts, DB_ROW_LAST * parts);
    if (!ok)
        fail(copier->to->sqlite, copier->new_path, err);
    sqlite3_finalize(copier->insert);
    return ok;
}

static bool run(struct copier *copier, const char *sql, struct error *err)
{
    return sqlite3_exec(copier->to->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail(copier->to->sqlite, copier->new_path, err);
}

/* Removes the objects that miss a part, and tells each. */
static bool drop_incomplete(struct copier *copier, struct error *err)
{
    static const char bad[] =
        "SELECT id, namespace, name, CASE "
        "WHEN kind NOT IN (SELECT id FROM kinds) THEN 'its kind' "
        "WHEN body NOT IN (SELECT id FROM bodies) THEN 'its body' "
        "WHEN status IS NOT NULL AND length(status) = 0 AND ("
        "  SELECT count(*) = 0 OR count(*) <> max(s.id) - objects.id * 256 + 1 FROM statuses s "
        "  WHERE s.id BETWEEN objects.id * 256 AND objects.id * 256 + 255) THEN 'its status' "
        "END AS missing FROM objects WHERE missing IS NOT NULL";
    scoped_str drop = mem_printf("DELETE FROM objects WHERE id IN (SELECT id FROM (%s))", bad);
    sqlite3_stmt *rows = NULL;
    bool ok = sqlite3_prepare_v2(copier->to->sqlite, bad, -1, &rows, NULL) == SQLITE_OK;

    while (ok && sqlite3_step(rows) == SQLITE_ROW) {
        lose(copier, "%s/%s (row %lld): %s is damaged or missing", sqlite3_column_text(rows, 1),
             sqlite3_column_text(rows, 2), (long long)sqlite3_column_int64(rows, 0),
             sqlite3_column_text(rows, 3));
        copier->n_copied[OBJECTS]--;
    }
    sqlite3_finalize(rows);
    if (!ok)
        return fail(copier->to->sqlite, copier->new_path, err);
    return run(copier, drop, err) &&
           run(copier, "DELETE FROM bodies WHERE id NOT IN (SELECT body FROM objects)", err) &&
           run(copier,
               "DELETE FROM statuses WHERE NOT EXISTS (SELECT 1 FROM objects WHERE statuses.id "
               "BETWEEN objects.id * 256 AND objects.id * 256 + 255 AND length(status) = 0)",
               err);
}

/* Tells what left no trace: objects of which no row is readable, and commits that are lost. */
static void tell_missing(struct copier *copier)
{
    const struct db_state *state = &copier->salvage->found;
    const struct mark_content *marked = &copier->salvage->marked;
    int64_t found = copier->n_copied[OBJECTS] + copier->n_broken[OBJECTS];

    if (!copier->salvage->has_state)
        lose(copier, "the store's state: how many objects are missing cannot be known");
    else if (found < state->objects)
        lose(copier, "%lld objects of which nothing can be read",
             (long long)(state->objects - found));
    if (copier->salvage->mark_found != MARK_READ && !state->backup)
        lose(copier, "the mark: whether the last changes are missing cannot be known");
    else if (copier->salvage->has_state && state->commits < marked->commits)
        lose(copier, "%lld commits: the changes after revision %lld, up to revision %lld",
             (long long)(marked->commits - state->commits), (long long)state->newest,
             (long long)marked->newest);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Completes the new file: its state and its checksums. */
static bool finish(struct copier *copier, struct error *err)
{
    const struct db_state *state = &copier->salvage->found;
    const struct mark_content *marked = &copier->salvage->marked;
    struct salvage *salvage = copier->salvage;
    bool known = copier->salvage->has_state || copier->salvage->mark_found == MARK_READ;
    scoped_str sql = NULL;

    salvage->revision = larger(larger(state->revision, marked->revision), copier->newest + 1);
    if (!known)
        salvage->revision += REVISION_JUMP;
    salvage->kept = copier->n_copied[OBJECTS];
    sql =
        mem_printf("UPDATE state SET generation = random(), commits = %lld, newest = %lld, "
                   "revision = %lld, clean = 1, backup = 0",
                   (long long)larger(state->commits, marked->commits) + 1,
                   (long long)larger(copier->newest, state->newest), (long long)salvage->revision);
    return run(copier, sql, err) &&
           (db_sign(copier->to->sqlite) || fail(copier->to->sqlite, copier->new_path, err));
}

/* Opens a damaged file for reading, whatever it says of itself. A file that cannot be opened is one
 * without readable rows. */
static sqlite3 *open_damaged(const char *path)
{
    sqlite3 *sqlite = NULL;
    struct stat info;

    if (stat(path, &info) < 0 || info.st_size == 0)
        return NULL;
    if (sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE, NULL) ==
        SQLITE_OK) {
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_exec(sqlite, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON", NULL, NULL,
                     NULL);
        return sqlite;
    }
    sqlite3_close(sqlite);
    return NULL;
}

static bool read_state(sqlite3 *sqlite, struct db_state *out)
{
    struct db db = {.sqlite = sqlite};
    bool ok = sqlite && db_state_read_row(&db);

    if (ok)
        *out = db.state;
    return ok;
}

bool salvage_state(const char *path, struct db_state *out)
{
    sqlite3 *sqlite = open_damaged(path);
    bool ok = read_state(sqlite, out);

    sqlite3_close(sqlite);
    return ok;
}

bool salvage_is_older(const char *path)
{
    sqlite3 *sqlite = open_damaged(path);
    sqlite3_stmt *ask = NULL;
    bool older =
        sqlite && sqlite3_prepare_v2(sqlite, "SELECT value FROM meta", -1, &ask, NULL) == SQLITE_OK;

    sqlite3_finalize(ask);
    sqlite3_close(sqlite);
    return older;
}

static void compare(const struct copier *copier)
{
    struct salvage *salvage = copier->salvage;
    const struct db_state *state = &salvage->found;

    salvage->is_all = salvage->has_state && copier->n_copied[OBJECTS] == state->objects &&
                      copier->n_copied[BODIES] == state->bodies &&
                      copier->n_copied[STATUSES] == state->parts && copier->total == state->total;
}

static bool copy_all(struct copier *copier, struct error *err)
{
    bool ok = run(copier, "BEGIN IMMEDIATE", err);

    for (int i = 0; ok && copier->from && i < TABLES; i++)
        ok = copy_table(copier, i, err);
    compare(copier);
    ok = ok && drop_incomplete(copier, err);
    copier->salvage->missing = copier->salvage->found.objects - copier->n_copied[OBJECTS];
    tell_missing(copier);
    return ok && finish(copier, err) && run(copier, "COMMIT", err);
}

bool salvage_rows(const char *from, const char *to, struct salvage *out, struct error *err)
{
    struct copier copier = {.salvage = out, .new_path = to, .from = open_damaged(from)};
    bool ok = false;

    out->has_state = read_state(copier.from, &out->found);
    copier.to = db_open(to, DB_FULL, err);
    if (copier.to) {
        ok = copy_all(&copier, err);
        if (ok && db_state_read_row(copier.to))
            out->made = copier.to->state;
        sqlite3_db_config(copier.to->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        db_close(copier.to);
    }
    sqlite3_close(copier.from);
    return ok;
}

void salvage_reset(struct salvage *salvage)
{
    buf_release(&salvage->lost);
    *salvage = (struct salvage){.mark_found = salvage->mark_found, .marked = salvage->marked};
}
