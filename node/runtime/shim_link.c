/*
 * The runtime's side of a shim: it starts the process, connects to its socket, reads its frames and
 * sends it commands. A link without a connection (fd -1) stands for a dead shim.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/net/peer.h"
#include "node/exe/self_exe.h"
#include "node/runtime/internal.h"
#include "node/shim/entry.h"
#include "node/shim/shim_dir.h"

enum { READ_STEP = 64 << 10, FD_ABOVE = 16 };

static struct shim_link *link_new(struct host *host, const char *id, int dir_fd)
{
    struct shim_link *link = mem_alloc(sizeof *link);

    link->host = host;
    snprintf(link->id, sizeof link->id, "%s", id);
    link->dir_fd = dir_fd;
    link->fd = link->pidfd = -1;
    link->next = host->links;
    host->links = link;
    return link;
}

static void link_unused(struct shim_link *link)
{
    if (!link->dropped || link->handles)
        return;
    buf_release(&link->in);
    buf_release(&link->out);
    close(link->dir_fd);
    mem_free(link);
}

static void socket_closed(uv_handle_t *handle)
{
    struct shim_link *link = container_of((uv_poll_t *)handle, struct shim_link, poll);

    link->handles--;
    link_unused(link);
}

static void child_closed(uv_handle_t *handle)
{
    struct shim_link *link = container_of((uv_poll_t *)handle, struct shim_link, child);

    link->handles--;
    link_unused(link);
}

static void close_socket(struct shim_link *link)
{
    if (link->fd < 0)
        return;
    uv_poll_stop(&link->poll);
    close(link->fd);
    link->fd = -1;
    uv_close((uv_handle_t *)&link->poll, socket_closed);
}

static void close_child(struct shim_link *link)
{
    if (link->pidfd < 0)
        return;
    uv_poll_stop(&link->child);
    close(link->pidfd);
    link->pidfd = -1;
    uv_close((uv_handle_t *)&link->child, child_closed);
}

void shim_link_free(struct shim_link *link)
{
    for (struct shim_link **at = &link->host->links; *at; at = &(*at)->next)
        if (*at == link) {
            *at = link->next;
            break;
        }
    close_socket(link);
    close_child(link);
    link->dropped = true;
    link_unused(link);
}

struct shim_link *shim_link_to_dead(struct host *host, const char *id, int dir_fd)
{
    return link_new(host, id, dir_fd);
}

/* Handles the first message of a shim. A shim of another version, from before an upgrade, keeps its
 * pods and gets no new ones. */
static void read_hello(struct shim_link *link, struct frame *frame)
{
    struct shim_hello hello;

    if (shim_get_hello(&frame->fields, &hello) && hello.version == SHIM_VERSION)
        return;
    if (link->host->shared == link)
        link->host->shared = NULL;
}

static void read_frames(struct shim_link *link)
{
    struct arena *arena = arena_new(0); /* one arena for all frames of one read */
    struct frame frame;
    size_t at = 0;

    while (frame_next(link->in.data + at, link->in.len - at, &frame) == FRAME_WHOLE) {
        struct shim_status status;
        struct shim_executed executed;

        if (frame.type == SHIM_STATUS && shim_get_status(&frame.fields, arena, &status))
            host_status_received(link->host, link, &status);
        else if (frame.type == SHIM_LISTED)
            host_list_ended(link->host, link);
        else if (frame.type == SHIM_EXECUTED && link->host->base.exec_done &&
                 shim_get_executed(&frame.fields, &executed))
            link->host->base.exec_done(
                link->host->base.ctx,
                &(struct runtime_exec_result){executed.uid, executed.id, executed.code,
                                              executed.text ? executed.text : ""});
        else if (frame.type == SHIM_HELLO)
            read_hello(link, &frame);
        at += frame.size;
    }
    memmove(link->in.data, link->in.data + at, link->in.len - at);
    link->in.len -= at;
    arena_free(arena);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct shim_link *link = container_of(poll, struct shim_link, poll);
    ssize_t n;

    if (events & UV_WRITABLE)
        shim_link_flush(link);
    if (status >= 0 && !(events & UV_READABLE))
        return;
    for (;;) {
        buf_reserve(&link->in, READ_STEP);
        n = recv(link->fd, link->in.data + link->in.len, READ_STEP, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0)
            link->in.len += (size_t)n;
        if (n < READ_STEP)
            break;
    }

    bool ended = n == 0 || (n < 0 && errno != EAGAIN);

    if (link->in.len)
        read_frames(link);
    if (ended) {
        close_socket(link);
        host_link_died(link->host, link);
    }
}

