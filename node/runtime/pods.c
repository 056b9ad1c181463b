/*
 * The pods of the runtime: each is given to a shim, given again to another one if that shim died
 * before it reported on the pod, and kept until its final report is released.
 */
#include <string.h>

#include "base/mem.h"
#include "node/runtime/id_ranges.h"
#include "node/runtime/internal.h"
#include "node/sandbox/isolation_level.h"
#include "node/shim/records.h"

enum { SHIM_TRIES = 3 }; /* number of shims that a pod is given to before it fails */

struct host_pod *host_pod_find(struct host *host, const char *uid)
{
    struct host_pod *pod;

    HASH_FIND(by_uid, host->pods, uid, strlen(uid), pod);
    return pod;
}

struct host_pod *host_pod_new(struct host *host, const char *uid, struct shim_link *link)
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

static void pod_ended(struct host *host, struct host_pod *pod)
{
    if (!pod->final)
        loop_unhold(host->base.loop);
    pod->final = true;
}

void host_pod_forget(struct host *host, struct host_pod *pod)
{
    struct shim_link *link = pod->link;

    for (struct host_pod **at = &host->pending_reports; *at; at = &(*at)->next_pending)
        if (*at == pod) {
            *at = pod->next_pending;
            break;
        }
    pod_ended(host, pod);
    HASH_DELETE(by_uid, host->pods, pod);
    buf_release(&pod->start);
    buf_release(&pod->commands);
    buf_release(&pod->pending_report);
    mem_free(pod);
    if (link && --link->pods == 0 && link->fd < 0)
        host_drop_link(host, link);
}

/* Reports a status of a pod to the kubelet. The report borrows the uid from the status, because the
 * kubelet may release the pod, and so free it, inside the call. */
static void send_report(struct host *host, struct host_pod *pod, const struct shim_status *status)
{
    struct runtime_report report = {status->uid, status->status, status->final, status->stopped};

    buf_release(&pod->start);
    if (pod->link && !status->final && pod->commands.len)
        buf_add(&pod->link->out, pod->commands.data, pod->commands.len);
    buf_release(&pod->commands);
    if (status->final)
        pod_ended(host, pod);
    host->base.report(host->base.ctx, &report);
}

void host_report_later(struct host *host, struct host_pod *pod, const struct shim_status *status)
{
    if (!pod->pending_report.len) {
        pod->next_pending = host->pending_reports;
        host->pending_reports = pod;
    }
    buf_clear(&pod->pending_report);
    shim_put_status(&pod->pending_report, status);
    if (!host->found)
        loop_post(host->base.loop, &host->reports);
}

void host_send_reports(struct task *task)
{
    struct host *host = container_of(task, struct host, reports);

    while (host->pending_reports) {
        struct host_pod *pod = host->pending_reports;
        struct arena *arena = arena_new(0);
        scoped(buf) struct buf bytes = pod->pending_report;
        struct frame frame;
        struct shim_status status;

        host->pending_reports = pod->next_pending;
        pod->pending_report = (struct buf){0};
        if (frame_next(bytes.data, bytes.len, &frame) == FRAME_WHOLE &&
            shim_get_status(&frame.fields, arena, &status))
            send_report(host, pod, &status);
        arena_free(arena);
    }
}

void host_status_received(struct host *host, struct shim_link *link,
                          const struct shim_status *status)
{
    struct host_pod *pod = host_pod_find(host, status->uid);

    if (!pod && !host->found)
        return; /* the pod was released meanwhile */
    if (!pod)
        pod = host_pod_new(host, status->uid, link);
    pod->found = host->found != NULL;
    if (pod->found || pod->pending_report.len)
        host_report_later(host, pod, status);
    else
        send_report(host, pod, status);
}

void host_fail_later(struct host *host, struct host_pod *pod, const char *reason,
                     const char *message)
{
    host_report_later(host, pod,
                      &(struct shim_status){
                          .uid = pod->uid,
                          .final = true,
                          .status = {.phase = POD_FAILED, .reason = reason, .message = message}});
}

static struct shim_link *shared_shim_of(struct host *host, struct error *err)
{
    if (!host->shared)
        host->shared = shim_link_launch(host, err);
    return host->shared;
}

static void send_start(struct host *host, struct host_pod *pod)
{
    struct error err = {0};
    struct shim_link *link = shared_shim_of(host, &err);

    if (!link || ++pod->tries > SHIM_TRIES) {
        host_fail_later(host, pod, "SupervisorLost",
                        link ? "every supervisor died before it took the pod" : err.message);
        return;
    }
    pod->link = link;
    link->pods++;
    buf_add(&link->out, pod->start.data, pod->start.len);
}

/* Finds the first id for the programs of a namespace; 0 below level full. Returns false with `err`
 * on failure. */
static bool ids_of(struct host *host, enum isolation_level level, const char *ns, uint32_t *out,
                   struct error *err)
{
    if (level != ISOLATION_FULL)
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
    struct runtime_isolation isolation = {0};
    enum shim_pod_kind kind;

    if (known)
        return; /* a pod is started at most once */
    known = host_pod_new(host, pod->uid, NULL);
    if (!shim_uid_ok(pod->uid)) {
        host_fail_later(host, known, "InvalidPod", "the pod's uid has an invalid form");
        return;
    }
    kind =
        runtime_choose_way(pod, host->isolate_all || host->config.private_network || pod->confined);
    if ((kind == SHIM_POD_SANDBOXED && !host_probe_capabilities(host, &err)) ||
        (pod->confined && !host_can_confine(host, &err))) {
        host_fail_later(host, known, "IsolationUnavailable", err.message);
        return;
    }
    if (kind == SHIM_POD_SANDBOXED)
        isolation.level =
            pod->confined ? isolation_level_confining() : (enum isolation_level)host->config.level;
    if (kind == SHIM_POD_SANDBOXED &&
        !ids_of(host, isolation.level, pod->ns, &isolation.ids, &err)) {
        host_fail_later(host, known, "IsolationUnavailable", err.message);
        return;
    }
    runtime_put_start(&known->start, pod, kind, isolation, loop_wall_ms(rt->loop));
    send_start(host, known);
}

void host_link_died(struct host *host, struct shim_link *link)
{
    if (host->shared == link)
        host->shared = NULL;
    link->pods++; /* keeps the link until the pod is reaped */
    host_reap_lost(host, link);
}

void host_link_reaped(struct host *host, struct shim_link *link)
{
    struct host_pod *next;

    for (struct host_pod *pod = host->pods; pod; pod = next) {
        next = pod->by_uid.next;
        if (pod->link != link || pod->final || pod->pending_report.len)
            continue;
        pod->link = NULL; /* the pod is not in the records, so it was never started */
        link->pods--;
        if (pod->start.len)
            send_start(host, pod);
        else
            host_fail_later(host, pod, "SupervisorLost",
                            "the supervisor of the pod ended and left no record");
    }
    if (link->listing)
        host_list_ended(host, link);
    if (--link->pods == 0)
        host_drop_link(host, link);
}
