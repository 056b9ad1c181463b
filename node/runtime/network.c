/*
 * The private network from the node's side: its holder is started with the first life that wants
 * it, and found again by later ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "node/runtime/host.h"
#include "node/shim/entry.h"
#include "node/shim/shim_dir.h"

#define PLACE "net"

enum { TRIES = 100, TRY_NS = 10000000 };

static bool find_holder(struct host *host, struct error *err)
{
    int fd = openat(host->dir_fd, PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool lives = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    bool ok = lives && netns_holder_connect(fd, &host->holder, err);

    if (fd >= 0)
        close(fd);
    if (!lives && file_remove_tree(host->dir_fd, PLACE, NULL))
        error_set(err, ERR_NOT_FOUND, "network", "nobody holds the private network");
    return ok;
}

static bool start_holder(struct host *host, struct error *err)
{
    const char *level = isolation_level_text((enum isolation_level)host->config.level);
    struct shim_dir dir;
    pid_t pid;

    if (!shim_dir_create(host->dir_fd, PLACE, &dir, err))
        return false;
    pid = link_spawn(NETNS_HOLDER_NAME, level, &dir, host->logs_fd);
    if (pid < 0)
        error_errno(err, errno, "cannot start the holder of the private network");
    shim_dir_close(&dir);
    host->holder_pid = pid;
    return pid >= 0;
}

/* One that has just lost its last connection may still be on its way out. */
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

struct netns_holder host_network_line(struct host *host)
{
    struct netns_holder line = NETNS_HOLDER_NONE;
    int fd = openat(host->dir_fd, PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct error err = {0};

    if (fd < 0 || !netns_holder_connect(fd, &line, &err))
        log_warn("no connection to the private network", kv_str("why", err.message));
    if (fd >= 0)
        close(fd);
    return line;
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
