/*
 * Opens and closes the SQLite file: checks the settings, migrates the schema, and maps kinds to
 * their numbers in the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/store/db/internal.h"
#include "base/file.h"
#include "base/mem.h"

#define MIGRATION(...) #__VA_ARGS__,
static const char *const migrations[] = {
#include "api/store/db/schema.sql"
};
#undef MIGRATION

enum {
    APPLICATION_ID = 0x6a666c77,  /* the letters "jflw", by which SQLite files of jobflow are
                                   * known */
    BUSY_MS = 2000,               /* another process may be reading the file while it is opened */
    QUICK_CHECK_PAGES = 16 << 10, /* 64 MiB: only `doctor` checks larger files */
    PATH_SHOWN = 512,
};

#define STATEMENT_SQL(name, sql) sql,
static const char *const statement_sql[] = {STATEMENTS(STATEMENT_SQL)};
#undef STATEMENT_SQL

static bool damaged(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

bool db_fail(struct db *db, struct error *err, const char *doing)
{
    int code = db->sqlite ? sqlite3_extended_errcode(db->sqlite) : SQLITE_NOMEM;
    const char *text = db->sqlite ? sqlite3_errmsg(db->sqlite) : "out of memory";

    if (damaged(code)) {
        scoped_str finding = mem_printf("%s while %s", text, doing);

        return db_damage_error(db->path, finding, err);
    }
    if ((code & 0xff) == SQLITE_BUSY)
        return error_set(err, ERR_CONFLICT, "", "%s is in use by another process", db->path);
    return error_set(err, ERR_INTERNAL, "", "%s: %s while %s", db->path, text, doing);
}

bool db_no_space(const struct db *db)
{
    int code = sqlite3_extended_errcode(db->sqlite), reason = sqlite3_system_errno(db->sqlite);

    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR && (reason == ENOSPC || reason == EDQUOT));
}

bool db_rows_end(struct db *db, int code, const char *doing, struct error *err)
{
    if (code == SQLITE_DONE || code == SQLITE_ROW)
        return code == SQLITE_DONE;
    if (db->lenient && damaged(code))
        return db_damaged(db, err, "%s while %s", sqlite3_errmsg(db->sqlite), doing);
    return db_fail(db, err, doing);
}

static bool run(struct db *db, const char *sql, struct error *err)
{
    return sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK || db_fail(db, err, sql);
}

