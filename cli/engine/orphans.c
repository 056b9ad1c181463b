/*
 * Finds shims of a deleted data directory. A shim's process is named jobflow-shim and its log is
 * open below the data directory; /proc marks the path of a deleted log.
 */
#include "cli/engine/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/command/command.h"

enum { NAMED_MAX = 20 };

static bool is_shim(const char *pid)
{
    scoped_str path = mem_printf("/proc/%s/cmdline", pid);
    char name[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, sizeof name - 1) : -1;

    if (fd >= 0)
        close(fd);
    return n > 0 && strcmp(name, "jobflow-shim") == 0;
}

/* Returns whether a process has "DIR/node/shims/…/log (deleted)" open, so that its data directory
 * was deleted. */
static bool data_dir_deleted(const char *pid, const char *data_dir)
{
    static const char deleted[] = " (deleted)";
    scoped_str path = mem_printf("/proc/%s/fd/2", pid);
    scoped_str shims = mem_printf("%s/node/shims/", data_dir);
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    size_t len = n > 0 ? (size_t)n : 0;

    target[len] = '\0';
    return len > strlen(deleted) && strncmp(target, shims, strlen(shims)) == 0 &&
           strcmp(target + len - strlen(deleted), deleted) == 0;
}

size_t orphans_warn(const char *data_dir)
{
    char *absolute = realpath(data_dir, NULL);
    DIR *processes = opendir("/proc");
    scoped(buf) struct buf pids = {0};
    struct dirent *entry;
    size_t count = 0;

    while (absolute && processes && (entry = readdir(processes))) {
        const char *pid = entry->d_name;

        if (*pid < '1' || *pid > '9' || !is_shim(pid) || !data_dir_deleted(pid, absolute))
            continue;
        if (count++ < NAMED_MAX)
            buf_printf(&pids, "%s%s", count == 1 ? "process " : ", ", pid);
    }
    if (processes)
        closedir(processes);
    free(absolute);
    if (count)
        cli_warnf("%s was deleted while pods of it were at work: their supervisors (%s) stop them "
                  "within seconds; until then they may be in the way of this run",
                  data_dir, pids.data);
    return count;
}
