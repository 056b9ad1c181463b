/*
 * Pods with a shim of their own, seen from the shared shim.
 *
 *   START ─► record ─► fork ──(socket pair)── the pod's shim
 *                       ◄── STATUS: recorded and passed on to the node
 *                       ──► messages about the pod, unchanged
 *                       exit: after a final STATUS all is well, else the pod is lost
 *
 * A fork is cheap, because the shim is small and no program has to be loaded. The child finds what
 * it needs at fixed numbers (entry.h), where the shared shim has put it; all other descriptors are
 * closed, among them the lock of the shared shim.
 *
 * When a pod's shim was killed, a sweeper process first removes what it left: control groups and
 * files. Then the pod is reported as lost. Programs of it die with their init, or become orphans.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/lost_pod.h"
#include "node/shim/shim.h"
#include "node/shim/shim_dir.h"

struct pod_shim {
    char uid[64];
    pid_t pid; /* process of the pod's shim, or of the sweeper after it; 0 = neither */
    bool swept, final, released; /* `swept`: a sweeper was started; the others say what is known of
                                  * the pod */
    UT_hash_handle by_uid, by_pid;
    struct shim *shim;
    struct frame_conn conn;
    struct buf last; /* the pod's newest STATUS, a whole frame */
};

static struct pod_shim *find(const struct shim *shim, const char *uid)
{
    struct pod_shim *child;

    HASH_FIND(by_uid, shim->pod_shims, uid, strlen(uid), child);
    return child;
}

static void pod_shim_free(struct pod_shim *child)
{
    frame_conn_close(&child->shim->reactor, &child->conn);
    if (child->pid)
        HASH_DELETE(by_pid, child->shim->pod_shims_by_pid, child);
    HASH_DELETE(by_uid, child->shim->pod_shims, child);
    buf_release(&child->last);
    mem_free(child);
}

static void set_process(struct pod_shim *child, pid_t pid)
{
    child->pid = pid;
    HASH_ADD(by_pid, child->shim->pod_shims_by_pid, pid, sizeof child->pid, child);
}

static void take_status(struct pod_shim *child, const char *bytes, size_t size, bool final)
{
    struct shim *shim = child->shim;

    buf_clear(&child->last);
    buf_add(&child->last, bytes, size);
    child->final = final;
    buf_add(&shim->records.pending, bytes, size);
    if (shim->node.source.fd >= 0)
        buf_add(&shim->node.out, bytes, size);
}

static void take_message(void *ctx, struct frame *frame, const char *bytes)
{
    struct pod_shim *child = ctx;
    struct frame_reader peek = frame->fields;
    const char *uid = frame_get_required_text(&peek);
    bool final = frame_get_u8(&peek) & SHIM_STATUS_FINAL;

    if (strcmp(uid, child->uid) != 0 || child->final)
        return; /* a final status is not replaced */
    if (frame->type == SHIM_STATUS)
        take_status(child, bytes, frame->size, final);
    else if (frame->type == SHIM_EXECUTED && child->shim->node.source.fd >= 0)
        buf_add(&child->shim->node.out, bytes, frame->size);
}

static void read_messages(struct pod_shim *child)
{
    bool open = child->conn.source.fd >= 0 && frame_conn_read(&child->conn);

    if (!frame_conn_take(&child->conn, take_message, child) && child->pid)
        kill(child->pid, SIGKILL); /* its pid is not reused before it is reaped */
    if (!open)
        frame_conn_close(&child->shim->reactor, &child->conn);
}

static void on_pod_shim(struct source *source, uint32_t events)
{
    struct pod_shim *child = container_of(source, struct pod_shim, conn.source);

    if (events & EPOLLOUT)
        frame_conn_flush(&child->shim->reactor, &child->conn);
    if (events & ~(uint32_t)EPOLLOUT)
        read_messages(child);
}

static bool is_connected(const struct pod_shim *child)
{
    return child->conn.source.fd >= 0 && !child->final;
}

static void send_bytes(struct pod_shim *child, const char *bytes, size_t size)
{
    if (!is_connected(child))
        return;
    buf_add(&child->conn.out, bytes, size);
    frame_conn_flush(&child->shim->reactor, &child->conn);
}

static void release(struct pod_shim *child)
{
    if (!child->final)
        return;
    child->released = true;
    shim_put_command(&child->shim->records.pending, SHIM_RELEASE,
                     &(struct shim_command){.uid = child->uid});
    if (!child->pid)
        pod_shim_free(child);
}

