/*
 * Reads and writes the two records of the mark in turn. Each has a serial number and a checksum;
 * the higher number counts.
 */
#include "api/store/db/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/collections/hash.h"
#include "base/file.h"
#include "base/mem.h"

enum { RECORDS = 2, RECORD_BYTES = 4096 };
#define SYNC_EVERY_NS INT64_C(1000000000)

/* A record as it is on disk. It fits into one sector, which disks write whole. */
struct record {
    char magic[8];
    int64_t serial;
    struct mark_content content;
    uint64_t sum;
};
static const char magic[8] = "jfmark1";

struct mark {
    char *path;
    sqlite3_file *file; /* NULL: there is no file, and none was to be created */
    enum mark_found found;
    struct record last; /* the newest record that was read or written */
    bool unsynced;
    int64_t synced_ns;
};

static uint64_t record_sum(const struct record *record)
{
    return hash_stable(record, offsetof(struct record, sum));
}

/* Reads one record. Sets `*nothing` to false when it has bytes other than zero. */
static bool read_record(struct mark *mark, int number, bool *nothing)
{
    static const struct record empty;
    struct record record = {0};
    int code = mark->file->pMethods->xRead(mark->file, &record, sizeof record,
                                           (sqlite3_int64)number * RECORD_BYTES);

    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
        return false;
    if (memcmp(&record, &empty, sizeof record) != 0)
        *nothing = false;
    if (memcmp(record.magic, magic, sizeof magic) != 0 || record.sum != record_sum(&record))
        return true;
    if (mark->found != MARK_READ || record.serial > mark->last.serial)
        mark->last = record;
    mark->found = MARK_READ;
    return true;
}

static bool read_records(struct mark *mark, struct error *err)
{
    bool nothing = true;

    for (int i = 0; i < RECORDS; i++)
        if (!read_record(mark, i, &nothing))
            return error_set(err, ERR_INTERNAL, "", "cannot read %s", mark->path);
    if (mark->found != MARK_READ)
        mark->found = nothing ? MARK_ABSENT : MARK_DAMAGED;
    return true;
}

/* Opens it as a journal of several databases, a type of file for which SQLite syncs the directory
 * with the first sync of the file. */
static bool open_file(struct mark *mark, bool read_only, struct error *err)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int flags = SQLITE_OPEN_SUPER_JOURNAL |
                (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    int there = 0;

    if (read_only && (vfs->xAccess(vfs, mark->path, SQLITE_ACCESS_EXISTS, &there) || !there))
        return true;
    if (!read_only && !file_create_private(mark->path, err))
        return false;
    mark->file = mem_alloc((size_t)vfs->szOsFile);
    if (vfs->xOpen(vfs, mark->path, mark->file, flags, NULL) == SQLITE_OK)
        return read_records(mark, err);
    mem_free(take(mark->file));
    return error_set(err, ERR_INTERNAL, "", "cannot open %s", mark->path);
}

struct mark *mark_open(const char *path, enum mark_access access, struct error *err)
{
    struct mark *mark = mem_alloc(sizeof *mark);

    mark->path = mem_strdup(path);
    mark->found = MARK_ABSENT;
    if (open_file(mark, access == MARK_READ_ONLY, err))
        return mark;
    mark_close(mark);
    return NULL;
}

void mark_close(struct mark *mark)
{
    if (!mark)
        return;
    if (mark->file && mark->file->pMethods)
        mark->file->pMethods->xClose(mark->file);
    mem_free(mark->file);
    mem_free(mark->path);
    mem_free(mark);
}

enum mark_found mark_read(const struct mark *mark, struct mark_content *out)
{
    if (mark->found == MARK_READ)
        *out = mark->last.content;
    return mark->found;
}

enum mark_result mark_write(struct mark *mark, const struct mark_content *content,
                            struct error *err)
{
    struct record next = {.serial = mark->last.serial + 1, .content = *content};
    int code;

    memcpy(next.magic, magic, sizeof magic);
    next.sum = record_sum(&next);
    code = mark->file->pMethods->xWrite(mark->file, &next, sizeof next,
                                        next.serial % RECORDS * RECORD_BYTES);
    if (code != SQLITE_OK) {
        error_set(err, (code & 0xff) == SQLITE_FULL ? ERR_STORAGE : ERR_INTERNAL, "",
                  "cannot write %s", mark->path);
        return (code & 0xff) == SQLITE_FULL ? MARK_NO_SPACE : MARK_FAILED;
    }
    mark->last = next;
    mark->unsynced = true;
    return MARK_OK;
}

bool mark_sync(struct mark *mark, struct error *err)
{
    if (!mark->unsynced)
        return true;
    if (mark->file->pMethods->xSync(mark->file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) !=
        SQLITE_OK)
        return error_set(err, ERR_INTERNAL, "", "cannot sync %s", mark->path);
    mark->unsynced = false;
    mark->synced_ns = clock_mono_ns(clock_real());
    return true;
}

bool mark_is_unsynced(const struct mark *mark)
{
    return mark->unsynced;
}

bool mark_is_due(const struct mark *mark)
{
    return mark->unsynced && clock_mono_ns(clock_real()) - mark->synced_ns >= SYNC_EVERY_NS;
}