void shim_link_flush(struct shim_link *link)
{
    bool full = false;

    while (link->fd >= 0 && link->out.len && !full) {
        ssize_t n = send(link->fd, link->out.data, link->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        full = n < (ssize_t)link->out.len;
        if (n <= 0)
            break; /* the socket is full or closed; the poll reports which */
        memmove(link->out.data, link->out.data + n, link->out.len - (size_t)n);
        link->out.len -= (size_t)n;
    }
    if (link->fd >= 0 && full != link->writing) {
        link->writing = full;
        uv_poll_start(&link->poll, UV_READABLE | (full ? UV_WRITABLE : 0), on_socket);
    }
}

static bool connect_link(struct shim_link *link, struct error *err)
{
    struct host *host = link->host;
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ours = false;

    shim_dir_address(link->dir_fd, &address);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        error_errno(err, errno, "supervisor %s", link->id);
    else
        ours = peer_is_ours(fd, link->id, err);
    if (!ours) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    link->fd = fd;
    uv_poll_init(loop_uv(host->base.loop), &link->poll, fd);
    link->handles++;
    uv_poll_start(&link->poll, UV_READABLE, on_socket);
    shim_put_config(&link->out, &host->config);
    shim_put_plain(&link->out, SHIM_LIST);
    return true;
}

struct shim_link *shim_link_connect(struct host *host, const char *id, int dir_fd,
                                    struct error *err)
{
    struct shim_link *link = link_new(host, id, dir_fd);

    if (connect_link(link, err))
        return link;
    link->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0); /* the caller keeps its own descriptor */
    shim_link_free(link);
    return NULL;
}

static void child_ended(uv_poll_t *poll, int status, int events)
{
    struct shim_link *link = container_of(poll, struct shim_link, child);
    siginfo_t info;

    waitid(P_PIDFD, (id_t)link->pidfd, &info, WEXITED | WNOHANG);
    close_child(link);
}

static void watch_child(struct shim_link *link, pid_t pid)
{
    link->pidfd = pidfd_open(pid, 0);
    if (link->pidfd < 0)
        return;
    uv_poll_init(loop_uv(link->host->base.loop), &link->child, link->pidfd);
    link->handles++;
    uv_poll_start(&link->child, UV_READABLE, child_ended);
}

/* Starts the shim program under `name`. The descriptors `fds` are in the order of SHIM_FD_*. */
static pid_t spawn_shim(const char *name, const char *arg,
                        const int fds[SHIM_FD_N - SHIM_FD_LISTEN])
{
    char *const argv[] = {(char *)name, (char *)arg, NULL}; /* posix_spawn only reads it */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char log_path[64];
    pid_t pid = -1;
    int error;

    snprintf(log_path, sizeof log_path, "/proc/self/fd/%d/log", fds[SHIM_FD_DIR - SHIM_FD_LISTEN]);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log_path, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    for (int fd = SHIM_FD_LISTEN; fd < SHIM_FD_N; fd++)
        posix_spawn_file_actions_adddup2(&files, fds[fd - SHIM_FD_LISTEN], fd);
    error = posix_spawn(&pid, self_exe_path(), &files, &attributes, argv, environ);
    if (error) /* the system may forbid to run programs from memory */
        error = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = error;
    return error ? -1 : pid;
}

pid_t shim_link_spawn(const char *name, const char *arg, const struct shim_dir *dir, int logs_fd)
{
    /* The descriptors are duplicated to numbers above those that the shim gets. */
    const int from[] = {dir->listen_fd, dir->dir_fd, logs_fd};
    int fds[countof(from)];
    pid_t pid;

    for (size_t i = 0; i < countof(from); i++)
        fds[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FD_ABOVE);
    pid = spawn_shim(name, arg, fds);
    for (size_t i = 0; i < countof(from); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return pid;
}

struct shim_link *shim_link_launch(struct host *host, struct error *err)
{
    char id[sizeof "pool." + CLOCK_UUID_LEN] = "pool."; /* no uid begins with this word */
    struct shim_dir dir;
    struct shim_link *link;
    pid_t pid;

    clock_uuid(loop_clock(host->base.loop), id + strlen(id));
    if (!shim_dir_create(host->shims_fd, id, &dir, err))
        return NULL;
    pid = shim_link_spawn(SHIM_NAME, host->own_keyrings ? SHIM_OWN_KEYRINGS : NULL, &dir,
                          host->logs_fd);
    if (pid < 0)
        error_errno(err, errno, "cannot start a supervisor");
    shim_dir_close(&dir);
    link = link_new(host, id, openat(host->shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (pid < 0 || !connect_link(link, err)) {
        host_drop_link(host, link);
        return NULL;
    }
    watch_child(link, pid);
    return link;
}
