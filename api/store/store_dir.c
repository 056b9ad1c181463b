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

#include "api/store/place.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum { RESERVE_BYTES = 16 << 20, PID_MAX = 32 };

bool store_dir_in_use(const char *directory, struct error *err)
{
    scoped_str path = mem_printf("%s/lock", directory);
    scoped(buf) struct buf text = {0};

    if (!file_read(path, PID_MAX, &text, NULL) || text.len == 0)
        return error_set(err, ERR_CONFLICT, "", "%s is in use by another process", directory);
    if (text.data[text.len - 1] == '\n')
        text.data[--text.len] = '\0';
    return error_set(err, ERR_CONFLICT, "",
                     "%s is in use by process %s; stop it or name another data directory",
                     directory, text.data);
}

static void warn(const char *what, const char *path)
{
    struct error err;

    error_errno(&err, errno, "%s", path);
    log_warn(what, kv_str("error", err.message));
}

static bool is_there(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

/* Returns the hexadecimal value of a field of /proc/PID/status. */
static uint64_t mask_of(const char *status, const char *name)
{
    const char *line = strstr(status, name);

    return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

/* Returns the n-th word after the first, or NULL when the line has fewer. */
static const char *word_at(const char *line, int n)
{
    for (; line && n > 0; n--)
        line = (line = strchr(line, ' ')) ? line + 1 : NULL;
    return line;
}

/*
 * Returns whether a process has ended or is about to: it does not exist, is a zombie, has begun to
 * exit, or has SIGKILL pending. The kernel closes its files only after that. A process hidden in
 * /proc counts as running while its pid exists.
 */
static bool is_ending(long pid)
{
    enum { EXITING = 0x4, TEXT_MAX = 16 << 10 }; /* PF_EXITING of linux/sched.h */
    scoped_str stat_path = mem_printf("/proc/%ld/stat", pid);
    scoped_str status_path = mem_printf("/proc/%ld/status", pid);
    scoped(buf) struct buf stat = {0}, status = {0};
    const char *after_name, *state, *flags;
    uint64_t coming;

    if (!file_read(stat_path, TEXT_MAX, &stat, NULL) ||
        !file_read(status_path, TEXT_MAX, &status, NULL))
        return !is_there(pid);
    /* proc(5): "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS …"; a name may be anything. */
    after_name = strrchr(stat.data, ')');
    state = word_at(after_name, 1);
    flags = word_at(after_name, 7);
    if (!flags)
        return false;
    coming = mask_of(status.data, "\nSigPnd:") | mask_of(status.data, "\nShdPnd:");
    return *state == 'Z' || *state == 'X' || strtoul(flags, NULL, 10) & EXITING ||
           coming & (UINT64_C(1) << (SIGKILL - 1));
}

static bool owner_is_ending(const struct store_dir *dir)
{
    char text[PID_MAX] = "";
    long pid = pread(dir->lock, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;

    return pid > 0 && is_ending(pid);
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
        return reason == EWOULDBLOCK ? store_dir_in_use(directory, err)
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