bool pod_shim_forward(struct shim *shim, const struct frame *frame, const char *bytes)
{
    struct frame_reader peek = frame->fields;
    struct pod_shim *child;

    if (!shim->pod_shims || frame->type == SHIM_CONFIG || frame->type == SHIM_LIST ||
        frame->type == SHIM_BYE)
        return false;
    child = find(shim, frame_get_required_text(&peek));
    if (!child || (frame->type == SHIM_EXEC && !is_connected(child)))
        return false;
    if (frame->type == SHIM_RELEASE)
        release(child);
    else if (frame->type != SHIM_START) /* a START that is sent twice starts the pod once */
        send_bytes(child, bytes, frame->size);
    return true;
}

void pod_shim_send_config(struct shim *shim)
{
    scoped(buf) struct buf bytes = {0};

    shim_put_config(&bytes, &shim->config);
    for (struct pod_shim *child = shim->pod_shims; child; child = child->by_uid.next)
        send_bytes(child, bytes.data, bytes.len);
}

void pod_shim_stop_all(struct shim *shim)
{
    for (struct pod_shim *child = shim->pod_shims; child; child = child->by_uid.next) {
        scoped(buf) struct buf bytes = {0};

        shim_put_command(&bytes, SHIM_STOP,
                         &(struct shim_command){.uid = child->uid, .grace_ms = GRACE_FROM_SPEC});
        send_bytes(child, bytes.data, bytes.len);
    }
}

void pod_shim_put_statuses(const struct shim *shim, struct buf *out)
{
    for (const struct pod_shim *child = shim->pod_shims; child; child = child->by_uid.next)
        if (!child->released)
            buf_add(out, child->last.data, child->last.len);
}

void pod_shim_reserve_fds(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int at = SHIM_FD_PODS; at < SHIM_FD_REST; at++)
        if (at != fd)
            dup3(fd, at, O_CLOEXEC);
    if (fd >= SHIM_FD_REST)
        close(fd);
}

/* Moves a descriptor to a fixed number, which is reserved for it. */
static void move_to(int at, int *fd)
{
    int from = *fd;

    if (from < 0 || from == at)
        return;
    *fd = dup3(from, at, O_CLOEXEC);
    close(from);
}

/* Opens the directory of pods' files, unless it is open. */
static bool open_pods_dir(struct shim *shim)
{
    char path[SHIM_DIR_PATH_MAX];
    int fd;

    if (shim->pods_dir)
        return true;
    fd = openat(SHIM_FD_DIR, "../../" PODS_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    move_to(SHIM_FD_PODS, &fd);
    shim_dir_path(SHIM_FD_PODS, path);
    shim->pods_dir = mem_strdup(path);
    return true;
}

/* Connects to the private network, unless that is done. On failure a pod that needs the network is
 * refused when its sandbox is made. */
static void open_network(struct shim *shim)
{
    struct error err = {0};
    int dir_fd;

    if (!shim->config.private_network || netns_holder_alive(&shim->netns_holder))
        return;
    netns_holder_close(&shim->netns_holder);
    for (int at = SHIM_FD_HOLDER; at <= SHIM_FD_NET_USER; at++)
        dup3(SHIM_FD_NULL, at, O_CLOEXEC);
    dir_fd = openat(SHIM_FD_DIR, "../../net", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || !netns_holder_connect(dir_fd, &shim->netns_holder, &err))
        log_error("no private network", kv_str("why", err.message));
    if (dir_fd >= 0)
        close(dir_fd);
    move_to(SHIM_FD_HOLDER, &shim->netns_holder.fd);
    move_to(SHIM_FD_NET, &shim->netns_holder.network.net_fd);
    move_to(SHIM_FD_NET_USER, &shim->netns_holder.network.user_fd);
}

/* Loads the BPF programs that rewrite addresses, once for all pods. Without them the programs of
 * pods ask their shim. */
static void open_sockaddr_bpf(struct shim *shim)
{
    if (shim->config.sockaddr_method != SOCKADDR_METHOD_BPF ||
        sockaddr_bpf_is_open(&shim->sockaddr_bpf) || !sockaddr_bpf_open(&shim->sockaddr_bpf, NULL))
        return;
    for (int i = 0; i < SOCKADDR_BPF_FDS; i++)
        move_to(SHIM_FD_SOCKADDR_BPF + i, &shim->sockaddr_bpf.fds[i]);
}

bool pod_shim_die_with(pid_t shared_pid)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return getppid() == shared_pid;
}

