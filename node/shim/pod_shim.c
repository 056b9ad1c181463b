/*
 * Pods with a shim of their own, from the shared one's side.
 *
 *   START ─► record ─► fork ──(socket pair)── the pod's shim
 *                       ◄── STATUS: written down and passed on
 *                       ──► orders about the pod, as they are
 *                       its process ends: after the last STATUS, or else the pod is lost
 *
 * A pod whose shim was killed is told as lost when a sweeper has removed what it left: control
 * groups, volumes on disk. What still runs of it dies with its init, or is a orphan.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/shim/lost_pod.h"
#include "node/shim/shim.h"

struct pod_shim {
    char uid[64];
    pid_t pid; /* of its shim, then maybe of its sweeper; 0 = neither */
    bool swept, final, released;
    UT_hash_handle by_uid, by_pid;
    struct shim *shim;
    struct frame_conn peer;
    struct buf last; /* its newest STATUS */
};

static struct pod_shim *find(const struct shim *shim, const char *uid)
{
    struct pod_shim *o;

    HASH_FIND(by_uid, shim->pod_shims, uid, strlen(uid), o);
    return o;
}

static void forget(struct pod_shim *o)
{
    frame_conn_close(&o->shim->reactor, &o->peer);
    if (o->pid)
        HASH_DELETE(by_pid, o->shim->pod_shims_by_pid, o);
    HASH_DELETE(by_uid, o->shim->pod_shims, o);
    buf_release(&o->last);
    mem_free(o);
}

static void has_process(struct pod_shim *o, pid_t pid)
{
    o->pid = pid;
    HASH_ADD(by_pid, o->shim->pod_shims_by_pid, pid, sizeof o->pid, o);
}

/* ---- what it tells ---- */

static void take_status(struct pod_shim *o, const char *bytes, size_t size, bool final)
{
    struct shim *shim = o->shim;

    buf_clear(&o->last);
    buf_add(&o->last, bytes, size);
    o->final = final;
    buf_add(&shim->records.pending, bytes, size);
    if (shim->node.source.fd >= 0)
        buf_add(&shim->node.out, bytes, size);
}

static void take_told(void *ctx, struct frame *frame, const char *bytes)
{
    struct pod_shim *o = ctx;
    struct frame_reader peek = frame->fields;
    const char *uid = frame_get_required_text(&peek);
    bool final = frame_get_u8(&peek) & SHIM_STATUS_FINAL;

    if (strcmp(uid, o->uid) != 0 || o->final)
        return; /* what is final stays so */
    if (frame->type == SHIM_STATUS)
        take_status(o, bytes, frame->size, final);
    else if (frame->type == SHIM_EXECUTED && o->shim->node.source.fd >= 0)
        buf_add(&o->shim->node.out, bytes, frame->size);
}

static void listen_to(struct pod_shim *o)
{
    bool open = o->peer.source.fd >= 0 && frame_conn_read(&o->peer);

    if (!frame_conn_take(&o->peer, take_told, o) && o->pid)
        kill(o->pid, SIGKILL); /* it has lost its mind; not reaped, so it is still the same */
    if (!open)
        frame_conn_close(&o->shim->reactor, &o->peer);
}

static void on_pod_shim(struct source *source, uint32_t events)
{
    struct pod_shim *o = container_of(source, struct pod_shim, peer.source);

    if (events & EPOLLOUT)
        frame_conn_flush(&o->shim->reactor, &o->peer);
    if (events & ~(uint32_t)EPOLLOUT)
        listen_to(o);
}

/* ---- what it is told ---- */

static bool listens(const struct pod_shim *o)
{
    return o->peer.source.fd >= 0 && !o->final;
}

static void tell(struct pod_shim *o, const char *bytes, size_t size)
{
    if (!listens(o))
        return;
    buf_add(&o->peer.out, bytes, size);
    frame_conn_flush(&o->shim->reactor, &o->peer);
}

static void release(struct pod_shim *o)
{
    if (!o->final)
        return;
    o->released = true;
    shim_put_command(&o->shim->records.pending, SHIM_RELEASE,
                     &(struct shim_command){.uid = o->uid});
    if (!o->pid)
        forget(o);
}

