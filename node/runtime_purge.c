/*
 * Removing logs of pods that are gone is work for the disk, so it is done on the pool, one batch at
 * a time.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/runtime_host.h"

/* One batch: its uids, each ended by a NUL. */
struct purge {
    struct pool_work work;
    struct host *host;
    int logs_fd;
    struct buf uids;
};

static void purge_run(struct pool_work *work)
{
    struct purge *purge = container_of(work, struct purge, work);
    const char *end = purge->uids.data + purge->uids.len;

    for (const char *uid = purge->uids.data; uid < end; uid += strlen(uid) + 1)
        logs_remove(purge->logs_fd, uid);
}

static void purge_done(struct pool_work *work)
{
    struct purge *purge = container_of(work, struct purge, work);
    struct host *host = purge->host;

    buf_release(&purge->uids);
    close(purge->logs_fd);
    mem_free(purge);
    if (!host)
        return; /* freed meanwhile */
    host->purge = NULL;
    host_purge_begin(host);
}

void host_purge_begin(struct host *host)
{
    struct purge *purge;

    if (host->purge || !host->purge_next.len)
        return;
    purge = mem_alloc(sizeof *purge);
    purge->work = (struct pool_work){.run = purge_run, .done = purge_done};
    purge->host = host;
    purge->logs_fd = fcntl(host->logs_fd, F_DUPFD_CLOEXEC, 0);
    purge->uids = host->purge_next;
    host->purge_next = (struct buf){0};
    host->purge = purge;
    loop_work(host->base.loop, &purge->work);
}

void host_purge_leave(struct host *host)
{
    if (host->purge)
        host->purge->host = NULL;
}
