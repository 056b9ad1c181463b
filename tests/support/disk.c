#include "tests/support/disk.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/vfs.h"

static atomic_int current, operations, countdown, planned;

/* A store that writes on to a full disk without a pause never lets a test with virtual time come to
 * an end. This number of refused writes ends the test instead. */
enum { REFUSED_MAX = 10000 };
static atomic_int refused;

/* An open file of the layer: the methods first, as SQLite requires, then the real file. */
struct disk_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_vfs *system_vfs;
static sqlite3_vfs our_vfs;

static enum disk_fault next_fault(void)
{
    atomic_fetch_add(&operations, 1);
    if (atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1)
        atomic_store(&current, atomic_load(&planned));
    return atomic_load(&current);
}

static sqlite3_file *real(sqlite3_file *file)
{
    return ((struct disk_file *)file)->real;
}

static int disk_close(sqlite3_file *file)
{
    int code = real(file)->pMethods->xClose(real(file));

    mem_free(real(file));
    return code;
}

static int disk_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    return real(file)->pMethods->xRead(real(file), out, len, at);
}

static int disk_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    switch (next_fault()) {
    case DISK_NO_SPACE:
        if (atomic_fetch_add(&refused, 1) == REFUSED_MAX)
            mem_fatal("the store goes on writing to a full disk without a pause");
        return SQLITE_FULL;
    case DISK_NO_WRITES:
        return SQLITE_IOERR_WRITE;
    case DISK_WELL:
    case DISK_NO_SYNC:
        break;
    }
    return real(file)->pMethods->xWrite(real(file), bytes, len, at);
}

static int disk_sync(sqlite3_file *file, int flags)
{
    if (next_fault() == DISK_NO_SYNC)
        return SQLITE_IOERR_FSYNC;
    return real(file)->pMethods->xSync(real(file), flags);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *out)
{
    return real(file)->pMethods->xFileSize(real(file), out);
}

static int disk_lock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int disk_check_lock(sqlite3_file *file, int *out)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int disk_control(sqlite3_file *file, int what, void *arg)
{
    return real(file)->pMethods->xFileControl(real(file), what, arg);
}

static int disk_sector(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int disk_traits(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

/* The methods have version 1, which has no shared memory. Stores lock exclusively, so they do not
 * need it. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_check_lock,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_traits,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    struct disk_file *ours = (struct disk_file *)file;
    int code;

    *ours = (struct disk_file){.real = mem_alloc((size_t)system_vfs->szOsFile)};
    code = system_vfs->xOpen(system_vfs, name, ours->real, flags, out_flags);
    if (code == SQLITE_OK)
        ours->base.pMethods = &methods;
    else
        mem_free(ours->real);
    return code;
}

void disk_install(void)
{
    if (system_vfs)
        return;
    system_vfs = vfs_install(&our_vfs, "disk", sizeof(struct disk_file));
    our_vfs.xOpen = disk_open;
}

void disk_set(enum disk_fault fault)
{
    atomic_store(&countdown, 0);
    atomic_store(&refused, 0);
    atomic_store(&current, fault);
}

void disk_fail_after(int n, enum disk_fault fault)
{
    atomic_store(&current, DISK_WELL);
    atomic_store(&planned, fault);
    atomic_store(&countdown, n);
}

int disk_operations(void)
{
    return atomic_load(&operations);
}
