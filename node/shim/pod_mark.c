/*
 * The number by which processes of a pod are known. See pod_mark.h.
 */
#include "node/shim/pod_mark.h"

#include <string.h>

#include "base/hash.h"

/* As good as no limit, and told apart from what anybody would set. */
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
        return (struct rlimit){0}; /* somebody has set it */
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