bool pod_shim_forward(struct shim *shim, const struct frame *frame, const char *bytes)
{
    struct frame_reader peek = frame->fields;
    struct pod_shim *o;

    if (!shim->pod_shims || frame->type == SHIM_CONFIG || frame->type == SHIM_LIST ||
        frame->type == SHIM_BYE)
        return false;
    o = find(shim, frame_get_required_text(&peek));
    if (!o || (frame->type == SHIM_EXEC && !listens(o)))
        return false;
    if (frame->type == SHIM_RELEASE)
        release(o);
    else if (frame->type != SHIM_START) /* sent twice; started once */
        tell(o, bytes, frame->size);
    return true;
}

static void tell_all(struct shim *shim, const struct buf *bytes)
{
    for (struct pod_shim *o = shim->pod_shims; o; o = o->by_uid.next)
        tell(o, bytes->data, bytes->len);
}

void pod_shim_send_config(struct shim *shim)
{
    scoped(buf) struct buf bytes = {0};

    shim_put_config(&bytes, &shim->config);
    tell_all(shim, &bytes);
}

void pod_shim_stop_all(struct shim *shim)
{
    for (struct pod_shim *o = shim->pod_shims; o; o = o->by_uid.next) {
        scoped(buf) struct buf bytes = {0};

        shim_put_command(&bytes, SHIM_STOP,
                         &(struct shim_command){.uid = o->uid, .grace_ms = GRACE_FROM_SPEC});
        tell(o, bytes.data, bytes.len);
    }
}

void pod_shim_put_statuses(const struct shim *shim, struct buf *out)
{
    for (const struct pod_shim *o = shim->pod_shims; o; o = o->by_uid.next)
        if (!o->released)
            buf_add(out, o->last.data, o->last.len);
}

/* ---- its life ---- */

bool pod_shim_start(struct shim *shim, struct pod *pod)
{
    struct shim_status status = pod_status_now(pod);
    struct pod_shim *o;
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    pid = pod_shim_fork(shim, pod, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    o = mem_alloc(sizeof *o);
    *o = (struct pod_shim){.shim = shim, .peer.source = {on_pod_shim, ends[0]}};
    snprintf(o->uid, sizeof o->uid, "%s", pod->spec.uid);
    shim_put_status(&o->last, &status);
    reactor_add(&shim->reactor, &o->peer.source, EPOLLIN);
    HASH_ADD(by_uid, shim->pod_shims, uid, strlen(o->uid), o);
    has_process(o, pid);
    HASH_DELETE(by_uid, shim->pods, pod);
    pod_free(pod);
    return true;
}

bool pod_shim_has_process(const struct shim *shim, pid_t pid)
{
    struct pod_shim *o;

    HASH_FIND(by_pid, shim->pod_shims_by_pid, &pid, sizeof pid, o);
    return o != NULL;
}

static void tell_lost(struct pod_shim *o)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf bytes = {0};
    struct frame frame;
    struct shim_status status;

    if (frame_next(o->last.data, o->last.len, &frame) != FRAME_WHOLE ||
        !shim_get_status(&frame.fields, arena, &status)) {
        log_error("state of a pod not understood", kv_str("pod", o->uid));
        status = (struct shim_status){.uid = o->uid};
    }
    lost_pod_status(&status, "SupervisorLost",
                    "the supervisor of the pod ended before the pod did");
    shim_put_status(&bytes, &status);
    take_status(o, bytes.data, bytes.len, true);
}

void pod_shim_exited(struct shim *shim, pid_t pid, int wait_status)
{
    struct pod_shim *o;

    HASH_FIND(by_pid, shim->pod_shims_by_pid, &pid, sizeof pid, o);
    if (!o)
        return;
    HASH_DELETE(by_pid, shim->pod_shims_by_pid, o);
    o->pid = 0;
    while (o->peer.source.fd >= 0)
        listen_to(o);
    if (wait_status && !o->swept) {
        o->swept = true;
        pid = pod_shim_fork_sweeper(shim, o->uid);
        if (pid > 0) {
            has_process(o, pid);
            return;
        }
        log_error("cannot remove what a pod has left", kv_str("pod", o->uid),
                  kv_str("why", strerrordesc_np(errno)));
    }
    if (!o->final)
        tell_lost(o);
    if (o->released)
        forget(o);
}

void pod_shim_free_all(struct shim *shim)
{
    for (struct pod_shim *o = shim->pod_shims, *next; o; o = next) {
        next = o->by_uid.next;
        forget(o);
    }
}
