/*
 * The place of a shim on disk. See place.h.
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

void place_address(int dir_fd, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", dir_fd, SHIM_SOCKET);
}

static bool listen_in(struct place *place)
{
    struct sockaddr_un address;

    place_address(place->dir_fd, &address);
    place->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return place->listen_fd >= 0 &&
           bind(place->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(place->listen_fd, BACKLOG) == 0;
}

bool place_make(int shims_fd, const char *id, struct place *out, struct error *err)
{
    struct place place = {-1, -1};

    if (mkdirat(shims_fd, id, 0700))
        return errno == EEXIST ? error_set(err, ERR_EXISTS, "", "supervisor %s exists", id)
                               : error_errno(err, errno, "directory of supervisor %s", id);
    place.dir_fd = openat(shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (place.dir_fd < 0 || flock(place.dir_fd, LOCK_EX | LOCK_NB) || !listen_in(&place)) {
        error_errno(err, errno, "place of supervisor %s", id);
        place_close(&place);
        return false;
    }
    *out = place;
    return true;
}

void place_close(struct place *place)
{
    int fds[] = {place->dir_fd, place->listen_fd};

    for (size_t i = 0; i < countof(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void place_remove(int dir_fd)
{
    static const char *const names[] = {SHIM_SOCKET, "records", "log"};
    char link[64], path[4096];
    ssize_t n;
    int parent_fd;

    snprintf(link, sizeof link, "/proc/self/fd/%d", dir_fd);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    parent_fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < countof(names); i++)
        unlinkat(dir_fd, names[i], 0);
    if (strrchr(path, '/'))
        unlinkat(parent_fd, strrchr(path, '/') + 1, AT_REMOVEDIR);
    close(parent_fd);
}
