/*
 * The state of a store: one row in the database, and its mark beside it. Whatever they say must
 * agree with the rows that are there; what does not is damage (D-07, DC-28).
 *
 *   store file, log      mark            what it means
 *   commit 7             commit 7        whole
 *   commit 8             commit 7        whole: the mark may lag behind
 *   commit 5             commit 7        the commits 6 and 7 are lost: damage
 *   commit 5             none            the mark is lost: what is missing cannot be known
 *   none                 commit 0        a store that was never used
 *   none                 commit 7        the store file is lost
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/store/db/internal.h"
#include "base/file.h"
#include "base/mem.h"

enum {
    FINDINGS_MAX = 1000, /* findings that a lenient connection keeps */
    PATH_MAX_BYTES = 4096,
    STATE_COLUMNS = 12, /* number of columns without the checksum */
};

/* Returns the path of the newest backup that was made by itself, from a note beside the store. NULL
 * when there is none. */
static char *newest_backup(const char *directory)
{
    scoped_str note = mem_printf("%s/last-backup", directory);
    scoped(buf) struct buf text = {0};

    if (!file_read(note, PATH_MAX_BYTES, &text, NULL) || !text.len)
        return NULL;
    text.data[strcspn(text.data, "\n")] = '\0';
    return *text.data ? mem_strdup(text.data) : NULL;
}

bool db_damage_error(const char *path, const char *finding, struct error *err)
{
    const char *slash = strrchr(path, '/');
    scoped_str directory = slash ? mem_strdup(path) : mem_strdup(".");
    scoped_str backup = NULL;

    if (slash)
        directory[slash - path] = '\0';
    backup = newest_backup(directory);
    if (backup)
        return error_set(err, ERR_STORAGE, "",
                         "%s is damaged: %s; nothing was changed. \"jobflow repair --data-dir %s\" "
                         "saves what is whole, with \"--from %s\" it restores the newest backup, "
                         "and \"jobflow serve --serve-damaged\" serves the rest for reading",
                         path, finding, directory, (const char *)backup);
    return error_set(err, ERR_STORAGE, "",
                     "%s is damaged: %s; nothing was changed. \"jobflow repair --data-dir %s\" "
                     "saves what is whole, with \"--from FILE\" it restores a backup (none is "
                     "known here), and \"jobflow serve --serve-damaged\" serves the rest for "
                     "reading",
                     path, finding, directory);
}

bool db_damaged(struct db *db, struct error *err, const char *format, ...)
{
    char finding[ERROR_MESSAGE_MAX / 2];
    va_list args;

    va_start(args, format);
    vsnprintf(finding, sizeof finding, format, args);
    va_end(args);
    if (!db->lenient)
        return db_damage_error(db->path, finding, err);
    if (db->n_damages++ < FINDINGS_MAX)
        buf_printf(&db->damage, "%s\n", finding);
    return true;
}

const char *db_damage(const struct db *db)
{
    return db->damage.len ? db->damage.data : "";
}

/* Returns the size of a file as SQLite's VFS sees it; 0 for a missing one. */
static int64_t size_of(const char *path)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_file *file;
    sqlite3_int64 size = 0;
    int there = 0;

    if (vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &there) != SQLITE_OK || !there)
        return 0;
    file = mem_alloc((size_t)vfs->szOsFile);
    if (vfs->xOpen(vfs, path, file, SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_READONLY, NULL) ==
        SQLITE_OK) {
        if (file->pMethods->xFileSize(file, &size) != SQLITE_OK)
            size = 0;
        file->pMethods->xClose(file);
    }
    mem_free(file);
    return size;
}

bool db_state_before(struct db *db, struct error *err)
{
    scoped_str path = mem_printf("%s-mark", db->path);
    scoped_str log = mem_printf("%s-wal", db->path);

    db->mark = mark_open(path, db->read_only ? MARK_READ_ONLY : MARK_WRITE, err);
    if (!db->mark)
        return false;
    db->mark_found = mark_read(db->mark, &db->marked);
    if (size_of(db->path) > 0)
        return true;
    if (db->mark_found == MARK_READ && db->marked.commits > 0)
        return db_damage_error(db->path,
                               "the file is missing or empty, and its mark says that it "
                               "was in use",
                               err);
    if (db->mark_found == MARK_DAMAGED || size_of(log) > 0)
        return db_damage_error(
            db->path, "the file is missing or empty, and other files of it are there", err);
    return true;
}

#define STATE_VALUE(name)  state->name,
#define STATE_PLACE(name)  &state->name,
#define STATE_COLUMN(name) #name ", "

static int64_t sum_of_state(const struct db_state *state)
{
    const int64_t values[] = {1, DB_STATE(STATE_VALUE)};
    struct row_sum sum = {0};

    for (size_t i = 0; i < countof(values); i++)
        row_sum_int(&sum, values[i]);
    return row_sum(&sum);
}

static void fill(struct db_state *state, sqlite3_stmt *statement)
{
    int64_t *const places[] = {DB_STATE(STATE_PLACE)};

    for (size_t i = 0; i < countof(places); i++)
        *places[i] = sqlite3_column_int64(statement, (int)i + 1);
}

