/*
 * Copies a database with SQLite's backup interface, a bounded number of pages per step, so that
 * commits can run between steps.
 */
#include "api/store/db/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/store/db/internal.h"
#include "base/mem.h"

enum { PAGES_A_STEP = 1024 };

struct db_copy {
    sqlite3 *to;
    sqlite3_backup *backup;
    char *path;
    bool done;
};

static bool fail(const struct db_copy *copy, struct error *err)
{
    int code = sqlite3_errcode(copy->to);

    return error_set(err, (code & 0xff) == SQLITE_FULL ? ERR_STORAGE : ERR_INTERNAL, "",
                     "cannot copy the store to %s: %s", copy->path, sqlite3_errmsg(copy->to));
}

static bool make_file(const char *path, struct error *err)
{
    scoped_str log = mem_printf("%s-wal", path);
    int fd;

    unlink(log); /* a crash may have left the log of an unfinished copy */
    if (unlink(path) < 0 && errno != ENOENT)
        return error_errno(err, errno, "cannot replace %s", path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno, "cannot create %s", path);
    close(fd);
    return true;
}

struct db_copy *db_copy_start(struct db *db, const char *path, struct error *err)
{
    struct db_copy *copy;

    if (!make_file(path, err))
        return NULL;
    copy = mem_alloc(sizeof *copy);
    copy->path = mem_strdup(path);
    if (sqlite3_open_v2(path, &copy->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
        SQLITE_OK)
        copy->backup = sqlite3_backup_init(copy->to, "main", db->sqlite, "main");
    if (copy->backup)
        return copy;
    fail(copy, err);
    db_copy_end(copy);
    return NULL;
}

/* Marks the copy as a backup, which may be older than the mark of the store in whose place it is
 * put (state.c). It becomes a single file, without a log beside it. */
static bool mark_as_backup(struct db_copy *copy)
{
    static const char sql[] = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; "
                              "UPDATE state SET backup = 1, clean = 1";

    return sqlite3_exec(copy->to, sql, NULL, NULL, NULL) == SQLITE_OK && db_sign_state(copy->to);
}

enum db_copy_state db_copy_step(struct db_copy *copy, struct error *err)
{
    int result = sqlite3_backup_step(copy->backup, PAGES_A_STEP);

    if (result == SQLITE_OK)
        return DB_COPY_MORE;
    if (result == SQLITE_DONE) {
        copy->done = sqlite3_backup_finish(copy->backup) == SQLITE_OK && mark_as_backup(copy);
        copy->backup = NULL;
    }
    if (copy->done)
        return DB_COPY_DONE;
    fail(copy, err);
    return DB_COPY_FAILED;
}

void db_copy_end(struct db_copy *copy)
{
    if (!copy)
        return;
    if (copy->backup)
        sqlite3_backup_finish(copy->backup);
    sqlite3_close(copy->to);
    if (!copy->done)
        unlink(copy->path);
    mem_free(copy->path);
    mem_free(copy);
}
