/*
 * Sets and recognises the mark of a pod's processes: a variable of the environment, and a number in
 * an otherwise unused resource limit, which children inherit.
 */
#include "node/shim/pod_mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/collections/hash.h"

/* Numbers of marks lie between this value and its double: beyond any limit that an administrator
 * sets, and below RLIM_INFINITY. */
static const rlim_t beyond_all = (rlim_t)1 << 62;

rlim_t pod_mark_number(const char *uid)
{
    return beyond_all | (hash_stable(uid, strlen(uid)) & (beyond_all - 1));
}

struct rlimit pod_mark_limit(const char *uid)
{
    rlim_t number = pod_mark_number(uid);
    struct rlimit locks;

    if (getrlimit(RLIMIT_LOCKS, &locks) || locks.rlim_max < number)
        return (struct rlimit){0};
    locks.rlim_cur = number;
    return locks;
}

rlim_t pod_mark_of(pid_t pid)
{
    struct rlimit locks;

    if (prlimit(pid, RLIMIT_LOCKS, NULL, &locks) || locks.rlim_cur < beyond_all ||
        locks.rlim_cur >= 2 * beyond_all)
        return 0;
    return locks.rlim_cur;
}

size_t pod_mark_read_environ(pid_t pid, char *env)
{
    char path[32];
    ssize_t len;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    len = fd < 0 ? 0 : read(fd, env, POD_MARK_ENVIRON_MAX);
    if (fd >= 0)
        close(fd);
    if (len < 0)
        len = 0;
    env[len] = 0;
    return (size_t)len;
}

const char *pod_mark_next_uid(const char *env, size_t len, const char *after)
{
    static const char marker[] = SHIM_MARKER "=";
    const char *at = after ? after + strlen(after) + 1 : env;

    for (; at < env + len; at += strlen(at) + 1)
        if (strncmp(at, marker, sizeof marker - 1) == 0)
            return at + sizeof marker - 1;
    return NULL;
}
