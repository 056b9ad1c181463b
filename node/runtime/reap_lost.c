/*
 * Reaps the pods of a dead shim. They may have left much, so most of it is done on the pool:
 *
 *   read its records ─► kill processes of pods that had not ended (shim/lost_pod.h)
 *       ─► remove their control groups and files
 *       ─► on the loop: report ended pods as recorded, the others as lost
 *
 * So a pod is reported as ended only when nothing of it is left. Until then commands about it are
 * dropped, its link stays, and adoption is not done. Records of an earlier boot kill nothing,
 * because its process ids mean other processes now.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/runtime/internal.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/lost_pod.h"
#include "node/shim/records.h"

struct recorded {
    UT_hash_handle by_uid;
    struct shim_status status;
};

struct reap {
    struct pool_work work;
    struct host *host; /* NULL: the host was freed meanwhile, and the link with it */
    struct shim_link *link;
    struct reap *next;
    char id[sizeof((struct shim_link *)0)->id];
    char boot_id[sizeof((struct host *)0)->boot_id];
    int dir_fd, pods_fd;
    struct arena *arena;
    struct recorded *pods;
    bool unread; /* the records exist and cannot be read; `error` says why */
    struct error err;
};

static void read_record(void *ctx, struct frame *frame, const char *bytes)
{
    struct reap *reap = ctx;
    size_t len = (size_t)(frame->fields.end - frame->fields.at);
    char *copy = arena_alloc(reap->arena, len + 1);
    struct frame_reader fields = {copy, copy + len, false};
    struct recorded *known;
    struct shim_status status;
    struct shim_command order;

    memcpy(copy, frame->fields.at, len);
    if (frame->type == SHIM_STATUS && shim_get_status(&fields, reap->arena, &status)) {
        HASH_FIND(by_uid, reap->pods, status.uid, strlen(status.uid), known);
        if (!known) {
            known = arena_alloc(reap->arena, sizeof *known);
            known->status = status;
            HASH_ADD_KEYPTR(by_uid, reap->pods, status.uid, strlen(status.uid), known);
        } else {
            known->status = status;
        }
    } else if (frame->type == SHIM_RELEASE && shim_get_command(&fields, SHIM_RELEASE, &order)) {
        HASH_FIND(by_uid, reap->pods, order.uid, strlen(order.uid), known);
        if (known)
            HASH_DELETE(by_uid, reap->pods, known);
    }
}

/* Marks the pods that had not ended as lost. Returns their uids as an owned array. */
static const char **mark_lost(struct reap *reap, bool restarted, size_t *out_count)
{
    const char **lost = mem_array(HASH_CNT(by_uid, reap->pods) + 1, sizeof *lost);

    *out_count = 0;
    for (struct recorded *pod = reap->pods; pod; pod = pod->by_uid.next) {
        if (pod->status.final)
            continue;
        lost_pod_status(&pod->status, restarted ? "NodeRestarted" : "SupervisorLost",
                        restarted ? "the machine was restarted while the pod ran"
                                  : "the supervisor of the pod ended before the pod did");
        lost[(*out_count)++] = pod->status.uid;
    }
    return lost;
}

static void reap_run(struct pool_work *work)
{
    struct reap *reap = container_of(work, struct reap, work);
    char boot_id[BOOT_ID_MAX];
    const char **lost;
    size_t n_lost;
    bool restarted;

    reap->arena = arena_new(0);
    reap->unread = !records_read(reap->dir_fd, boot_id, read_record, reap, &reap->err) &&
                   reap->err.code != ERR_NOT_FOUND;
    restarted = strcmp(boot_id, reap->boot_id) != 0;
    lost = mark_lost(reap, restarted, &n_lost);
    if (n_lost && !restarted)
        lost_pods_kill(lost, n_lost);
    cgroup_remove_lost((const char *[]){reap->id}, 1);
    if (n_lost)
        pod_sandbox_remove_lost(reap->pods_fd, lost, n_lost);
    mem_free(lost);
}

static void report_pods(struct host *host, struct reap *reap)
{
    for (struct recorded *pod = reap->pods; pod; pod = pod->by_uid.next) {
        struct host_pod *known = host_pod_find(host, pod->status.uid);

        if (known && (known->final || known->link != reap->link))
            continue;
        if (!known && host->found)
            known = host_pod_new(host, pod->status.uid, reap->link);
        if (known) {
            known->found = host->found != NULL;
            host_report_later(host, known, &pod->status);
        }
    }
}

static void unlink_reap(struct reap *reap)
{
    struct reap **at = &reap->host->reaps;

    while (*at != reap)
        at = &(*at)->next;
    *at = reap->next;
}

static void reap_done(struct pool_work *work)
{
    struct reap *reap = container_of(work, struct reap, work);
    struct host *host = reap->host;

    if (reap->unread)
        log_error("cannot read records", kv_str("shim", reap->id),
                  kv_str("why", reap->err.message));
    if (host) {
        unlink_reap(reap);
        report_pods(host, reap);
        host_link_reaped(host, reap->link);
    }
    HASH_CLEAR(by_uid, reap->pods);
    arena_free(reap->arena);
    close(reap->dir_fd);
    close(reap->pods_fd);
    mem_free(reap);
}

void host_reap_lost(struct host *host, struct shim_link *link)
{
    struct reap *reap = mem_alloc(sizeof *reap);

    *reap = (struct reap){
        .work = {.run = reap_run, .done = reap_done},
        .host = host,
        .link = link,
        .dir_fd = fcntl(link->dir_fd, F_DUPFD_CLOEXEC, 0),
        .pods_fd = fcntl(host->pods_fd, F_DUPFD_CLOEXEC, 0),
    };
    memcpy(reap->id, link->id, sizeof reap->id);
    memcpy(reap->boot_id, host->boot_id, sizeof reap->boot_id);
    reap->next = host->reaps;
    host->reaps = reap;
    loop_work(host->base.loop, &reap->work);
}

void host_reap_detach(struct host *host)
{
    for (struct reap *reap = host->reaps; reap; reap = reap->next)
        reap->host = NULL;
}