NORETURN static void pod_shim_main(struct shim *parent, struct pod *pod, int socket_fd,
                                   pid_t shared_pid)
{
    struct shim shim = {
        .config = parent->config,
        .pods_dir = parent->pods_dir,
        .nofile_limit = parent->nofile_limit,
        .netns_holder = parent->netns_holder,
        .sockaddr_bpf = parent->sockaddr_bpf,
        .shared_pid = shared_pid,
    };

    setsid();
    prctl(PR_SET_NAME, "jobflow-pod", 0, 0, 0);
    dup3(socket_fd, SHIM_FD_SHARED, O_CLOEXEC);
    dup3(SHIM_FD_PODS, SHIM_FD_DIR, O_CLOEXEC);
    close_range(SHIM_FD_REST, ~0U, 0);
    _exit(pod_shim_die_with(shared_pid) ? shim_run(&shim, pod) : 1);
}

/* Forks the process of a pod's shim, which talks to `socket_fd`. Returns its pid, or -1 with
 * errno. */
static pid_t fork_pod_shim(struct shim *shim, struct pod *pod, int socket_fd)
{
    pid_t self = getpid(), pid;

    if (!open_pods_dir(shim))
        return -1;
    open_network(shim);
    cgroup_find_parents(); /* done before the fork, so that the child inherits the result */
    sockaddr_low_ports_move();
    open_sockaddr_bpf(shim);
    pid = fork();
    if (pid == 0)
        pod_shim_main(shim, pod, socket_fd, self);
    return pid;
}

/* Forks a process that removes what the killed shim of a pod has left. Returns its pid, or -1 with
 * errno. */
static pid_t fork_sweeper(struct shim *shim, const char *uid)
{
    pid_t self = getpid(), pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_NAME, "jobflow-sweep", 0, 0, 0);
    dup3(SHIM_FD_PODS, SHIM_FD_DIR, O_CLOEXEC);
    dup3(SHIM_FD_NULL, SHIM_FD_LISTEN, O_CLOEXEC);
    close_range(SHIM_FD_REST, ~0U, 0);
    if (!pod_shim_die_with(self))
        _exit(1);
    pod_sandbox_remove_lost(SHIM_FD_PODS, &uid, 1);
    _exit(0);
}

bool pod_shim_start(struct shim *shim, struct pod *pod)
{
    struct shim_status status = pod_status_now(pod);
    struct pod_shim *child;
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    pid = fork_pod_shim(shim, pod, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    child = mem_alloc(sizeof *child);
    *child = (struct pod_shim){.shim = shim, .conn.source = {on_pod_shim, ends[0]}};
    snprintf(child->uid, sizeof child->uid, "%s", pod->spec.uid);
    shim_put_status(&child->last, &status);
    reactor_add(&shim->reactor, &child->conn.source, EPOLLIN);
    HASH_ADD(by_uid, shim->pod_shims, uid, strlen(child->uid), child);
    set_process(child, pid);
    HASH_DELETE(by_uid, shim->pods, pod);
    pod_free(pod);
    return true;
}

bool pod_shim_has_process(const struct shim *shim, pid_t pid)
{
    struct pod_shim *child;

    HASH_FIND(by_pid, shim->pod_shims_by_pid, &pid, sizeof pid, child);
    return child != NULL;
}

static void set_lost(struct pod_shim *child)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf bytes = {0};
    struct frame frame;
    struct shim_status status;

    if (frame_next(child->last.data, child->last.len, &frame) != FRAME_WHOLE ||
        !shim_get_status(&frame.fields, arena, &status)) {
        log_error("state of a pod not understood", kv_str("pod", child->uid));
        status = (struct shim_status){.uid = child->uid};
    }
    lost_pod_status(&status, "SupervisorLost",
                    "the supervisor of the pod ended before the pod did");
    shim_put_status(&bytes, &status);
    take_status(child, bytes.data, bytes.len, true);
}

void pod_shim_exited(struct shim *shim, pid_t pid, int wait_status)
{
    struct pod_shim *child;

    HASH_FIND(by_pid, shim->pod_shims_by_pid, &pid, sizeof pid, child);
    if (!child)
        return;
    HASH_DELETE(by_pid, shim->pod_shims_by_pid, child);
    child->pid = 0;
    while (child->conn.source.fd >= 0)
        read_messages(child);
    if (wait_status && !child->swept) {
        child->swept = true;
        pid = fork_sweeper(shim, child->uid);
        if (pid > 0) {
            set_process(child, pid);
            return;
        }
        log_error("cannot remove what a pod has left", kv_str("pod", child->uid),
                  kv_str("why", strerrordesc_np(errno)));
    }
    if (!child->final)
        set_lost(child);
    if (child->released)
        pod_shim_free(child);
}

void pod_shim_free_all(struct shim *shim)
{
    for (struct pod_shim *child = shim->pod_shims, *next; child; child = next) {
        next = child->by_uid.next;
        pod_shim_free(child);
    }
}
