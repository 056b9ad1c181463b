/*
 * Processes that outlived their shim. See orphan_kill.h.
 */
#include "node/shim/orphan_kill.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/shim/pod_mark.h"

enum { ENVIRON_MAX = 256 << 10 };

struct hunt {
    const char *const *uids;
    size_t count;
};

static bool carries(const char *env, size_t len, const struct hunt *hunt)
{
    static const char marker[] = SHIM_MARKER "=";

    for (const char *at = env, *end = env + len; at < end; at += strlen(at) + 1) {
        if (strncmp(at, marker, sizeof marker - 1) != 0)
            continue;
        for (size_t i = 0; i < hunt->count; i++)
            if (strcmp(at + sizeof marker - 1, hunt->uids[i]) == 0)
                return true;
    }
    return false;
}

static bool bears(pid_t pid, const struct hunt *hunt)
{
    rlim_t number = pod_mark_of(pid);

    for (size_t i = 0; number && i < hunt->count; i++)
        if (pod_mark_number(hunt->uids[i]) == number)
            return true;
    return false;
}

static bool process_carries(pid_t pid, const struct hunt *hunt, char *env)
{
    char path[32];
    ssize_t len;
    int fd;

    if (bears(pid, hunt))
        return true;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = read(fd, env, ENVIRON_MAX);
    close(fd);
    if (len <= 0)
        return false;
    env[len] = 0;
    return carries(env, (size_t)len, hunt);
}

/* The pidfd is taken before the second look: what is killed is what was looked at. */
static bool kill_if_ours(pid_t pid, const struct hunt *hunt, char *env)
{
    bool killed;
    int pidfd;

    if (!process_carries(pid, hunt, env) || (pidfd = pidfd_open(pid, 0)) < 0)
        return false;
    killed = process_carries(pid, hunt, env) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
    close(pidfd);
    return killed;
}

void orphan_kill(const char *const *uids, size_t count)
{
    const struct hunt hunt = {uids, count};
    char *env = mem_alloc(ENVIRON_MAX + 1);
    bool again = true;

    for (int round = 0; again && round < 8; round++) { /* they may have forked meanwhile */
        DIR *proc = opendir("/proc");

        again = false;
        for (struct dirent *entry;
             proc && (entry = readdir(proc));) { /* NOLINT(concurrency-mt-unsafe) */
            char *end;
            long pid = strtol(entry->d_name, &end, 10);

            if (!*end && pid > 0 && kill_if_ours((pid_t)pid, &hunt, env))
                again = true;
        }
        if (proc)
            closedir(proc);
    }
    mem_free(env);
}
