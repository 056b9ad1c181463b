/*
 * Finding pods of earlier lives.
 *
 * Each shim directory tells by its lock whether the shim lives. A living one is connected and asked
 * for its pods; a dead one is known by its records (reap_lost.c). A pod that is in neither was
 * never started. When all have been heard, what nobody has spoken of is removed on the pool; then
 * the pods are told of, and others may be started.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime/host.h"
#include "node/sandbox/cgroup.h"
#include "node/shim/records.h"

/* The link to the shim in a place: alive, or (fd -1) dead. NULL when there is no such place. */
static struct link *link_to(struct host *host, const char *id)
{
    int dir_fd = openat(host->shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct error err = {0};
    struct link *link = NULL;

    if (dir_fd < 0)
        return NULL;
    if (flock(dir_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        link = link_connect(host, id, dir_fd, &err);
    if (!link)
        link = link_dead(host, id, dir_fd);
    link->listing = host->found != NULL;
    host->listing += link->listing;
    return link;
}

static bool linked(const struct host *host, const char *id)
{
    for (const struct link *link = host->links; link; link = link->next)
        if (strcmp(link->id, id) == 0)
            return true;
    return false;
}

static void adopt_one(struct host *host, const char *id)
{
    struct link *link = linked(host, id) ? NULL : link_to(host, id);

    if (link && link->fd < 0)
        host_link_died(host, link);
    else if (link && !host->pool && !shim_uid_ok(id))
        host->pool = link;
}

/* What earlier lives left of which nobody knows: the shims of these pods were killed, and their
 * records released. */
struct clearing {
    struct pool_work work;
    struct host *host; /* NULL: freed meanwhile */
    int pods_fd;
    struct buf uids;    /* that are known, each ended by a NUL */
    const char **known; /* [n_known] in order */
    size_t n_known;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void know(struct clearing *clearing, const struct host *host)
{
    const char *uid;

    for (const struct host_pod *pod = host->pods; pod; pod = pod->by_uid.next)
        buf_add(&clearing->uids, pod->uid, strlen(pod->uid) + 1);
    clearing->known = mem_array(HASH_CNT(by_uid, host->pods) + 1, sizeof *clearing->known);
    uid = clearing->uids.data;
    for (size_t n = HASH_CNT(by_uid, host->pods); n; n--, uid += strlen(uid) + 1)
        clearing->known[clearing->n_known++] = uid;
    qsort(clearing->known, clearing->n_known, sizeof *clearing->known, compare);
}

/* <uid>, or <uid>.<volume>: no uid has a dot in it. */
static bool is_forgotten(const struct clearing *clearing, const char *name)
{
    char uid[sizeof((struct host_pod *)0)->uid];
    const char *key = uid;
    size_t len = strcspn(name, ".");

    if (!len || len >= sizeof uid)
        return false;
    memcpy(uid, name, len);
    uid[len] = 0;
    return !bsearch(&key, clearing->known, clearing->n_known, sizeof *clearing->known, compare);
}

static void clear_run(struct pool_work *work)
{
    struct clearing *clearing = container_of(work, struct clearing, work);
    int fd = openat(clearing->pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (is_forgotten(clearing, entry->d_name))
            file_remove_tree(clearing->pods_fd, entry->d_name, NULL);
    if (dir)
        closedir(dir);
    cgroup_remove_orphaned();
}

static void tell_found(struct host *host)
{
    runtime_found_fn found = host->found;

    host->found = NULL;
    for (struct host_pod *pod = host->pods; pod; pod = pod->by_uid.next)
        if (pod->found)
            found(host->base.ctx, pod->uid);
    loop_post(host->base.loop, host->adopted);
    loop_post(host->base.loop, &host->tell);
    loop_unhold(host->base.loop);
}

static void clear_done(struct pool_work *work)
{
    struct clearing *clearing = container_of(work, struct clearing, work);

    if (clearing->host) {
        clearing->host->clearing = NULL;
        tell_found(clearing->host);
    }
    mem_free(clearing->known);
    buf_release(&clearing->uids);
    close(clearing->pods_fd);
    mem_free(clearing);
}

static void clear_forgotten(struct host *host)
{
    struct clearing *clearing = mem_alloc(sizeof *clearing);

    clearing->work = (struct pool_work){.run = clear_run, .done = clear_done};
    clearing->host = host;
    clearing->pods_fd = fcntl(host->pods_fd, F_DUPFD_CLOEXEC, 0);
    know(clearing, host);
    host->clearing = clearing;
    loop_work(host->base.loop, &clearing->work);
}

void host_adoption_leave(struct host *host)
{
    if (host->clearing)
        host->clearing->host = NULL;
    if (host->found)
        loop_unhold(host->base.loop); /* asked what runs, and not waiting for the answer */
}

void host_listed(struct host *host, struct link *link)
{
    if (!link->listing)
        return;
    link->listing = false;
    if (--host->listing == 0)
        clear_forgotten(host);
}

/* Has the machine been restarted since a runtime last ran here? */
static bool machine_restarted(struct host *host)
{
    scoped_str path = mem_printf("/proc/self/fd/%d/boot", host->dir_fd);
    scoped(buf) struct buf before = {0};
    struct error err = {0};
    bool known = file_read(path, BOOT_ID_MAX, &before, &err);

    if (known && strcmp(before.data, host->boot_id) == 0)
        return false;
    if (!file_write_atomic(path, host->boot_id, strlen(host->boot_id), 0600, &err))
        log_error("cannot note the boot id", kv_str("why", err.message));
    return known;
}

void host_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    struct host *host = container_of(rt, struct host, base);
    int fd = fcntl(host->shims_fd, F_DUPFD_CLOEXEC, 0);
    DIR *shims = fd >= 0 ? fdopendir(fd) : NULL;

    host->found = found;
    host->adopted = done;
    host->listing = 1; /* until all are asked */
    loop_hold(rt->loop);
    rt->machine_restarted = machine_restarted(host);
    for (struct dirent *entry;
         shims && (entry = readdir(shims));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.')
            adopt_one(host, entry->d_name);
    if (shims)
        closedir(shims);
    if (--host->listing == 0)
        clear_forgotten(host);
}
