/*
 * The private network of pods. A process of its own, the holder, keeps the network namespace while
 * any node or pod is connected to it. The first node that needs the network starts the holder; a
 * later run finds it by its directory and connects again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "node/runtime/internal.h"
#include "node/shim/shim_dir.h"

#define HOLDER_DIR "net"

enum { TRIES = 100, TRY_NS = 10000000 };

static bool find_holder(struct host *host, struct error *err)
{
    int fd = openat(host->dir_fd, HOLDER_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool alive = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    bool ok = alive && netns_holder_connect(fd, &host->holder, err);

    if (fd >= 0)
        close(fd);
    if (!alive && file_remove_tree(host->dir_fd, HOLDER_DIR, NULL))
        error_set(err, ERR_NOT_FOUND, "network", "the private network has no holder");
    return ok;
}

static bool start_holder(struct host *host, struct error *err)
{
    const char *level = isolation_level_text((enum isolation_level)host->config.level);
    struct shim_dir dir;
    pid_t pid;

    if (!shim_dir_create(host->dir_fd, HOLDER_DIR, &dir, err))
        return false;
    pid = shim_link_spawn(NETNS_HOLDER_NAME, level, &dir, host->logs_fd);
    if (pid < 0)
        error_errno(err, errno, "cannot start the holder of the private network");
    shim_dir_close(&dir);
    host->holder_pid = pid;
    return pid >= 0;
}

/* Connects to the holder of the private network. A holder that has just lost its last connection
 * may still be ending, so this is tried repeatedly. */
bool host_network_open(struct host *host, struct error *err)
{
    const struct timespec pause = {0, TRY_NS};
    struct error why = {0};

    if (netns_holder_alive(&host->holder))
        return true;
    netns_holder_close(&host->holder);
    if (host->holder_pid > 0)
        waitpid(host->holder_pid, NULL, WNOHANG);
    for (unsigned i = 0; i < TRIES; i++) {
        if (find_holder(host, &why))
            return true;
        if (why.code == ERR_INTERNAL)
            break;
        if (!start_holder(host, &why))
            nanosleep(&pause, NULL);
    }
    if (err)
        *err = why;
    return false;
}

struct netns_holder host_network_connect_holder(struct host *host)
{
    struct netns_holder holder = NETNS_HOLDER_NONE;
    int fd = openat(host->dir_fd, HOLDER_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct error err = {0};

    if (fd < 0 || !netns_holder_connect(fd, &holder, &err))
        log_warn("no connection to the private network", kv_str("why", err.message));
    if (fd >= 0)
        close(fd);
    return holder;
}

int host_network_socket(struct host *host, int type)
{
    struct error err = {0};
    int fd = -1;

    if (host_network_open(host, &err))
        fd = netns_holder_socket(&host->holder, type, &err);
    if (fd < 0)
        log_warn("no socket of the private network", kv_str("why", err.message));
    return fd;
}
