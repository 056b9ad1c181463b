/*
 * Asks supervisors which pods run, with the message LIST, on a socket that blocks.
 */
#include "node/runtime/running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/net/peer.h"
#include "node/shim/shim_dir.h"
#include "node/wire/message.h"

enum { READ_STEP = 64 << 10, WAIT_S = 10 };

struct uids {
    char **list; /* [n] uids, owned; one may be listed by two supervisors */
    size_t n, capacity;
};

/* Adds the pod of a STATUS, unless it has ended. */
static void take_status(struct frame *frame, struct uids *uids)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct shim_status status;

    if (!shim_get_status(&frame->fields, arena, &status) || status.final)
        return;
    mem_grow(uids->list, uids->n, uids->capacity);
    uids->list[uids->n++] = mem_strdup(status.uid);
}

/* Takes the whole frames at the start of `in`. Returns true when the list has ended. */
static bool take_frames(struct buf *in, struct uids *uids)
{
    struct frame frame;
    size_t at = 0;
    bool listed = false;

    while (!listed && frame_next(in->data + at, in->len - at, &frame) == FRAME_WHOLE) {
        if (frame.type == SHIM_STATUS)
            take_status(&frame, uids);
        listed = frame.type == SHIM_LISTED;
        at += frame.size;
    }
    memmove(in->data, in->data + at, in->len - at);
    in->len -= at;
    return listed;
}

static bool read_list(int fd, struct uids *uids)
{
    scoped(buf) struct buf in = {0};
    ssize_t n;

    do {
        buf_reserve(&in, READ_STEP);
        n = recv(fd, in.data + in.len, READ_STEP, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || in.len > FRAME_BYTES_MAX)
            return false;
        in.len += (size_t)n;
    } while (!take_frames(&in, uids));
    return true;
}

static bool ask(int fd, int dir_fd, const char *id, struct uids *uids, struct error *err)
{
    const struct timeval limit = {.tv_sec = WAIT_S};
    scoped(buf) struct buf out = {0};
    struct sockaddr_un address;

    shim_dir_address(dir_fd, &address);
    shim_put_plain(&out, SHIM_LIST);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        return error_errno(err, errno, "supervisor %s", id);
    if (!peer_is_ours(fd, id, err))
        return false;
    if (send(fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len || !read_list(fd, uids))
        return error_set(err, ERR_INTERNAL, "", "supervisor %s does not say which pods it has", id);
    return true;
}

/* Asks the supervisor of directory `id` if it lives: it then holds the lock of its directory. */
static bool ask_in(int shims_fd, const char *id, struct uids *uids, struct error *err)
{
    int dir_fd = openat(shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), fd;
    bool ok = true;

    if (dir_fd < 0)
        return true;
    if (flock(dir_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ok = fd >= 0 ? ask(fd, dir_fd, id, uids, err) : error_errno(err, errno, "socket");
        if (fd >= 0)
            close(fd);
    }
    close(dir_fd);
    return ok;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool running_pods(const char *node_dir, void (*found)(void *ctx, const char *uid), void *ctx,
                  struct error *err)
{
    scoped_str path = mem_printf("%s/shims", node_dir);
    struct uids uids = {0};
    DIR *shims = opendir(path);
    bool ok = shims || errno == ENOENT || error_errno(err, errno, "cannot open %s", path);

    for (struct dirent *entry;
         ok && shims && (entry = readdir(shims));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.')
            ok = ask_in(dirfd(shims), entry->d_name, &uids, err);
    if (shims)
        closedir(shims);
    if (uids.n)
        qsort(uids.list, uids.n, sizeof *uids.list, compare);
    for (size_t i = 0; i < uids.n; i++)
        if (ok && (i == 0 || strcmp(uids.list[i - 1], uids.list[i]) != 0))
            found(ctx, uids.list[i]);
    for (size_t i = 0; i < uids.n; i++)
        mem_free(uids.list[i]);
    mem_free(uids.list);
    return ok;
}
