/*
 * Locks the store's directory with flock, which the kernel releases when the process ends, and
 * reserves disk space with fallocate.
 */
#include "api/store/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "api/store/holder.h"
#include "api/store/place.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum { RESERVE_BYTES = 16 << 20, PID_MAX = 32 };

static void warn(const char *what, const char *path)
{
    struct error err;

    error_errno(&err, errno, "%s", path);
    log_warn(what, kv_str("error", err.message));
}

static bool owner_is_ending(const struct store_dir *dir)
{
    char text[PID_MAX] = "";
    long pid = pread(dir->lock, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;

    return pid > 0 && holder_is_ending((pid_t)pid);
}

/*
 * Takes the lock; returns 0 or an errno. A killed process keeps its lock until the kernel has
 * closed its files, and a forked child keeps it until exec. Both last a moment only, so this
 * function waits for a process that is ending.
 */
static int lock_in_time(const struct store_dir *dir)
{
    enum { TRIES = 500 };
    const struct timespec pause = {.tv_nsec = 10000000L};

    for (int i = 0;; i++) {
        int reason = flock(dir->lock, LOCK_EX | LOCK_NB) < 0 ? errno : 0;

        if (reason != EWOULDBLOCK || i == TRIES || !owner_is_ending(dir))
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
    if (ftruncate(dir->lock, 0) < 0 || pwrite(dir->lock, pid, (size_t)len, 0) != len)
        warn("lock file without pid", directory);
    return true;
}

bool store_dir_open(struct store_dir *dir, const char *directory, struct error *err)
{
    store_dir_look(dir, directory);
    if (!place_check(directory, err) || !file_mkdirs(directory, 0700, err))
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

/* Creates the reserve. A file system that cannot allocate space has no reserve; it then counts as
 * complete. */
bool store_dir_take_reserve(struct store_dir *dir)
{
    int fd = openat(dir->directory, "reserve", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int result = fd < 0 ? -1 : fallocate(fd, 0, 0, RESERVE_BYTES);
    int reason = errno;

    if (fd >= 0)
        close(fd);
    dir->reserved = result == 0 || reason == EOPNOTSUPP || reason == ENOSYS;
    if (!dir->reserved)
        store_dir_give_reserve(dir);
    return dir->reserved;
}
