/*
 * What is left of control groups whose shim died. See cgroup.h.
 *
 * Those of pods that are known to be lost are emptied and removed. Of others nobody may know any
 * more: their shim was killed, and its data directory removed. Whoever made a group holds a shared
 * lock on the file by which it is joined, as long as he lives; where nobody does, and nobody is in
 * it, it goes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/cgroup_find.h"

enum { TEXT_MAX = 1 << 20, SWEEP_TRIES = 50, SWEEP_PAUSE_NS = 2000000 };

static const char group_prefix[] = CGROUP_PREFIX;

/* The number may be another's by now: what is killed is what is in the group. */
static void kill_member(const char *group, pid_t pid)
{
    scoped_str path = mem_printf("/proc/%d/cgroup", (int)pid);
    scoped(buf) struct buf text = {0};
    int pidfd = pidfd_open(pid, 0);

    if (pidfd < 0)
        return;
    if (file_read(path, TEXT_MAX, &text, NULL) && text.data && strstr(text.data, group))
        pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

/* All of them at once where the kernel can, else one by one. */
static void kill_all(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.procs", dir);
    scoped(buf) struct buf text = {0};

    if (cgroup_write(dir, "cgroup.kill", "1") || !file_read(path, TEXT_MAX, &text, NULL))
        return;
    for (char *at = text.data, *end; at && *at; at = end + (*end == '\n')) {
        long pid = strtol(at, &end, 10);

        if (end == at)
            return;
        kill_member(strrchr(dir, '/'), (pid_t)pid);
    }
}

/* Whose shim was killed may still be on their way out. */
static void remove_group(const char *dir)
{
    const struct timespec pause = {0, SWEEP_PAUSE_NS};

    for (unsigned tries = 0; rmdir(dir) && errno == EBUSY && tries < SWEEP_TRIES; tries++) {
        kill_all(dir);
        nanosleep(&pause, NULL);
    }
}

static bool is_of(const char *name, const char *uid)
{
    size_t len = strlen(uid);

    return strncmp(name, group_prefix, sizeof group_prefix - 1) == 0 &&
           strncmp(name + sizeof group_prefix - 1, uid, len) == 0 &&
           name[sizeof group_prefix - 1 + len] == '-' &&
           !strchr(name + sizeof group_prefix + len, '-');
}

static void sweep(const char *parent, const char *const *uids, size_t count)
{
    DIR *dir = parent ? opendir(parent) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        for (size_t i = 0; i < count; i++)
            if (is_of(entry->d_name, uids[i])) {
                scoped_str path = mem_printf("%s/%s", parent, entry->d_name);

                remove_group(path);
                break;
            }
    if (dir)
        closedir(dir);
}

void cgroup_remove_lost(const char *const *uids, size_t count)
{
    const struct cgroup_parents *parents = cgroup_find();

    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        sweep(parents->old[i], uids, count);
    sweep(parents->unified, uids, count);
}

/* Who is in it keeps it: the kernel does not remove it under him. */
static void remove_forsaken(const char *dir, bool unified)
{
    scoped_str joining = cgroup_joining_file(dir, unified);
    int fd = open(joining, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        rmdir(dir);
    close(fd);
}

static void sweep_forsaken(const char *parent, bool unified)
{
    DIR *dir = parent ? opendir(parent) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (strncmp(entry->d_name, group_prefix, sizeof group_prefix - 1) == 0) {
            scoped_str path = mem_printf("%s/%s", parent, entry->d_name);

            remove_forsaken(path, unified);
        }
    if (dir)
        closedir(dir);
}

void cgroup_remove_orphaned(void)
{
    const struct cgroup_parents *parents = cgroup_find();

    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        sweep_forsaken(parents->old[i], false);
    sweep_forsaken(parents->unified, true);
}
