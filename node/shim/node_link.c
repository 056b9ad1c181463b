/*
 * The shim's side of the connection to the node, and of a pod's shim to the shared one.
 *
 * There is one node at a time. When a newer one connects, all that the older one sent is processed
 * first, so that the LIST of a restarted node never overtakes an earlier START. Each message type
 * has one function, named in `takers`.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/exec_helper.h"
#include "node/shim/shim.h"

/* A node that reads no more loses messages beyond this size; a new node asks for them with LIST. */
enum { OUT_MAX = 32 << 20 };

static struct pod *find(struct shim *shim, const char *uid)
{
    struct pod *pod;

    HASH_FIND(by_uid, shim->pods, uid, strlen(uid), pod);
    return pod;
}

static bool connected(const struct shim *shim)
{
    return shim->node.source.fd >= 0;
}

void node_link_put_status(struct shim *shim, const struct shim_status *status)
{
    if (shim->shared)
        shim_put_status(&shim->records.pending, status);
    if (connected(shim))
        shim_put_status(&shim->node.out, status);
}

static void take_config(struct shim *shim, struct frame *frame)
{
    size_t len = (size_t)(frame->fields.end - frame->fields.at);
    struct arena *arena = arena_new(len + 256);
    char *bytes = arena_alloc(arena, len + 1);
    struct frame_reader fields = {bytes, bytes + len, false};
    struct shim_config config;

    memcpy(bytes, frame->fields.at, len);
    if (!shim_get_config(&fields, arena, &config)) {
        arena_free(arena);
        return;
    }
    arena_free(shim->config_arena);
    shim->config_arena = arena;
    shim->config = config;
    if (shim->shared)
        pod_shim_send_config(shim);
}

static void take_start(struct shim *shim, struct frame *frame)
{
    struct pod *pod = shim->shared ? pod_new(shim, frame) : NULL;

    if (!pod) {
        log_error("start message not understood");
        return;
    }
    if (find(shim, pod->spec.uid)) { /* a START that is sent twice starts the pod once */
        pod_free(pod);
        return;
    }

    struct shim_status status = pod_status_now(pod);

    HASH_ADD_KEYPTR(by_uid, shim->pods, pod->spec.uid, strlen(pod->spec.uid), pod);
    shim_put_status(&shim->records.pending, &status);
    pod->next_due = shim->unrecorded;
    shim->unrecorded = pod;
    pod_listing_set(&pod->listing, LISTED_UNRECORDED); /* keeps pod_wake from waking the pod */
}

static void take_stop(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct pod *pod;

    if (!shim_get_command(&frame->fields, SHIM_STOP, &command))
        return;
    pod = find(shim, command.uid);
    if (pod && pod->life == LIFE_ACTIVE && command.grace_ms != GRACE_FROM_SPEC)
        pod->stopped = true; /* a stop by the node, not by the end of the shim */
    if (pod) {
        pod_stop(pod, command.grace_ms < 0 ? pod->spec.grace_ms : command.grace_ms);
        return;
    }
    shim_put_status(&shim->node.out,
                    &(struct shim_status){.uid = command.uid,
                                          .final = true,
                                          .status = {.phase = POD_FAILED,
                                                     .reason = "NotFound",
                                                     .message = "no such pod was ever started"}});
}

static void take_release(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct pod *pod;

    if (!shim_get_command(&frame->fields, SHIM_RELEASE, &command))
        return;
    pod = find(shim, command.uid);
    if (!pod || pod->life != LIFE_FINAL)
        return;
    shim_put_command(&shim->records.pending, SHIM_RELEASE, &command);
    HASH_DELETE(by_uid, shim->pods, pod);
    pod_free(pod);
}

static void take_list(struct shim *shim, struct frame *frame)
{
    for (struct pod *pod = shim->pods; pod; pod = pod->by_uid.next) {
        struct shim_status status = pod_status_now(pod);

        shim_put_status(&shim->node.out, &status);
    }
    pod_shim_put_statuses(shim, &shim->node.out);
    shim_put_plain(&shim->node.out, SHIM_LISTED);
}

static void take_hosts(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct error err = {0};

    if (shim_get_command(&frame->fields, SHIM_HOSTS, &command) && shim->sandbox &&
        strcmp(command.uid, shim->sandbox->pod->uid) == 0 &&
        !pod_sandbox_set_hosts(shim->sandbox, command.hosts, &err))
        log_error("cannot replace the hosts file", kv_str("why", err.message));
}

static void take_files(struct shim *shim, struct frame *frame)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct shim_files files;
    struct error err = {0};

    if (shim_get_files(&frame->fields, arena, &files) && shim->sandbox &&
        strcmp(files.uid, shim->sandbox->pod->uid) == 0 &&
        !pod_sandbox_set_files(shim->sandbox, files.index, &files.volume, &err))
        log_error("cannot replace files", kv_str("why", err.message));
}

static struct container *container_at(struct shim *shim, const char *uid, uint32_t index)
{
    struct pod *pod = find(shim, uid);

    return pod && pod->life == LIFE_ACTIVE && index < pod->n_containers ? &pod->containers[index]
                                                                        : NULL;
}

static void take_kill(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct container *c;

    if (!shim_get_command(&frame->fields, SHIM_KILL, &command))
        return;
    c = container_at(shim, command.uid, command.container);
    if (c)
        container_stop(c, command.grace_ms, command.why);
}

static void take_passed(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct container *c;

    if (!shim_get_command(&frame->fields, SHIM_PASSED, &command))
        return;
    c = container_at(shim, command.uid, command.container);
    if (c && c->pid)
        container_startup_passed(c);
}

