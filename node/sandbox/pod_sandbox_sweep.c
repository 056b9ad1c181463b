/*
 * What is left of sandboxes whose shim was killed. See pod_sandbox.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/pod_sandbox.h"

enum { TRIES = 50, PAUSE_NS = 2000000 };

/* <uid>, or <uid>.<volume>: no uid has a dot in it. */
static bool is_of_any(const char *name, const char *const *uids, size_t count)
{
    size_t len = strcspn(name, ".");

    for (size_t i = 0; i < count; i++)
        if (strncmp(name, uids[i], len) == 0 && !uids[i][len])
            return true;
    return false;
}

/* Who is on his way out may still write. */
static void remove_whole(int pods_fd, const char *name)
{
    const struct timespec pause = {0, PAUSE_NS};

    for (unsigned tries = 0; !file_remove_tree(pods_fd, name, NULL) && tries < TRIES; tries++)
        nanosleep(&pause, NULL);
}

void pod_sandbox_remove_lost(int pods_fd, const char *const *uids, size_t count)
{
    int fd = openat(pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    cgroup_remove_lost(uids, count);
    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.' && is_of_any(entry->d_name, uids, count))
            remove_whole(pods_fd, entry->d_name);
    if (dir)
        closedir(dir);
}