/* Returns the first column of the first row in `out`. */
static bool ask_text(struct db *db, const char *sql, char *out, size_t size, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;

    if (ok) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        size_t len = text ? strnlen(text, size - 1) : 0;

        if (len)
            memcpy(out, text, len);
        out[len] = '\0';
    } else {
        db_fail(db, err, sql);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool ask_int(struct db *db, const char *sql, int64_t *out, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;

    if (ok)
        *out = sqlite3_column_int64(statement, 0);
    else
        db_fail(db, err, sql);
    sqlite3_finalize(statement);
    return ok;
}

/* One pragma: the value to set, and the value that reading it back must give (NULL: not checked).
 */
struct setting {
    const char *set, *ask, *want;
};

/* clang-format off */
static const struct setting settings[] = {
    {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA locking_mode", "exclusive"},
    {"PRAGMA trusted_schema = OFF",     "PRAGMA trusted_schema", "0"},
    {"PRAGMA cell_size_check = ON"},
    {"PRAGMA temp_store = MEMORY"},
    {"PRAGMA cache_size = -4096"},
    {"PRAGMA foreign_keys = ON",        "PRAGMA foreign_keys", "1"},
    {0},
};
static const struct setting settings_write[] = {
    {"PRAGMA journal_mode = WAL",       "PRAGMA journal_mode", "wal"},
    {"PRAGMA secure_delete = FAST"},
    {"PRAGMA wal_autocheckpoint = 0",   "PRAGMA wal_autocheckpoint", "0"},
    {0},
};
static const struct setting settings_full[] = {
    {"PRAGMA synchronous = FULL",       "PRAGMA synchronous", "2"},
    {0},
};
static const struct setting settings_normal[] = {
    {"PRAGMA synchronous = NORMAL",     "PRAGMA synchronous", "1"},
    {0},
};
/* clang-format on */

static bool apply(struct db *db, const struct setting *rows, struct error *err)
{
    for (const struct setting *row = rows; row->set; row++) {
        char got[32];

        if (!run(db, row->set, err))
            return false;
        if (!row->ask)
            continue;
        if (!ask_text(db, row->ask, got, sizeof got, err))
            return false;
        if (strcmp(got, row->want) != 0)
            return error_set(err, ERR_STORAGE, "",
                             "%s: \"%s\" answers %s instead of %s; the file system cannot hold a "
                             "store (is it a network share?)",
                             db->path, row->ask, got, row->want);
    }
    return true;
}

/* Whether the file has the table `state`, which came with the last migration. */
static bool has_state(struct db *db)
{
    int64_t n = 0;

    return ask_int(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'state'", &n, NULL) && n;
}

static int count_log_pages(void *arg, sqlite3 *sqlite, const char *name, int pages)
{
    struct db *db = arg;

    db->log_pages = pages;
    return SQLITE_OK;
}

/* Checks a small file for damage when the last process did not close it (D-07). */
static bool quick_check(struct db *db, struct error *err)
{
    char answer[ERROR_MESSAGE_MAX / 2];
    int64_t pages;

    if (!ask_int(db, "PRAGMA page_count", &pages, err))
        return false;
    if (pages > QUICK_CHECK_PAGES)
        return true;
    if (!ask_text(db, "PRAGMA quick_check(1)", answer, sizeof answer, err))
        return false;
    return strcmp(answer, "ok") == 0 || db_damaged(db, err, "%s", answer);
}

static bool migrate(struct db *db, struct error *err)
{
    const int64_t known = countof(migrations);
    int64_t version, application;
    char sql[96];

    if (!ask_int(db, "PRAGMA user_version", &version, err) ||
        !ask_int(db, "PRAGMA application_id", &application, err))
        return false;
    if (version != 0 && application != APPLICATION_ID)
        return error_set(err, ERR_STORAGE, "",
                         "%s is a database of another program; name another data directory",
                         db->path);
    if (version > known)
        return error_set(err, ERR_STORAGE, "",
                         "%s has schema version %lld, this program knows up to %lld; use the "
                         "newer program that wrote it",
                         db->path, (long long)version, (long long)known);
    if (version == known)
        return true;
    if (sqlite3_db_readonly(db->sqlite, "main"))
        return error_set(err, ERR_STORAGE, "",
                         "%s has schema version %lld and must be brought to %lld; look at it once "
                         "as its owner",
                         db->path, (long long)version, (long long)known);
    if (version == 0 && db->mark_found == MARK_READ && db->marked.commits > 0)
        return db_damage_error(db->path,
                               "all of its commits are lost (the log store.db-wal is missing, cut "
                               "or damaged)",
                               err);
    if (has_state(db) || (db->mark_found == MARK_READ && db->marked.commits > 0))
        return db_damage_error(db->path, "it has the number of an older schema", err);
    if (version > 0 && !quick_check(db, err))
        return false;
    if (!db_state_first_mark(db, err) || !run(db, "BEGIN IMMEDIATE", err))
        return false;
    for (int64_t at = version; at < known; at++)
        if (!run(db, migrations[at], err))
            return false;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d; PRAGMA application_id = %d", (int)known,
             APPLICATION_ID);
    return (db_sign(db->sqlite) || db_fail(db, err, "computing checksums")) && run(db, sql, err) &&
           run(db, "COMMIT", err);
}

static bool prepare_statements(struct db *db, struct error *err)
{
    for (size_t i = 0; i < STATEMENT_N; i++)
        if (sqlite3_prepare_v3(db->sqlite, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &db->statements[i], NULL) != SQLITE_OK)
            return db_fail(db, err, statement_sql[i]);
    return true;
}

/* Runs a statement that returns no rows. */
bool db_step(struct db *db, enum statement which)
{
    int code = sqlite3_step(db->statements[which]);

    sqlite3_reset(db->statements[which]);
    return code == SQLITE_DONE;
}

static void kind_code_set(struct db *db, size_t code, const struct kind *kind)
{
    enum { CODES_MAX = 1 << 16 };

    if (code >= CODES_MAX) /* outside the valid range: its objects count as of an unknown kind */
        return;
    if (code >= db->n_kinds_by_code) {
        size_t count = code + 1;

        db->kinds_by_code = mem_resize(db->kinds_by_code, count * sizeof *db->kinds_by_code);
        while (db->n_kinds_by_code < count)
            db->kinds_by_code[db->n_kinds_by_code++] = NULL;
    }
    db->kinds_by_code[code] = kind;
    db->kind_codes[kind->id] = (int)code;
}

static bool load_kinds(struct db *db, struct error *err)
{
    static const char sql[] = "SELECT id, api_version, kind, sum FROM kinds";
    sqlite3_stmt *statement = NULL;
    bool ok;
    int code;

    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        return db_fail(db, err, sql);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *api_version = (const char *)sqlite3_column_text(statement, 1);
        const char *name = (const char *)sqlite3_column_text(statement, 2);
        const struct kind *kind = api_version && name ? kind_by_gvk(api_version, name) : NULL;
        int64_t id = sqlite3_column_int64(statement, 0);
        struct row_sum sum = {0};

        row_sum_columns(&sum, statement, 3);
        if (row_sum(&sum) != sqlite3_column_int64(statement, 3)) {
            if (!db_damaged(db, err, "the checksum of kind %lld is wrong", (long long)id))
                break;
            continue;
        }
        db->seen.total = sum_plus(db->seen.total, row_sum(&sum));
        if (kind && id > 0)
            kind_code_set(db, (size_t)id, kind);
    }
    ok = db_rows_end(db, code, sql, err);
    sqlite3_finalize(statement);
    return ok;
}

/* Assigns numbers to the kinds that the file does not know yet. Part of a transaction. */
static bool add_kinds(struct db *db, struct error *err)
{
    static const char sql[] = "INSERT INTO kinds (id, api_version, kind, sum) VALUES (?, ?, ?, ?)";
    int64_t last = 0;
    sqlite3_stmt *statement = NULL;
    bool ok = true;

    if (!ask_int(db, "SELECT coalesce(max(id), 0) FROM kinds", &last, err))
        return false;
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        return db_fail(db, err, sql);
    for (size_t id = 0; ok && id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        const char *api_version = kind_api_version(kind);
        struct row_sum sum = {0};

        if (db->kind_codes[id])
            continue;
        row_sum_int(&sum, ++last);
        row_sum_bytes(&sum, api_version, strlen(api_version));
        row_sum_bytes(&sum, kind->name, strlen(kind->name));
        sqlite3_bind_int64(statement, 1, last);
        sqlite3_bind_text(statement, 2, api_version, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, 3, kind->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 4, row_sum(&sum));
        ok = sqlite3_step(statement) == SQLITE_DONE || db_fail(db, err, sql);
        sqlite3_reset(statement);
        if (ok)
            kind_code_set(db, (size_t)last, kind);
        db->next.total = sum_plus(db->next.total, row_sum(&sum));
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool exists(const char *path, struct error *err)
{
    return access(path, F_OK) == 0 ||
           error_set(err, ERR_NOT_FOUND, "", "there is no store at %s", path);
}

/* Sets SQLite's defences, so that opening a file prepared by an attacker executes nothing (SEC-39).
 */
static bool defend(struct db *db, struct error *err)
{
    static const struct {
        int option, value;
        const char *name;
    } rows[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1, "defensive"},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, "trusted schema"},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, "extensions"},
        {SQLITE_DBCONFIG_DQS_DML, 0, "strings in double quotes"},
        {SQLITE_DBCONFIG_DQS_DDL, 0, "strings in double quotes"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        int is = -1;

        if (sqlite3_db_config(db->sqlite, rows[i].option, rows[i].value, &is) != SQLITE_OK ||
            is != rows[i].value)
            return error_set(err, ERR_STORAGE, "",
                             "SQLite %s cannot be set up safely: \"%s\" stays %d",
                             sqlite3_libversion(), rows[i].name, is);
    }
    return true;
}

static bool open_file(struct db *db, struct error *err)
{
    bool unlocked = db->mode == DB_LOOK_UNLOCKED;
    int flags = (unlocked ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;

    /* The file is created before SQLite opens it, because SQLite gives the log the mode of the file. */
    if (!db_state_before(db, err) ||
        (db->read_only ? !exists(db->path, err) : !file_create_private(db->path, err)))
        return false;
    if (sqlite3_open_v2(db->path, &db->sqlite, flags, unlocked ? "unix-none" : NULL) != SQLITE_OK)
        return db_fail(db, err, "opening it");
    sqlite3_busy_timeout(db->sqlite, BUSY_MS);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return defend(db, err);
}

/* Prepares a read-only connection. Exclusive locking keeps the index of the write-ahead log in
 * memory, so reading changes nothing on disk, except to migrate an older schema. */
static bool set_up_look(struct db *db, struct error *err)
{
    return apply(db, settings, err) && migrate(db, err) && run(db, "PRAGMA query_only = ON", err);
}

static bool set_up(struct db *db, struct error *err)
{
    if (!apply(db, settings, err) || !apply(db, settings_write, err) ||
        !apply(db, db->mode == DB_NORMAL ? settings_normal : settings_full, err))
        return false;
    sqlite3_wal_hook(db->sqlite, count_log_pages, db);
    return migrate(db, err);
}

struct db *db_open(const char *path, enum db_mode mode, struct error *err)
{
    struct db *db = mem_alloc(sizeof *db);

    db->path = mem_strdup(path);
    db->mode = mode;
    db->lenient = mode == DB_DAMAGED;
    db->read_only = mode == DB_LOOK || mode == DB_LOOK_UNLOCKED || db->lenient;
    db->statuses = db_statuses_new();
    if (open_file(db, err) && (db->read_only ? set_up_look(db, err) : set_up(db, err)) &&
        db_state_read(db, err) && (db->read_only || prepare_statements(db, err)) &&
        load_kinds(db, err) && (db->state.clean || quick_check(db, err)))
        return db;
    db_close(db);
    return NULL;
}

/* Sets whether closing the file moves the log into it. A file that may be damaged is left as it is.
 */
static void keep_log_on_close(struct db *db, bool keep)
{
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, NULL);
}

void db_keep_log(struct db *db)
{
    keep_log_on_close(db, true);
}

bool db_begin(struct db *db, struct error *err)
{
    memcpy(db->known_codes, db->kind_codes, sizeof db->known_codes);
    db->next = db->state;
    db->next.clean = 0;
    db->next.backup = 0;
    db->next.commits++;
    return db_step(db, DO_BEGIN) && (db->ready || add_kinds(db, err));
}

bool db_roll_back(struct db *db)
{
    memcpy(db->kind_codes, db->known_codes, sizeof db->kind_codes);
    return sqlite3_get_autocommit(db->sqlite) || db_step(db, DO_ROLLBACK);
}

enum db_outcome db_note(struct db *db, int64_t revision_mark, enum db_life life, struct error *err)
{
    enum db_outcome outcome;
    bool ok;

    keep_log_on_close(db, false);
    ok = db_begin(db, err);
    db->next.revision = revision_mark;
    db->next.clean = life == DB_CLOSED;
    ok = ok && db_state_put(db) && db_step(db, DO_COMMIT);
    if (ok) {
        db->ready = true;
        return db_state_committed(db, err) && (life == DB_IN_USE || db_mark_sync(db, err))
                   ? DB_OK
                   : DB_FAILED;
    }
    outcome = db_no_space(db) ? DB_NO_SPACE : DB_FAILED;
    db_fail(db, err, "noting its state");
    return db_roll_back(db) ? outcome : DB_FAILED;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    for (size_t i = 0; i < STATEMENT_N; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->sqlite);
    mark_close(db->mark);
    buf_release(&db->damage);
    db_statuses_free(db->statuses);
    mem_free(db->kinds_by_code);
    mem_free(db->path);
    mem_free(db);
}
