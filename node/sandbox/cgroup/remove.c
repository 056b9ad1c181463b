/*
 * Removes the control groups that killed shims left behind: those of given pods, with the processes
 * in them, and the empty groups whose maker has died.
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
#include "node/sandbox/cgroup/internal.h"

enum { REMOVE_TRIES = 50, REMOVE_PAUSE_NS = 2000000 };

/* Returns whether a process is in the group or in one below it, from its file /proc/PID/cgroup. */
static bool names_group(const char *text, const char *group)
{
    for (const char *at = text; (at = strstr(at, group)); at++)
        if (strchr("/\n", at[strlen(group)]))
            return true;
    return false;
}

/* Kills a process that was read from the group's list. Its pid may have been reused since, so the
 * process behind the pidfd is killed only if it is in the group. */
static void kill_member(const char *group, pid_t pid)
{
    scoped_str path = mem_printf("/proc/%d/cgroup", (int)pid);
    scoped(buf) struct buf text = {0};
    int pidfd = pidfd_open(pid, 0);

    if (pidfd < 0)
        return;
    if (file_read(path, CGROUP_TEXT_MAX, &text, NULL) && text.data && names_group(text.data, group))
        pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

/* Kills all processes of a group: at once where the kernel has cgroup.kill, else one by one. */
static void kill_members(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.procs", dir);
    scoped(buf) struct buf text = {0};

    if (cgroup_write(dir, "cgroup.kill", "1") || !file_read(path, CGROUP_TEXT_MAX, &text, NULL))
        return;
    for (char *at = text.data, *end; at && *at; at = end + (*end == '\n')) {
        long pid = strtol(at, &end, 10);

        if (end == at)
            return;
        kill_member(strrchr(dir, '/'), (pid_t)pid);
    }
}

/* Kills the processes of a group and removes the group. Killed processes leave the group some time
 * after the signal, so the removal is retried. */
static void kill_and_remove(const char *dir)
{
    const struct timespec pause = {0, REMOVE_PAUSE_NS};

    for (unsigned tries = 0; rmdir(dir) && errno == EBUSY && tries < REMOVE_TRIES; tries++) {
        kill_members(dir);
        nanosleep(&pause, NULL);
    }
}

/* Returns the part of a group's directory name behind the prefix, which names its pod and
 * container. Returns NULL if jobflow has not made the group. */
static const char *owner_of(const char *name)
{
    size_t len = strlen(CGROUP_PREFIX);

    return strncmp(name, CGROUP_PREFIX, len) == 0 ? name + len : NULL;
}

static bool is_named(const char *name, const char *uid)
{
    const char *owner = owner_of(name);
    size_t len = strlen(uid);

    return owner && strncmp(owner, uid, len) == 0 && owner[len] == '-' &&
           !strchr(owner + len + 1, '-');
}

/* Says which groups are to be removed: those of the given pods, or all whose maker has died. */
struct removal {
    bool orphaned;
    const char *const *uids; /* uids of the pods, [count]; unused when `orphaned` is set */
    size_t count;
};

static bool is_wanted(const struct removal *removal, const char *name)
{
    for (size_t i = 0; i < removal->count; i++)
        if (is_named(name, removal->uids[i]))
            return true;
    return false;
}

/* Removes a group that is not locked. The missing lock tells that the maker of the group is dead.
 * The kernel refuses to remove a group with processes. */
static void remove_unlocked(const char *dir, bool unified)
{
    scoped_str joining = cgroup_join_file(dir, unified);
    int fd = open(joining, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        rmdir(dir);
    close(fd);
}

static void remove_below(const char *parent, bool unified, const struct removal *removal)
{
    DIR *dir = parent ? opendir(parent) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        scoped_str path = NULL;

        if (!owner_of(entry->d_name) || (!removal->orphaned && !is_wanted(removal, entry->d_name)))
            continue;
        path = mem_printf("%s/%s", parent, entry->d_name);
        if (!cgroup_is_ours(path))
            continue;
        remove_below(path, unified, removal); /* groups of the containers of a pod */
        if (removal->orphaned)
            remove_unlocked(path, unified);
        else
            kill_and_remove(path);
    }
    if (dir)
        closedir(dir);
}

static void remove_everywhere(const struct removal *removal)
{
    const struct cgroup_parents *parents = cgroup_find_parents();

    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        remove_below(parents->v1[i], false, removal);
    remove_below(parents->unified, true, removal);
}

void cgroup_remove_lost(const char *const *uids, size_t count)
{
    remove_everywhere(&(struct removal){.uids = uids, .count = count});
}

void cgroup_remove_orphaned(void)
{
    remove_everywhere(&(struct removal){.orphaned = true});
}
