/*
 * Creates, locks and removes the directory of a shim.
 */
#include "node/shim/shim_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/shim/entry.h"

enum { BACKLOG = 4 };

void shim_dir_address(int dir_fd, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", dir_fd, SHIM_SOCKET);
}

static bool listen_in(struct shim_dir *dir)
{
    struct sockaddr_un address;

    shim_dir_address(dir->dir_fd, &address);
    dir->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return dir->listen_fd >= 0 &&
           bind(dir->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(dir->listen_fd, BACKLOG) == 0;
}

bool shim_dir_create(int shims_fd, const char *id, struct shim_dir *out, struct error *err)
{
    struct shim_dir dir = {-1, -1};

    if (mkdirat(shims_fd, id, 0700))
        return errno == EEXIST ? error_set(err, ERR_EXISTS, "", "supervisor %s exists", id)
                               : error_errno(err, errno, "directory of supervisor %s", id);
    dir.dir_fd = openat(shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir.dir_fd < 0 || flock(dir.dir_fd, LOCK_EX | LOCK_NB) || !listen_in(&dir)) {
        error_errno(err, errno, "directory of supervisor %s", id);
        shim_dir_close(&dir);
        return false;
    }
    *out = dir;
    return true;
}

void shim_dir_close(struct shim_dir *dir)
{
    int fds[] = {dir->dir_fd, dir->listen_fd};

    for (size_t i = 0; i < countof(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void shim_dir_path(int dir_fd, char out[SHIM_DIR_PATH_MAX])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", dir_fd);
    n = readlink(link, out, SHIM_DIR_PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
}

void shim_dir_remove(int dir_fd)
{
    static const char *const names[] = {SHIM_SOCKET, "records", "log"};
    char path[SHIM_DIR_PATH_MAX];
    int parent_fd;

    shim_dir_path(dir_fd, path);
    parent_fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < countof(names); i++)
        unlinkat(dir_fd, names[i], 0);
    if (strrchr(path, '/'))
        unlinkat(parent_fd, strrchr(path, '/') + 1, AT_REMOVEDIR);
    close(parent_fd);
}
