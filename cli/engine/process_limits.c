/*
 * A table of limits and the least of each with which an engine starts.
 */
#include "cli/engine/process_limits.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/compiler.h"

enum {
    /* The supervisor of all pods needs up to two descriptors for each container, and these besides:
     * its own files, and those with which a pod is started. */
    SUPERVISOR_DESCRIPTORS = 32,
    DESCRIPTORS_EACH = 2,
    MIB = 1 << 20,
};

static const struct {
    __rlimit_resource_t resource;
    rlim_t least;
    const char *what, *unit, *remedy;
    rlim_t unit_size;
} rows[] = {
    {RLIMIT_NOFILE, 64, "open files", "", "ulimit -n 1024", 1},
    {RLIMIT_NPROC, 16, "processes of this user", "", "ulimit -u 1024", 1},
    {RLIMIT_AS, (rlim_t)128 * MIB, "address space", " MiB", "ulimit -v unlimited", MIB},
    {RLIMIT_FSIZE, (rlim_t)64 * MIB, "size of a file", " MiB", "ulimit -f unlimited", MIB},
};

bool process_limits_check(struct error *err)
{
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < countof(rows); i++) {
        struct rlimit limit;

        /* the soft limit of descriptors can be raised, and is */
        if (getrlimit(rows[i].resource, &limit) == 0 &&
            (rows[i].resource == RLIMIT_NOFILE ? limit.rlim_max : limit.rlim_cur) < rows[i].least)
            return error_set(err, ERR_UNAVAILABLE, "",
                             "the limit on %s is too small here: at least %llu%s are needed; raise "
                             "it with '%s', or where the shell or service gets it from",
                             rows[i].what, (unsigned long long)(rows[i].least / rows[i].unit_size),
                             rows[i].unit, rows[i].remedy);
    }
    return true;
}

int process_limits_pods(int wanted)
{
    struct rlimit limit;
    rlim_t fit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max == RLIM_INFINITY)
        return wanted;
    fit = limit.rlim_max > SUPERVISOR_DESCRIPTORS + DESCRIPTORS_EACH
              ? (limit.rlim_max - SUPERVISOR_DESCRIPTORS) / DESCRIPTORS_EACH
              : 1;
    return wanted <= 0 || fit >= (rlim_t)wanted ? wanted : (int)fit;
}
