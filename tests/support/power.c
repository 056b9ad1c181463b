#include "tests/support/power.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/dice.h"
#include "tests/support/vfs.h"

enum { FILES_MAX = 8, KEPT_MAX = 2, SECTOR = 512 };

struct image {
    uint8_t *bytes; /* content of the file, [capacity] bytes */
    size_t len, capacity;
};

struct entry {
    char *path; /* path of the file; NULL: this entry is unused */
    struct image synced, now;
    bool *dirty; /* [capacity / SECTOR]: which sectors of `now` are unsynced */
    size_t cut;  /* the shortest length that the file was truncated to since its last sync */
};

/* An open file as SQLite sees it: the methods first, then the entry of the file. */
struct power_file {
    sqlite3_file base;
    struct entry *entry;
};

static struct entry live[FILES_MAX], kept[KEPT_MAX][FILES_MAX];
static int n_kept;
static atomic_int operations, countdown;
static atomic_bool off;
static atomic_int until_full; /* writes until the disk is full; 0 = it never is, -1 = it is full */
static sqlite3_vfs *system_vfs;
static sqlite3_vfs our_vfs;

/* Grows the buffer of a file's content. */

static void image_reserve(struct image *image, size_t len)
{
    size_t capacity = image->capacity ? image->capacity : (size_t)SECTOR * 16;

    while (capacity < len)
        capacity *= 2;
    if (capacity == image->capacity)
        return;
    image->bytes = mem_resize(image->bytes, capacity);
    memset(image->bytes + image->capacity, 0, capacity - image->capacity);
    image->capacity = capacity;
}

static void image_copy(struct image *to, const struct image *from)
{
    image_reserve(to, from->len);
    memset(to->bytes, 0, to->capacity);
    if (from->len)
        memcpy(to->bytes, from->bytes, from->len);
    to->len = from->len;
}

static void entry_release(struct entry *entry)
{
    mem_free(entry->path);
    mem_free(entry->synced.bytes);
    mem_free(entry->now.bytes);
    mem_free(entry->dirty);
    memset(entry, 0, sizeof *entry);
}

static void entry_reserve(struct entry *entry, size_t len)
{
    size_t before = entry->now.capacity / SECTOR;

    image_reserve(&entry->now, len);
    if (entry->now.capacity / SECTOR == before)
        return;
    entry->dirty = mem_resize(entry->dirty, entry->now.capacity / SECTOR * sizeof *entry->dirty);
    memset(entry->dirty + before, 0,
           (entry->now.capacity / SECTOR - before) * sizeof *entry->dirty);
}

/* Copies the dirty sectors only: a long log is synced often. */
static void entry_sync(struct entry *entry)
{
    image_reserve(&entry->synced, entry->now.capacity);
    for (size_t s = 0; s < entry->now.capacity / SECTOR; s++) {
        if (!entry->dirty[s])
            continue;
        memcpy(entry->synced.bytes + s * SECTOR, entry->now.bytes + s * SECTOR, SECTOR);
        entry->dirty[s] = false;
    }
    entry->synced.len = entry->now.len;
    entry->cut = SIZE_MAX;
}

static struct entry *find(struct entry *entries, const char *path)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (entries[i].path && strcmp(entries[i].path, path) == 0)
            return &entries[i];
    return NULL;
}

static struct entry *make(struct entry *entries, const char *path)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (!entries[i].path) {
            entries[i].path = mem_strdup(path);
            entries[i].cut = SIZE_MAX;
            entry_reserve(&entries[i], SECTOR);
            return &entries[i];
        }
    assert(!"too many files");
    return NULL;
}

static bool has_power(void)
{
    atomic_fetch_add(&operations, 1);
    if (atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1)
        atomic_store(&off, true);
    return !atomic_load(&off);
}

void power_cut_after(int n)
{
    atomic_store(&operations, 0);
    atomic_store(&countdown, n);
}

bool power_is_off(void)
{
    return atomic_load(&off);
}

int power_operations(void)
{
    return atomic_load(&operations);
}

static void copy_entry(struct entry *to, const struct entry *from)
{
    image_copy(&to->synced, &from->synced);
    entry_reserve(to, from->now.capacity);
    image_copy(&to->now, &from->now);
    to->cut = from->cut;
    memcpy(to->dirty, from->dirty, from->now.capacity / SECTOR * sizeof *from->dirty);
}

static void release_all(struct entry *entries)
{
    for (int i = 0; i < FILES_MAX; i++)
        entry_release(&entries[i]);
}

void power_keep(void)
{
    int at = n_kept++;

    assert(at < KEPT_MAX);
    for (int i = 0; i < FILES_MAX; i++)
        if (live[i].path)
            copy_entry(make(kept[at], live[i].path), &live[i]);
}

void power_return(void)
{
    assert(n_kept > 0);
    release_all(kept[--n_kept]);
}

/* Chooses whether an unsynced truncation took place. A file system frees the blocks of a file and
 * never writes zeros into them: either the file is as it was synced, without a write that came after
 * the truncation, or what was behind the new end is gone. */
static bool is_truncated(struct entry *entry, struct dice *dice)
{
    if (dice_chance(dice, 50))
        return false;
    memset(entry->synced.bytes + entry->cut, 0, entry->synced.capacity - entry->cut);
    entry->synced.len = entry->cut;
    return true;
}

