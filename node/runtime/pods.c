/*
 * The pods that the runtime knows: given to a shim, again when that died before it took them, and
 * told of until their last report is released.
 */
#include <string.h>

#include "base/mem.h"
#include "node/runtime/host.h"
#include "node/runtime/id_ranges.h"
#include "node/sandbox/isolation_level.h"
#include "node/shim/records.h"

enum { SHIM_TRIES = 3 }; /* shims a pod is given to, if they die before they take it */

struct host_pod *host_pod_find(struct host *host, const char *uid)
{
    struct host_pod *pod;

    HASH_FIND(by_uid, host->pods, uid, strlen(uid), pod);
    return pod;
}

struct host_pod *host_pod_new(struct host *host, const char *uid, struct link *link)
{
    struct host_pod *pod = mem_alloc(sizeof *pod);

    strncpy(pod->uid, uid, sizeof pod->uid - 1);
    pod->link = link;
    if (link)
        link->pods++;
    HASH_ADD(by_uid, host->pods, uid, strlen(pod->uid), pod);
    loop_hold(host->base.loop);
    return pod;
}

static void pod_settled(struct host *host, struct host_pod *pod)
{
    if (!pod->final)
        loop_unhold(host->base.loop);
    pod->final = true;
}

void host_pod_forget(struct host *host, struct host_pod *pod)
{
    struct link *link = pod->link;

    for (struct host_pod **at = &host->verdicts; *at; at = &(*at)->next_verdict)
        if (*at == pod) {
            *at = pod->next_verdict;
            break;
        }
    pod_settled(host, pod);
    HASH_DELETE(by_uid, host->pods, pod);
    buf_release(&pod->start);
    buf_release(&pod->orders);
    buf_release(&pod->verdict);
    mem_free(pod);
    if (link && --link->pods == 0 && link->fd < 0)
        host_drop_link(host, link);
}

/* The uid is the status's own: a pod released in answer to its last report is gone before the call
 * returns. */
static void report(struct host *host, struct host_pod *pod, const struct shim_status *status)
{
    struct runtime_report told = {status->uid, status->status, status->final};

    buf_release(&pod->start);
    if (pod->link && !status->final && pod->orders.len)
        buf_add(&pod->link->out, pod->orders.data, pod->orders.len);
    buf_release(&pod->orders);
    if (status->final)
        pod_settled(host, pod);
    host->base.report(host->base.ctx, &told);
}

void host_tell_later(struct host *host, struct host_pod *pod, const struct shim_status *status)
{
    if (!pod->verdict.len) {
        pod->next_verdict = host->verdicts;
        host->verdicts = pod;
    }
    buf_clear(&pod->verdict);
    shim_put_status(&pod->verdict, status);
    if (!host->found)
        loop_post(host->base.loop, &host->tell);
}

void host_tell_verdicts(struct task *task)
{
    struct host *host = container_of(task, struct host, tell);

    while (host->verdicts) {
        struct host_pod *pod = host->verdicts;
        struct arena *arena = arena_new(0);
        scoped(buf) struct buf bytes = pod->verdict;
        struct frame frame;
        struct shim_status status;

        host->verdicts = pod->next_verdict;
        pod->verdict = (struct buf){0};
        if (frame_next(bytes.data, bytes.len, &frame) == FRAME_WHOLE &&
            shim_get_status(&frame.fields, arena, &status))
            report(host, pod, &status);
        arena_free(arena);
    }
}

void host_take_status(struct host *host, struct link *link, const struct shim_status *status)
{
    struct host_pod *pod = host_pod_find(host, status->uid);

    if (!pod && !host->found)
        return; /* released meanwhile */
    if (!pod)
        pod = host_pod_new(host, status->uid, link);
    pod->found = host->found != NULL;
    if (pod->found || pod->verdict.len)
        host_tell_later(host, pod, status);
    else
        report(host, pod, status);
}

void host_fail_later(struct host *host, struct host_pod *pod, const char *reason,
                     const char *message)
{
    host_tell_later(host, pod,
                    &(struct shim_status){
                        .uid = pod->uid,
                        .final = true,
                        .status = {.phase = POD_FAILED, .reason = reason, .message = message}});
}

/* ---- starting ---- */

static struct link *pool_of(struct host *host, struct error *err)
{
    if (!host->pool)
        host->pool = link_launch(host, err);
    return host->pool;
}

static void send_start(struct host *host, struct host_pod *pod)
{
    struct error err = {0};
    struct link *link = pool_of(host, &err);

    if (!link || ++pod->tries > SHIM_TRIES) {
        host_fail_later(host, pod, "SupervisorLost",
                        link ? "no supervisor lived long enough to take the pod" : err.message);
        return;
    }
    pod->link = link;
    link->pods++;
    buf_add(&link->out, pod->start.data, pod->start.len);
}

/* Only programs of level full have any. */
static bool ids_of(struct host *host, const char *ns, uint32_t *out, struct error *err)
{
    if (host->config.level != ISOLATION_FULL)
        return true;
    if (!host->id_ranges)
        host->id_ranges = id_ranges_open(
            host->dir_fd, hash_stable(host->directory, strlen(host->directory)), err);
    *out = host->id_ranges ? id_ranges_of(host->id_ranges, ns, err) : 0;
    return *out != 0;
}

void host_start(struct runtime *rt, const struct runtime_pod *pod)
{
    struct host *host = container_of(rt, struct host, base);
    struct host_pod *known = host_pod_find(host, pod->uid);
    struct error err = {0};
    struct runtime_isolation rights = {0};
    enum shim_pod_kind kind;

    if (known)
        return; /* at most once */
    known = host_pod_new(host, pod->uid, NULL);
    if (!shim_uid_ok(pod->uid)) {
        host_fail_later(host, known, "InvalidPod", "the pod's uid is not one of ours");
        return;
    }
    kind = runtime_choose_way(pod, host->isolate_all || host->config.private_network);
    if (kind == SHIM_POD_SANDBOXED && !host_probe(host, &err)) {
        host_fail_later(host, known, "IsolationUnavailable", err.message);
        return;
    }
    rights.level = (enum isolation_level)host->config.level;
    if (kind == SHIM_POD_SANDBOXED && !ids_of(host, pod->ns, &rights.ids, &err)) {
        host_fail_later(host, known, "IsolationUnavailable", err.message);
        return;
    }
    runtime_put_start(&known->start, pod, kind, rights, loop_wall_ms(rt->loop));
    send_start(host, known);
}

void host_link_died(struct host *host, struct link *link)
{
    if (host->pool == link)
        host->pool = NULL;
    link->pods++; /* not dropped before it is buried */
    host_bury(host, link);
}

void host_link_buried(struct host *host, struct link *link)
{
    struct host_pod *next;

    for (struct host_pod *pod = host->pods; pod; pod = next) {
        next = pod->by_uid.next;
        if (pod->link != link || pod->final || pod->verdict.len)
            continue;
        pod->link = NULL; /* not in the records: it was never started */
        link->pods--;
        if (pod->start.len)
            send_start(host, pod);
        else
            host_fail_later(host, pod, "SupervisorLost",
                            "the supervisor of the pod ended and left no record");
    }
    if (link->listing)
        host_listed(host, link);
    if (--link->pods == 0)
        host_drop_link(host, link);
}
