/*
 * The processes that the shared shim forks for pods: it is small, so a fork is cheap, and no
 * program has to be loaded. What they need lies at fixed numbers from the shared one's first moment
 * on; all other descriptors are closed, among them its lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/sandbox/cgroup_find.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim.h"
#include "node/shim/shim_dir.h"

void pod_shim_reserve_fds(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int at = SHIM_FD_PODS; at < SHIM_FD_REST; at++)
        if (at != fd)
            dup3(fd, at, O_CLOEXEC);
    if (fd >= SHIM_FD_REST)
        close(fd);
}

/* To a number of its own; what was there is nobody's. */
static void move_to(int at, int *fd)
{
    int from = *fd;

    if (from < 0 || from == at)
        return;
    *fd = dup3(from, at, O_CLOEXEC);
    close(from);
}

/* The directory of pods on disk, beside that of shims. */
static bool open_pods(struct shim *shim)
{
    char link[64], path[4096];
    int fd;
    ssize_t n;

    if (shim->pods_dir)
        return true;
    fd = openat(SHIM_FD_DIR, "../../" PODS_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    move_to(SHIM_FD_PODS, &fd);
    snprintf(link, sizeof link, "/proc/self/fd/%d", SHIM_FD_PODS);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    shim->pods_dir = mem_strdup(path);
    return true;
}

/* Before the first pod that is in it. A pod whose network cannot be had says so itself. */
static void open_network(struct shim *shim)
{
    struct error err = {0};
    int place_fd;

    if (!shim->config.private_network || netns_holder_alive(&shim->netns_holder))
        return;
    netns_holder_close(&shim->netns_holder);
    for (int at = SHIM_FD_HOLDER; at <= SHIM_FD_NET_USER; at++)
        dup3(SHIM_FD_NULL, at, O_CLOEXEC);
    place_fd = openat(SHIM_FD_DIR, "../../net", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place_fd < 0 || !netns_holder_connect(place_fd, &shim->netns_holder, &err))
        log_error("no private network", kv_str("why", err.message));
    if (place_fd >= 0)
        close(place_fd);
    move_to(SHIM_FD_HOLDER, &shim->netns_holder.fd);
    move_to(SHIM_FD_NET, &shim->netns_holder.network.net_fd);
    move_to(SHIM_FD_NET_USER, &shim->netns_holder.network.user_fd);
}

/* They would all have to load them; without them, programs ask. */
static void open_hook(struct shim *shim)
{
    if (shim->config.sockaddr_method != SOCKADDR_METHOD_BPF ||
        sockaddr_bpf_is_open(&shim->sockaddr_bpf) || !sockaddr_bpf_open(&shim->sockaddr_bpf, NULL))
        return;
    for (int i = 0; i < SOCKADDR_BPF_FDS; i++)
        move_to(SHIM_FD_SOCKADDR_BPF + i, &shim->sockaddr_bpf.fds[i]);
}

bool pod_shim_die_with(pid_t pool)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return getppid() == pool;
}

NORETURN static void live(struct shim *parent, struct pod *pod, int socket_fd, pid_t pool)
{
    struct shim shim = {
        .config = parent->config,
        .pods_dir = parent->pods_dir,
        .files = parent->files,
        .netns_holder = parent->netns_holder,
        .sockaddr_bpf = parent->sockaddr_bpf,
        .shared_pid = pool,
    };

    setsid();
    prctl(PR_SET_NAME, "jobflow-pod", 0, 0, 0);
    dup3(socket_fd, SHIM_FD_SHARED, O_CLOEXEC);
    dup3(SHIM_FD_PODS, SHIM_FD_DIR, O_CLOEXEC);
    close_range(SHIM_FD_REST, ~0U, 0);
    _exit(pod_shim_die_with(pool) ? shim_run(&shim, pod) : 1);
}

pid_t pod_shim_fork(struct shim *shim, struct pod *pod, int socket_fd)
{
    pid_t self = getpid(), pid;

    if (!open_pods(shim))
        return -1;
    open_network(shim);
    cgroup_find(); /* they would all have to look */
    sockaddr_low_ports_move();
    open_hook(shim);
    pid = fork();
    if (pid == 0)
        live(shim, pod, socket_fd, self);
    return pid;
}

pid_t pod_shim_fork_sweeper(struct shim *shim, const char *uid)
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
