/*
 * Removes logs of deleted pods and directories of dead shims. That takes disk time, so it is done
 * on the pool, one batch at a time; what arrives meanwhile makes the next batch.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime/internal.h"

/* A batch of files to remove. */
struct purge {
    struct pool_work work;
    struct host *host; /* NULL: the host was freed meanwhile */
    int logs_fd, shims_fd;
    struct buf uids, shims; /* names of pods and of shim directories, each ended by a NUL */
    bool failed;            /* a shim directory could not be removed; `error` says why */
    struct error err;
};

static void purge_run(struct pool_work *work)
{
    struct purge *purge = container_of(work, struct purge, work);
    const char *end = purge->uids.data + purge->uids.len;

    for (const char *uid = purge->uids.data; uid < end; uid += strlen(uid) + 1)
        logs_remove(purge->logs_fd, uid);
    end = purge->shims.data + purge->shims.len;
    for (const char *id = purge->shims.data; id < end; id += strlen(id) + 1)
        if (!file_remove_tree(purge->shims_fd, id, &purge->err))
            purge->failed = true;
}

static void purge_begin(struct host *host);

static void purge_done(struct pool_work *work)
{
    struct purge *purge = container_of(work, struct purge, work);
    struct host *host = purge->host;

    if (purge->failed)
        log_warn("cannot remove a supervisor's directory", kv_str("why", purge->err.message));
    buf_release(&purge->uids);
    buf_release(&purge->shims);
    close(purge->logs_fd);
    close(purge->shims_fd);
    mem_free(purge);
    if (!host)
        return;
    host->purge = NULL;
    purge_begin(host);
}

/* Starts the waiting batch, unless one is in progress. */
static void purge_begin(struct host *host)
{
    if (host->purge || !host->waiting)
        return;
    host->purge = host->waiting;
    host->waiting = NULL;
    loop_work(host->base.loop, &host->purge->work);
}

static struct purge *waiting(struct host *host)
{
    struct purge *purge = host->waiting;

    if (purge)
        return purge;
    purge = host->waiting = mem_alloc(sizeof *purge);
    purge->work = (struct pool_work){.run = purge_run, .done = purge_done};
    purge->host = host;
    purge->logs_fd = fcntl(host->logs_fd, F_DUPFD_CLOEXEC, 0);
    purge->shims_fd = fcntl(host->shims_fd, F_DUPFD_CLOEXEC, 0);
    return purge;
}

void host_purge(struct runtime *rt, const char *uid)
{
    struct host *host = container_of(rt, struct host, base);

    if (!shim_uid_ok(uid))
        return;
    buf_add(&waiting(host)->uids, uid, strlen(uid) + 1);
    purge_begin(host);
}

void host_drop_link(struct host *host, struct shim_link *link)
{
    buf_add(&waiting(host)->shims, link->id, strlen(link->id) + 1);
    shim_link_free(link);
    purge_begin(host);
}

void host_purge_detach(struct host *host)
{
    struct purge *under_way = host->purge;

    host->purge = NULL;
    purge_begin(host); /* two batches may run at once: they remove different files */
    if (under_way)
        under_way->host = NULL;
    if (host->purge)
        host->purge->host = NULL;
}
