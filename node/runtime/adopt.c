/*
 * Finds the pods of a previous run.
 *
 * The lock of each shim directory says whether its shim is alive. A live shim is connected and
 * asked for its pods; a dead one is known by its records (reap_lost.c). A pod in neither was never
 * started. Once all pods are known, files of unknown pods are removed on the pool; then the pods
 * are reported, and new ones may be started.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime/internal.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/shim/records.h"

/* Returns whether a shim's directory belongs to this user. A directory of another user is left
 * alone: its records are not what this program wrote. */
static bool is_ours(int dir_fd, const char *id)
{
    struct stat info;

    if (fstat(dir_fd, &info) == 0 && info.st_uid == geteuid())
        return true;
    log_warn("supervisor of another user left alone", kv_str("supervisor", id),
             kv_int("uid", (int64_t)info.st_uid));
    return false;
}

/* Returns the link to the shim of directory `id`: connected, or dead (fd -1). Returns NULL when
 * there is no such directory. */
static struct shim_link *link_to(struct host *host, const char *id)
{
    int dir_fd = openat(host->shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct error err = {0};
    struct shim_link *link = NULL;

    if (dir_fd < 0)
        return NULL;
    if (!is_ours(dir_fd, id)) {
        close(dir_fd);
        return NULL;
    }
    if (flock(dir_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        link = shim_link_connect(host, id, dir_fd, &err);
    if (!link)
        link = shim_link_to_dead(host, id, dir_fd);
    link->listing = host->found != NULL;
    host->listing += link->listing;
    return link;
}

static bool linked(const struct host *host, const char *id)
{
    for (const struct shim_link *link = host->links; link; link = link->next)
        if (strcmp(link->id, id) == 0)
            return true;
    return false;
}

static void adopt_one(struct host *host, const char *id)
{
    struct shim_link *link = linked(host, id) ? NULL : link_to(host, id);

    if (link && link->fd < 0)
        host_link_died(host, link);
    else if (link && !host->shared && !shim_uid_ok(id))
        host->shared = link;
}

/* Removes files of pods that no shim and no record names. The shims of such pods were killed after
 * the records were released. */
struct sweep {
    struct pool_work work;
    struct host *host; /* NULL: the host was freed meanwhile */
    int pods_fd;
    struct buf uids;    /* uids of known pods, each ended by a NUL */
    const char **known; /* [n_known] uids, sorted */
    size_t n_known;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_known(struct sweep *sweep, const struct host *host)
{
    const char *uid;

    for (const struct host_pod *pod = host->pods; pod; pod = pod->by_uid.next)
        buf_add(&sweep->uids, pod->uid, strlen(pod->uid) + 1);
    sweep->known = mem_array(HASH_CNT(by_uid, host->pods) + 1, sizeof *sweep->known);
    uid = sweep->uids.data;
    for (size_t n = HASH_CNT(by_uid, host->pods); n; n--, uid += strlen(uid) + 1)
        sweep->known[sweep->n_known++] = uid;
    qsort(sweep->known, sweep->n_known, sizeof *sweep->known, compare);
}

/* Returns whether a file belongs to no known pod. `name` is <uid> or <uid>.<volume>; no uid
 * contains a dot. */
static bool is_leftover(const struct sweep *sweep, const char *name)
{
    char uid[sizeof((struct host_pod *)0)->uid];
    const char *key = uid;
    size_t len = strcspn(name, ".");

    if (!len || len >= sizeof uid)
        return false;
    memcpy(uid, name, len);
    uid[len] = 0;
    return !bsearch(&key, sweep->known, sweep->n_known, sizeof *sweep->known, compare);
}

static void sweep_run(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);
    int fd = openat(sweep->pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (is_leftover(sweep, entry->d_name))
            file_remove_tree(sweep->pods_fd, entry->d_name, NULL);
    if (dir)
        closedir(dir);
    cgroup_remove_orphaned();
}

static void report_found(struct host *host)
{
    runtime_found_fn found = host->found;

    host->found = NULL;
    for (struct host_pod *pod = host->pods; pod; pod = pod->by_uid.next)
        if (pod->found)
            found(host->base.ctx, pod->uid);
    loop_post(host->base.loop, host->adopted);
    loop_post(host->base.loop, &host->reports);
    loop_unhold(host->base.loop);
}

static void sweep_done(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);

    if (sweep->host) {
        sweep->host->sweep = NULL;
        report_found(sweep->host);
    }
    mem_free(sweep->known);
    buf_release(&sweep->uids);
    close(sweep->pods_fd);
    mem_free(sweep);
}

static void sweep_leftovers(struct host *host)
{
    struct sweep *sweep = mem_alloc(sizeof *sweep);

    sweep->work = (struct pool_work){.run = sweep_run, .done = sweep_done};
    sweep->host = host;
    sweep->pods_fd = fcntl(host->pods_fd, F_DUPFD_CLOEXEC, 0);
    collect_known(sweep, host);
    host->sweep = sweep;
    loop_work(host->base.loop, &sweep->work);
}

void host_adoption_detach(struct host *host)
{
    if (host->sweep)
        host->sweep->host = NULL;
    if (host->found)
        loop_unhold(host->base.loop); /* the host was freed before adoption was done */
}

void host_list_ended(struct host *host, struct shim_link *link)
{
    if (!link->listing)
        return;
    link->listing = false;
    if (--host->listing == 0)
        sweep_leftovers(host);
}

/* Returns whether the machine was restarted since a runtime last ran in this directory. */
static bool machine_restarted(struct host *host)
{
    scoped_str path = mem_printf("/proc/self/fd/%d/boot", host->dir_fd);
    scoped(buf) struct buf before = {0};
    struct error err = {0};
    bool known = file_read(path, BOOT_ID_MAX, &before, &err);

    if (known && strcmp(before.data, host->boot_id) == 0)
        return false;
    if (!file_write_atomic(path, host->boot_id, strlen(host->boot_id), 0600, &err))
        log_error("cannot write the boot id", kv_str("why", err.message));
    return known;
}

void host_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    struct host *host = container_of(rt, struct host, base);
    int fd = fcntl(host->shims_fd, F_DUPFD_CLOEXEC, 0);
    DIR *shims = fd >= 0 ? fdopendir(fd) : NULL;

    host->found = found;
    host->adopted = done;
    host->listing = 1; /* counts this function, until all shims are asked */
    loop_hold(rt->loop);
    rt->machine_restarted = machine_restarted(host);
    for (struct dirent *entry;
         shims && (entry = readdir(shims));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.')
            adopt_one(host, entry->d_name);
    if (shims)
        closedir(shims);
    if (--host->listing == 0)
        sweep_leftovers(host);
}