static void take_deadline(struct shim *shim, struct frame *frame)
{
    struct shim_command command;
    struct pod *pod;

    if (!shim_get_command(&frame->fields, SHIM_DEADLINE, &command))
        return;
    pod = find(shim, command.uid);
    if (pod)
        pod_set_deadline(pod, command.deadline_ms);
}

static void take_program(struct shim *shim, struct frame *frame)
{
    struct frame_reader peek = frame->fields;
    const char *uid = frame_get_required_text(&peek);
    uint32_t index = frame_get_u32(&peek);
    struct container *c = peek.bad ? NULL : container_at(shim, uid, index);

    if (c)
        container_update_program(c, frame->fields);
}

static void put_executed(struct container *c, uint64_t id, int code, const char *text)
{
    if (connected(c->pod->shim))
        shim_put_executed(&c->pod->shim->node.out,
                          &(struct shim_executed){c->pod->spec.uid, id, code, text});
}

static void take_exec(struct shim *shim, struct frame *frame)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct shim_exec exec;
    struct container *c;

    if (!shim_get_exec(&frame->fields, arena, &exec))
        return;
    c = container_at(shim, exec.uid, exec.container);
    if (c)
        exec_helper_start(c, &exec.action, exec.limit_ms, put_executed, exec.id);
    else
        shim_put_executed(&shim->node.out, &(struct shim_executed){exec.uid, exec.id, -1,
                                                                   "the container does not run"});
}

static void take_bye(struct shim *shim, struct frame *frame)
{
    shim->node_left = true;
}

static void (*const takers[SHIM_MESSAGE_N])(struct shim *, struct frame *) = {
    [SHIM_CONFIG] = take_config,     [SHIM_START] = take_start,     [SHIM_STOP] = take_stop,
    [SHIM_RELEASE] = take_release,   [SHIM_LIST] = take_list,       [SHIM_BYE] = take_bye,
    [SHIM_HOSTS] = take_hosts,       [SHIM_KILL] = take_kill,       [SHIM_EXEC] = take_exec,
    [SHIM_FILES] = take_files,       [SHIM_PROGRAM] = take_program, [SHIM_PASSED] = take_passed,
    [SHIM_DEADLINE] = take_deadline,
};

static void hang_up(struct shim *shim);

/* Takes a message from the node. A message about a pod with a shim of its own is passed on to that
 * shim. */
static void take_frame(void *ctx, struct frame *frame, const char *bytes)
{
    struct shim *shim = ctx;

    if (frame->type >= SHIM_MESSAGE_N || !takers[frame->type])
        return;
    if (!shim->shared || !pod_shim_forward(shim, frame, bytes))
        takers[frame->type](shim, frame);
}

static void take_frames(struct shim *shim)
{
    if (frame_conn_take(&shim->node, take_frame, shim))
        return;
    log_error("message not understood, connection closed");
    hang_up(shim);
}

static void on_node(struct source *source, uint32_t events)
{
    struct shim *shim = container_of(source, struct shim, node.source);

    if (!(events & ~(uint32_t)EPOLLOUT))
        return;

    bool open = frame_conn_read(&shim->node);

    take_frames(shim);
    if (!open)
        hang_up(shim);
}

static void greet(struct shim *shim, int fd)
{
    struct frame_conn *node = &shim->node;

    alarm_clear(&shim->reactor, &shim->idle);
    shim->node_left = false;
    node->source = (struct source){on_node, fd};
    reactor_add(&shim->reactor, &node->source, EPOLLIN);
    shim_put_hello(&node->out, &(struct shim_hello){SHIM_VERSION, getpid()});
}

/* Kills the pod's programs and ends, because the shared shim has died and only it could report how
 * this pod ended. The node will report the pod as lost and remove its files. */
NORETURN static void end_with_shared(struct shim *shim)
{
    for (struct pod *pod = shim->pods; pod; pod = pod->by_uid.next)
        pod_stop(pod, 0);
    _exit(1);
}

static void hang_up(struct shim *shim)
{
    if (!connected(shim))
        return;
    if (!shim->shared)
        end_with_shared(shim);
    frame_conn_close(&shim->reactor, &shim->node);
    if (shim->next_node_fd >= 0) {
        greet(shim, shim->next_node_fd);
        shim->next_node_fd = -1;
    }
}

static void on_connect(struct source *source, uint32_t events)
{
    struct shim *shim = container_of(source, struct shim, listener);
    int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    if (!connected(shim)) {
        greet(shim, fd);
        return;
    }
    if (shim->next_node_fd >= 0)
        close(shim->next_node_fd); /* its node has connected again since, so it is not used */
    shim->next_node_fd = fd;
}

bool node_link_start(struct shim *shim, struct error *err)
{
    struct source *source = shim->shared ? &shim->listener : &shim->node.source;

    shim->node.source.fd = shim->next_node_fd = -1;
    *source = shim->shared ? (struct source){on_connect, SHIM_FD_LISTEN}
                           : (struct source){on_node, SHIM_FD_SHARED};
    if (!reactor_add(&shim->reactor, source, EPOLLIN))
        return error_errno(err, errno, "socket");
    return true;
}

void node_link_flush(struct shim *shim)
{
    if (!connected(shim))
        return;
    frame_conn_flush(&shim->reactor, &shim->node);
    if (shim->node.out.len > OUT_MAX)
        buf_clear(&shim->node.out);
}

void node_link_stop(struct shim *shim)
{
    if (shim->next_node_fd >= 0)
        close(shim->next_node_fd);
    shim->next_node_fd = -1;
    frame_conn_close(&shim->reactor, &shim->node);
}
