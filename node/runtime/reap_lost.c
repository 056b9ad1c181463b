/*
 * The end of a dead shim. What it left may be large, so it is seen to on the pool:
 *
 *   its records are read ─► what still runs of lost pods is killed (it carries our mark)
 *       ─► their control groups and what they have on disk are removed
 *       ─► (the loop) what had come to its end is told as it was, the rest as lost
 *
 * So nobody hears that a pod is over before nothing is left of it. Until then nobody takes orders
 * about it, its link is not dropped, and adoption has not ended. Records of an earlier boot of the
 * machine kill nothing.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/runtime/host.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/lost_pod.h"
#include "node/shim/orphan_kill.h"
#include "node/shim/records.h"

struct recorded {
    UT_hash_handle by_uid;
    struct shim_status status;
};

struct burial {
    struct pool_work work;
    struct host *host; /* NULL: freed meanwhile, and the link with it */
    struct link *link;
    struct burial *next;
    char id[sizeof((struct link *)0)->id];
    char boot_id[sizeof((struct host *)0)->boot_id];
    int dir_fd, pods_fd;
    struct arena *arena;
    struct recorded *pods;
    bool unread; /* its records are there and cannot be read: why */
    struct error err;
};

/* ---- on the pool ---- */

static void take_record(void *ctx, struct frame *frame, const char *bytes)
{
    struct burial *burial = ctx;
    size_t len = (size_t)(frame->fields.end - frame->fields.at);
    char *copy = arena_alloc(burial->arena, len + 1);
    struct frame_reader fields = {copy, copy + len, false};
    struct recorded *known;
    struct shim_status status;
    struct shim_command order;

    memcpy(copy, frame->fields.at, len);
    if (frame->type == SHIM_STATUS && shim_get_status(&fields, burial->arena, &status)) {
        HASH_FIND(by_uid, burial->pods, status.uid, strlen(status.uid), known);
        if (!known) {
            known = arena_alloc(burial->arena, sizeof *known);
            known->status = status;
            HASH_ADD_KEYPTR(by_uid, burial->pods, status.uid, strlen(status.uid), known);
        } else {
            known->status = status;
        }
    } else if (frame->type == SHIM_RELEASE && shim_get_command(&fields, SHIM_RELEASE, &order)) {
        HASH_FIND(by_uid, burial->pods, order.uid, strlen(order.uid), known);
        if (known)
            HASH_DELETE(by_uid, burial->pods, known);
    }
}

/* Those that had not ended. Their uids (owned). */
static const char **lose_them(struct burial *burial, bool restarted, size_t *out_count)
{
    const char **lost = mem_array(HASH_CNT(by_uid, burial->pods) + 1, sizeof *lost);

    *out_count = 0;
    for (struct recorded *pod = burial->pods; pod; pod = pod->by_uid.next) {
        if (pod->status.final)
            continue;
        lost_pod_status(&pod->status, restarted ? "NodeRestarted" : "SupervisorLost",
                        restarted ? "the machine was restarted while the pod ran"
                                  : "the supervisor of the pod ended before the pod did");
        lost[(*out_count)++] = pod->status.uid;
    }
    return lost;
}

static void bury_run(struct pool_work *work)
{
    struct burial *burial = container_of(work, struct burial, work);
    char boot_id[BOOT_ID_MAX];
    const char **lost;
    size_t n_lost;
    bool restarted;

    burial->arena = arena_new(0);
    burial->unread = !records_read(burial->dir_fd, boot_id, take_record, burial, &burial->err) &&
                     burial->err.code != ERR_NOT_FOUND;
    restarted = strcmp(boot_id, burial->boot_id) != 0;
    lost = lose_them(burial, restarted, &n_lost);
    if (n_lost && !restarted)
        orphan_kill(lost, n_lost);
    cgroup_remove_lost((const char *[]){burial->id}, 1);
    if (n_lost)
        pod_sandbox_remove_lost(burial->pods_fd, lost, n_lost);
    mem_free(lost);
}

/* ---- on the loop ---- */

static void tell(struct host *host, struct burial *burial)
{
    for (struct recorded *pod = burial->pods; pod; pod = pod->by_uid.next) {
        struct host_pod *known = host_pod_find(host, pod->status.uid);

        if (known && (known->final || known->link != burial->link))
            continue;
        if (!known && host->found)
            known = host_pod_new(host, pod->status.uid, burial->link);
        if (known) {
            known->found = host->found != NULL;
            host_tell_later(host, known, &pod->status);
        }
    }
}

static void leave_list(struct burial *burial)
{
    struct burial **at = &burial->host->burials;

    while (*at != burial)
        at = &(*at)->next;
    *at = burial->next;
}

static void bury_done(struct pool_work *work)
{
    struct burial *burial = container_of(work, struct burial, work);
    struct host *host = burial->host;

    if (burial->unread)
        log_error("cannot read records", kv_str("shim", burial->id),
                  kv_str("why", burial->err.message));
    if (host) {
        leave_list(burial);
        tell(host, burial);
        host_link_buried(host, burial->link);
    }
    HASH_CLEAR(by_uid, burial->pods);
    arena_free(burial->arena);
    close(burial->dir_fd);
    close(burial->pods_fd);
    mem_free(burial);
}

void host_bury(struct host *host, struct link *link)
{
    struct burial *burial = mem_alloc(sizeof *burial);

    *burial = (struct burial){
        .work = {.run = bury_run, .done = bury_done},
        .host = host,
        .link = link,
        .dir_fd = fcntl(link->dir_fd, F_DUPFD_CLOEXEC, 0),
        .pods_fd = fcntl(host->pods_fd, F_DUPFD_CLOEXEC, 0),
    };
    memcpy(burial->id, link->id, sizeof burial->id);
    memcpy(burial->boot_id, host->boot_id, sizeof burial->boot_id);
    burial->next = host->burials;
    host->burials = burial;
    loop_work(host->base.loop, &burial->work);
}

void host_burials_leave(struct host *host)
{
    for (struct burial *burial = host->burials; burial; burial = burial->next)
        burial->host = NULL;
}