/* Chooses one of the possible contents of a file after a power failure. */
static void settle(struct entry *entry, const struct entry *from, struct dice *dice)
{
    bool longer = dice_chance(dice, 50), current = true;

    copy_entry(entry, from);
    image_reserve(&entry->synced, entry->now.capacity);
    if (from->cut < from->synced.len)
        current = is_truncated(entry, dice);
    for (size_t s = 0; s < from->now.capacity / SECTOR; s++)
        if (entry->dirty[s] && (!current || dice_chance(dice, 50)))
            memcpy(entry->now.bytes + s * SECTOR, entry->synced.bytes + s * SECTOR, SECTOR);
    entry->now.len = current && longer ? from->now.len : entry->synced.len;
    memset(entry->now.bytes + entry->now.len, 0, entry->now.capacity - entry->now.len);
    entry_sync(entry);
}

void power_on(uint64_t seed)
{
    const struct entry *from = kept[n_kept - 1];
    struct dice dice = {seed};

    release_all(live);
    for (int i = 0; i < FILES_MAX; i++)
        if (from[i].path)
            settle(make(live, from[i].path), &from[i], &dice);
    atomic_store(&countdown, 0);
    atomic_store(&off, false);
}

void power_resume(void)
{
    atomic_store(&countdown, 0);
    atomic_store(&off, false);
}

void power_fill_after(int n)
{
    atomic_store(&until_full, n);
}

void power_release(void)
{
    release_all(live);
    while (n_kept > 0)
        power_return();
    power_fill_after(0);
    power_resume();
}

static bool is_full(void)
{
    int left = atomic_load(&until_full);

    if (left > 0 && --left == 0)
        left = -1;
    atomic_store(&until_full, left);
    return left < 0;
}

static struct entry *entry_of(sqlite3_file *file)
{
    return ((struct power_file *)file)->entry;
}

static int power_close(sqlite3_file *file)
{
    return SQLITE_OK;
}

static int power_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    const struct image *now = &entry_of(file)->now;
    size_t from = (size_t)at, wanted = (size_t)len;
    size_t there = from < now->len ? now->len - from : 0;

    if (there > wanted)
        there = wanted;
    if (power_is_off())
        return SQLITE_IOERR_READ;
    memset(out, 0, wanted);
    if (there)
        memcpy(out, now->bytes + from, there);
    return there < wanted ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int power_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct entry *entry = entry_of(file);
    size_t from = (size_t)at, to = from + (size_t)len;
    bool done = has_power();

    if (done && is_full())
        return SQLITE_FULL;
    /* The write at which the power fails may be executed in part. */
    if (!done && atomic_load(&countdown) < 0)
        return SQLITE_IOERR_WRITE;
    entry_reserve(entry, to);
    memcpy(entry->now.bytes + from, bytes, (size_t)len);
    if (to > entry->now.len)
        entry->now.len = to;
    for (size_t s = from / SECTOR; s * SECTOR < to; s++)
        entry->dirty[s] = true;
    if (done)
        return SQLITE_OK;
    atomic_store(&countdown, -1);
    return SQLITE_IOERR_WRITE;
}

static int power_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct entry *entry = entry_of(file);
    size_t len = (size_t)size;

    if (!has_power())
        return SQLITE_IOERR_TRUNCATE;
    entry_reserve(entry, len);
    for (size_t s = len / SECTOR; s * SECTOR < entry->now.len; s++)
        entry->dirty[s] = true;
    if (len < entry->now.len)
        memset(entry->now.bytes + len, 0, entry->now.len - len);
    entry->now.len = len;
    if (len < entry->cut)
        entry->cut = len;
    return SQLITE_OK;
}

static int power_sync(sqlite3_file *file, int flags)
{
    if (!has_power())
        return SQLITE_IOERR_FSYNC;
    entry_sync(entry_of(file));
    return SQLITE_OK;
}

static int power_size(sqlite3_file *file, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)entry_of(file)->now.len;
    return SQLITE_OK;
}

static int power_lock(sqlite3_file *file, int level)
{
    return SQLITE_OK;
}

static int power_check_lock(sqlite3_file *file, int *out)
{
    *out = 0;
    return SQLITE_OK;
}

static int power_control(sqlite3_file *file, int what, void *arg)
{
    return SQLITE_NOTFOUND;
}

static int power_sector(sqlite3_file *file)
{
    return SECTOR;
}

static int power_traits(sqlite3_file *file)
{
    return 0;
}

/* The methods have version 1, which has no shared memory. Stores lock exclusively, so they do not
 * need it. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = power_close,
    .xRead = power_read,
    .xWrite = power_write,
    .xTruncate = power_truncate,
    .xSync = power_sync,
    .xFileSize = power_size,
    .xLock = power_lock,
    .xUnlock = power_lock,
    .xCheckReservedLock = power_check_lock,
    .xFileControl = power_control,
    .xSectorSize = power_sector,
    .xDeviceCharacteristics = power_traits,
};

static int power_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    struct power_file *ours = (struct power_file *)file;

    memset(ours, 0, sizeof *ours);
    if (!name) /* without a name it is a temporary file */
        return SQLITE_CANTOPEN;
    ours->entry = find(live, name);
    if (!ours->entry && power_is_off())
        return SQLITE_CANTOPEN;
    if (!ours->entry)
        ours->entry = make(live, name);
    ours->base.pMethods = &methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int power_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct entry *entry = find(live, name);

    if (!has_power())
        return SQLITE_IOERR_DELETE;
    if (!entry)
        return SQLITE_IOERR_DELETE_NOENT;
    entry_release(entry);
    return SQLITE_OK;
}

static int power_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    *out = find(live, name) != NULL;
    return SQLITE_OK;
}

void power_install(void)
{
    if (system_vfs)
        return;
    system_vfs = vfs_install(&our_vfs, "power", sizeof(struct power_file));
    our_vfs.xOpen = power_open;
    our_vfs.xDelete = power_delete;
    our_vfs.xAccess = power_access;
}