bool db_state_read_row(struct db *db)
{
    static const char sql[] = "SELECT id, " DB_STATE(STATE_COLUMN) "sum FROM state";
    struct row_sum sum = {0};
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;

    if (ok) {
        row_sum_columns(&sum, statement, STATE_COLUMNS);
        ok = row_sum(&sum) == sqlite3_column_int64(statement, STATE_COLUMNS);
    }
    if (ok)
        fill(&db->state, statement);
    sqlite3_finalize(statement);
    return ok;
}

/* How far the store was, as its mark says. A backup that was put in place of the store is older
 * than the mark, or another store's; that is intended. */
static bool compare_with_mark(struct db *db, struct error *err)
{
    const struct mark_content *marked = &db->marked;
    const struct db_state *state = &db->state;

    if (state->backup)
        return true;
    if (db->mark_found == MARK_ABSENT)
        return db_damaged(db, err,
                          "%s-mark is missing, so changes could be missing and nothing would tell",
                          db->path);
    if (db->mark_found == MARK_DAMAGED)
        return db_damaged(db, err,
                          "%s-mark is damaged, so changes could be missing and nothing would tell",
                          db->path);
    if (marked->generation && marked->generation != state->generation)
        return db_damaged(db, err, "it is not the store that its mark was made for");
    if (state->commits < marked->commits)
        return db_damaged(db, err,
                          "the last %lld of its commits are lost: those after revision %lld, up to "
                          "revision %lld (the log store.db-wal is missing, cut or damaged)",
                          (long long)(marked->commits - state->commits), (long long)state->newest,
                          (long long)marked->newest);
    return true;
}

bool db_state_read(struct db *db, struct error *err)
{
    int code;

    if (!db_state_read_row(db)) {
        code = sqlite3_errcode(db->sqlite) & 0xff;
        if (code == SQLITE_IOERR || code == SQLITE_BUSY || code == SQLITE_NOMEM)
            return db_fail(db, err, "reading its state");
        if (!db_damaged(db, err, "its state cannot be read"))
            return false;
    }
    if (!compare_with_mark(db, err))
        return false;
    db->next = db->state;
    db->checked = db->state.checked == db->state.total && !db->lenient;
    return true;
}

bool db_is_checked(const struct db *db)
{
    return db->checked;
}

void db_set_checked(struct db *db)
{
    db->checked = true;
}

int64_t db_revision_mark(const struct db *db)
{
    int64_t marked = db->mark_found == MARK_READ ? db->marked.revision : 0;

    return db->state.revision > marked ? db->state.revision : marked;
}

bool db_state_first_mark(struct db *db, struct error *err)
{
    if (db->mark_found == MARK_READ)
        return true;
    if (db->read_only) { /* it was opened for reading; a look migrates an older file all the same */
        scoped_str path = mem_printf("%s-mark", db->path);

        mark_close(db->mark);
        db->mark = mark_open(path, MARK_WRITE, err);
        if (!db->mark)
            return false;
    }
    db->mark_found = MARK_READ;
    return mark_write(db->mark, &db->marked, err) == MARK_OK && mark_sync(db->mark, err);
}

bool db_state_put(struct db *db)
{
    sqlite3_stmt *statement = db->statements[DO_PUT_STATE];
    struct db_state *state = &db->next;
    const int64_t *const places[] = {DB_STATE(STATE_PLACE)};

    if (db->checked)
        state->checked = state->total;
    for (size_t i = 0; i < countof(places); i++)
        sqlite3_bind_int64(statement, (int)i + 1, *places[i]);
    sqlite3_bind_int64(statement, STATE_COLUMNS, sum_of_state(state));
    return db_step(db, DO_PUT_STATE);
}

static bool mark_now(struct db *db, struct error *err)
{
    const struct db_state *state = &db->state;
    const struct mark_content content = {.generation = state->generation,
                                         .commits = state->commits,
                                         .newest = state->newest,
                                         .revision = state->revision,
                                         .clean = state->clean};

    /* A disk without room for the mark leaves an older mark, which is true as well. */
    return mark_write(db->mark, &content, err) != MARK_FAILED;
}

bool db_state_committed(struct db *db, struct error *err)
{
    db->state = db->next;
    /* A commit that was not synced may get lost with the power: db_checkpoint marks it. */
    return db->mode == DB_NORMAL || mark_now(db, err);
}

bool db_state_checkpointed(struct db *db, struct error *err)
{
    return db->mode != DB_NORMAL || mark_now(db, err);
}

bool db_mark_is_unsynced(const struct db *db)
{
    return mark_is_unsynced(db->mark);
}

bool db_mark_is_due(const struct db *db)
{
    return mark_is_due(db->mark);
}

bool db_mark_sync(struct db *db, struct error *err)
{
    return mark_sync(db->mark, err);
}

bool db_state_compare_loaded(struct db *db, struct error *err)
{
    const struct db_state *seen = &db->seen, *state = &db->state;

    if (seen->objects < state->objects)
        return db_damaged(db, err, "%lld of %lld objects are missing",
                          (long long)(state->objects - seen->objects), (long long)state->objects);
    if (seen->bodies < state->bodies || seen->parts < state->parts)
        return db_damaged(db, err, "%lld rows of bodies and statuses are missing",
                          (long long)(state->bodies - seen->bodies + state->parts - seen->parts));
    if (seen->total != state->total)
        return db_damaged(db, err, "some rows are of an earlier time or do not belong to it");
    return true;
}
