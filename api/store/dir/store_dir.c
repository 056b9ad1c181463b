/*
 * Locks the store's directory with flock, which the kernel releases when the process ends, and
 * reserves disk space with fallocate.
 */
#include "api/store/dir/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "api/store/dir/dir_owner.h"
#include "api/store/dir/holder.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    RESERVE_BYTES = 16 << 20,
    ROOM_BYTES = 256 << 10, /* of the log for deletes, at least */
    STAT_BLOCK = 512,       /* unit of st_blocks, stat(2) */
    PID_MAX = 32
};

static void warn(const char *what, const char *path)
{
    struct error err;

    error_errno(&err, errno, "%s", path);
    log_warn(what, kv_str("error", err.message));
}

/* A read may end early, and half a pid is that of another process. */
static bool owner_is_ending(const struct store_dir *dir)
{
    char text[PID_MAX] = "";
    size_t len = 0;
    ssize_t n;
    long pid;

    while ((n = pread(dir->lock, text + len, sizeof text - 1 - len, (off_t)len)) > 0 ||
           (n < 0 && errno == EINTR))
        len += n > 0 ? (size_t)n : 0;
    pid = strtol(text, NULL, 10);
    return pid > 0 && holder_is_ending((pid_t)pid);
}

/* Returns whether the processes that keep this one from the lock only look at it, each for a moment
 * (holder_is_locked). */
static bool is_only_looked_at(const struct store_dir *dir)
{
    return flock(dir->lock, LOCK_SH | LOCK_NB) == 0 && flock(dir->lock, LOCK_UN) == 0;
}

/*
 * Takes the lock; returns 0 or an errno. Retries for up to 5 s, because a lock may be held for a
 * moment only: by a killed process until the kernel has closed its files, by a forked child until
 * exec, or by a process that tests whether the lock is taken.
 */
static int lock_in_time(const struct store_dir *dir)
{
    enum { TRIES = 500 };
    const struct timespec pause = {.tv_nsec = 10000000L};

    for (int i = 0;; i++) {
        int reason = flock(dir->lock, LOCK_EX | LOCK_NB) < 0 ? errno : 0;

        if (reason != EWOULDBLOCK || i == TRIES ||
            (!is_only_looked_at(dir) && !owner_is_ending(dir)))
            return reason;
        nanosleep(&pause, NULL);
    }
}

static bool take_lock(struct store_dir *dir, const char *directory, struct error *err)
{
    char pid[PID_MAX];
    int len, reason;

    dir->lock = openat(dir->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (dir->lock < 0)
        return error_errno(err, errno, "cannot open %s/lock", directory);
    reason = lock_in_time(dir);
    if (reason)
        return reason == EWOULDBLOCK ? holder_in_use(directory, err)
                                     : error_errno(err, reason, "cannot lock %s/lock", directory);
    len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(dir->lock, 0) < 0 || !file_write_all(dir->lock, pid, (size_t)len))
        warn("lock file without pid", directory);
    return true;
}

bool store_dir_open(struct store_dir *dir, const char *directory, struct error *err)
{
    store_dir_look(dir, directory);
    if (!dir_owner_check(directory, err) || !file_mkdirs(directory, 0700, err))
        goto failed;
    dir->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir->directory < 0) {
        error_errno(err, errno, "cannot open %s", directory);
        goto failed;
    }
    if (!take_lock(dir, directory, err))
        goto failed;
    store_dir_take_reserve(dir);
    return true;

failed:
    store_dir_release(dir);
    return false;
}

void store_dir_look(struct store_dir *dir, const char *directory)
{
    *dir = (struct store_dir){
        .database = mem_printf("%s/store.db", directory),
        .directory = -1,
        .lock = -1,
    };
}

void store_dir_release(struct store_dir *dir)
{
    if (dir->lock >= 0)
        close(dir->lock);
    if (dir->directory >= 0)
        close(dir->directory);
    mem_free(dir->database);
    *dir = (struct store_dir){.directory = -1, .lock = -1};
}

void store_dir_give_reserve(struct store_dir *dir)
{
    dir->reserved = false;
    if (unlinkat(dir->directory, "reserve", 0) < 0 && errno != ENOENT)
        warn("reserve not given up", dir->database);
}

static char *log_path(const struct store_dir *dir)
{
    return mem_printf("%s-wal", dir->database);
}

/* Allocates `bytes` behind the end of the write-ahead log. They stay its own until SQLite truncates
 * or deletes it. */
static bool extend_log(const struct store_dir *dir, off_t bytes)
{
    scoped_str path = log_path(dir);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    bool ok = fd >= 0 && fstat(fd, &info) == 0 &&
              (fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, bytes) == 0 ||
               errno == EOPNOTSUPP || errno == ENOSYS);

    if (fd >= 0)
        close(fd);
    return ok;
}

void store_dir_move_reserve(struct store_dir *dir)
{
    store_dir_give_reserve(dir);
    for (off_t bytes = RESERVE_BYTES; bytes >= ROOM_BYTES; bytes /= 2)
        if (extend_log(dir, bytes))
            return;
}

bool store_dir_has_room(const struct store_dir *dir)
{
    return extend_log(dir, ROOM_BYTES);
}

bool store_dir_log_has_reserve(const struct store_dir *dir)
{
    scoped_str path = log_path(dir);
    struct stat info;

    return lstat(path, &info) == 0 && info.st_blocks * STAT_BLOCK > info.st_size + ROOM_BYTES;
}

/* Allocates the reserve: the largest size that leaves as much free. Returns 0 or an errno. */
static int allocate(int fd)
{
    int reason = ENOSPC;
    struct statvfs disk;
    struct stat info;

    if (fstat(fd, &info) < 0 || fstatvfs(fd, &disk) < 0)
        return errno;
    if (info.st_blocks * STAT_BLOCK >= ROOM_BYTES) /* a killed process left it */
        return 0;
    for (off_t bytes = RESERVE_BYTES; reason == ENOSPC && bytes >= ROOM_BYTES; bytes /= 2)
        if ((uint64_t)disk.f_bavail * disk.f_frsize / 2 >= (uint64_t)bytes)
            reason = fallocate(fd, 0, 0, bytes) < 0 ? errno : 0;
    return reason;
}

bool store_dir_take_reserve(struct store_dir *dir)
{
    int fd = openat(dir->directory, "reserve", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int reason = fd < 0 ? errno : allocate(fd);

    if (fd >= 0)
        close(fd);
    dir->reserved = reason == 0 || reason == EOPNOTSUPP || reason == ENOSYS;
    dir->full = reason == ENOSPC || reason == EDQUOT;
    if (!dir->reserved)
        store_dir_give_reserve(dir);
    return !dir->full;
}
