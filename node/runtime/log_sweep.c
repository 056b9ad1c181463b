/*
 * Removes log files that no pod and no PodLog names any more. It runs at the start of a node, on the
 * pool, and after a command has deleted objects of a store in which no node runs.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/runtime/internal.h"
#include "node/shim/logfile.h"

/* Times of files come from a clock that may be a tick behind the wall clock. */
enum { CLOCK_LAG_MS = 1000 };

struct known_uids {
    const char **items; /* uids, sorted */
    size_t count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct known_uids known_of(const char *uids, size_t len)
{
    struct known_uids known = {0};
    const char *end = uids + len;

    for (const char *uid = uids; uid < end; uid += strlen(uid) + 1)
        known.count++;
    known.items = mem_array(known.count + 1, sizeof *known.items);
    known.count = 0;
    for (const char *uid = uids; uid < end; uid += strlen(uid) + 1)
        known.items[known.count++] = uid;
    qsort(known.items, known.count, sizeof *known.items, compare);
    return known;
}

static bool is_older(int logs_fd, const char *name, int64_t before_ms)
{
    struct stat st;

    return fstatat(logs_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 < before_ms;
}

/* Removes a file if no known pod has it and it is old enough. `name` is <uid>, or <uid>.log with a
 * number or none behind it; no uid contains a dot. */
static void sweep_one(int logs_fd, const char *name, const struct known_uids *known,
                      int64_t before_ms)
{
    char uid[LOG_NAME_MAX];
    const char *key = uid;
    size_t len = strcspn(name, ".");

    if (!len || len >= sizeof uid)
        return;
    memcpy(uid, name, len);
    uid[len] = 0;
    if (shim_uid_ok(uid) && !bsearch(&key, known->items, known->count, sizeof key, compare) &&
        is_older(logs_fd, name, before_ms))
        logs_remove(logs_fd, uid);
}

void logs_sweep(int logs_fd, const char *uids, size_t len, int64_t before_ms)
{
    struct known_uids known = known_of(uids, len);
    int fd = openat(logs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        sweep_one(logs_fd, entry->d_name, &known, before_ms);
    if (dir)
        closedir(dir);
    mem_free(known.items);
}

struct sweep {
    struct pool_work work;
    int logs_fd;
    int64_t before_ms;
    struct buf uids;
};

static void sweep_run(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);

    logs_sweep(sweep->logs_fd, sweep->uids.data, sweep->uids.len, sweep->before_ms);
}

static void sweep_done(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);

    buf_release(&sweep->uids);
    close(sweep->logs_fd);
    mem_free(sweep);
}

void host_sweep_logs(struct runtime *rt, const char *uids, size_t len)
{
    struct host *host = container_of(rt, struct host, base);
    struct sweep *sweep = mem_alloc(sizeof *sweep);

    sweep->work = (struct pool_work){.run = sweep_run, .done = sweep_done};
    sweep->logs_fd = fcntl(host->logs_fd, F_DUPFD_CLOEXEC, 0);
    sweep->before_ms = clock_wall_ms(clock_real()) - CLOCK_LAG_MS;
    buf_add(&sweep->uids, uids, len);
    loop_work(rt->loop, &sweep->work);
}

void runtime_log_sweep(const char *directory, const char *uids, size_t len)
{
    scoped_str path = mem_printf("%s/node/logs", directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return; /* no pod ran in this data directory */
    logs_sweep(fd, uids, len, INT64_MAX);
    close(fd);
}
