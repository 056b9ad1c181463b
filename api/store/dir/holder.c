/*
 * Reads the lock file and /proc. A process hidden in /proc counts as running while its pid exists.
 */
#include "api/store/dir/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { PID_TEXT_MAX = 32, PROC_TEXT_MAX = 16 << 10 };

pid_t holder_pid(const char *directory)
{
    scoped_str path = mem_printf("%s/lock", directory);
    scoped(buf) struct buf text = {0};
    long pid;

    if (!file_read(path, PID_TEXT_MAX, &text, NULL))
        return 0;
    pid = strtol(text.data ? text.data : "", NULL, 10);
    return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

bool holder_is_there(const char *directory)
{
    pid_t pid = holder_pid(directory);

    return pid > 0 && pid != getpid() && is_there(pid);
}

/* Returns the n-th word after the first, or NULL when the line has fewer. */
static const char *word_at(const char *line, int n)
{
    for (; line && n > 0; n--)
        line = (line = strchr(line, ' ')) ? line + 1 : NULL;
    return line;
}

/* Reads /proc/PID/stat into `text`. Returns what follows the name, which may be anything, or NULL.
 * proc(5): "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS …". */
static const char *read_stat(pid_t pid, struct buf *text)
{
    scoped_str path = mem_printf("/proc/%ld/stat", (long)pid);

    return file_read(path, PROC_TEXT_MAX, text, NULL) && text->data ? strrchr(text->data, ')')
                                                                    : NULL;
}

/* Returns the hexadecimal value of a field of /proc/PID/status. */
static uint64_t mask_of(const char *status, const char *name)
{
    const char *line = strstr(status, name);

    return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

bool holder_is_ending(pid_t pid)
{
    enum { EXITING = 0x4 }; /* the flag PF_EXITING of linux/sched.h */
    scoped_str path = mem_printf("/proc/%ld/status", (long)pid);
    scoped(buf) struct buf stat = {0}, status = {0};
    const char *after_name = read_stat(pid, &stat), *state, *flags;
    uint64_t coming;

    if (!after_name || !file_read(path, PROC_TEXT_MAX, &status, NULL) || !status.data)
        return !is_there(pid);
    state = word_at(after_name, 1);
    flags = word_at(after_name, 7);
    if (!flags)
        return false;
    coming = mask_of(status.data, "\nSigPnd:") | mask_of(status.data, "\nShdPnd:");
    return *state == 'Z' || *state == 'X' || strtoul(flags, NULL, 10) & EXITING ||
           coming & (UINT64_C(1) << (SIGKILL - 1));
}

bool holder_is_locked(const char *directory)
{
    scoped_str path = mem_printf("%s/lock", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return locked;
}

pid_t holder_stopped(const char *directory)
{
    scoped(buf) struct buf stat = {0};
    pid_t pid = holder_pid(directory);
    const char *state = pid > 0 ? word_at(read_stat(pid, &stat), 1) : NULL;

    return state && *state == 'T' && holder_is_locked(directory) ? pid : 0;
}

bool holder_in_use(const char *directory, struct error *err)
{
    long pid = (long)holder_pid(directory);

    if (pid == 0)
        return error_set(err, ERR_CONFLICT, "", "%s is in use by another process", directory);
    if (holder_stopped(directory) == pid)
        return error_set(err, ERR_CONFLICT, "",
                         "%s is in use by process %ld, which is stopped: 'fg' in its terminal or "
                         "'kill -CONT %ld' continues it",
                         directory, pid, pid);
    return error_set(err, ERR_CONFLICT, "",
                     "%s is in use by process %ld; stop it or name another data directory",
                     directory, pid);
}

bool holder_stamp_take(const char *directory, struct holder_stamp *out)
{
    static const char *const names[] = {"store.db", "store.db-wal"};

    *out = (struct holder_stamp){.pid = holder_stopped(directory)};
    for (size_t i = 0; i < countof(names); i++) {
        scoped_str path = mem_printf("%s/%s", directory, names[i]);
        struct stat info;

        if (stat(path, &info) != 0)
            continue;
        out->files[i].size = info.st_size;
        out->files[i].changed = info.st_mtim;
    }
    return out->pid > 0;
}

bool holder_stamp_holds(const char *directory, const struct holder_stamp *stamp)
{
    struct holder_stamp now;
    bool same = holder_stamp_take(directory, &now) && now.pid == stamp->pid;

    for (size_t i = 0; same && i < countof(now.files); i++)
        same = now.files[i].size == stamp->files[i].size &&
               now.files[i].changed.tv_sec == stamp->files[i].changed.tv_sec &&
               now.files[i].changed.tv_nsec == stamp->files[i].changed.tv_nsec;
    return same;
}
