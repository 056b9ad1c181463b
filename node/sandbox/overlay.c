/*
 * A private layer over one directory. See overlay.h.
 */
#include "node/sandbox/overlay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/mount_tree.h"

enum { PATH_BYTES = 4096, CHILDREN_MAX = 20000 };

/* A directory with the looks of another one; existing is fine. What is root's on the host is the
 * owner's here. -1 with errno. */
static int make_like(const struct layer *layer, int at_fd, const char *name, const char *host)
{
    struct stat info;
    int fd;

    if (mkdirat(at_fd, name, 0755) && errno != EEXIST)
        return -1;
    fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (stat(host, &info) || !S_ISDIR(info.st_mode))
        info = (struct stat){.st_mode = 0755};
    if (fchown(fd, info.st_uid ? info.st_uid : layer->owner,
               info.st_gid ? info.st_gid : layer->owner)) {
        /* an owner we cannot name: then it is ours */
    }
    fchmod(fd, info.st_mode & 07777);
    return fd;
}

static bool make_file(int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The point and its missing parents, each parent with the looks of the host's. */
static bool make_point(const struct layer *layer, int top_fd, const struct overlay_point *point)
{
    char host[PATH_BYTES], name[NAME_MAX + 1];
    int fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
    bool ok = fd >= 0;

    snprintf(host, sizeof host, "%s", layer->host);
    for (const char *at = point->path; ok && *at;) {
        size_t len = strcspn(at, "/"), host_len = strlen(host);
        const char *next = at + len + strspn(at + len, "/");
        int inner;

        if (len > NAME_MAX || snprintf(host + host_len, sizeof host - host_len, "/%.*s", (int)len,
                                       at) >= (int)(sizeof host - host_len)) {
            errno = ENAMETOOLONG;
            ok = false;
            break;
        }
        memcpy(name, at, len);
        name[len] = 0;
        if (!*next && !point->is_dir) {
            ok = make_file(fd, name);
            break;
        }
        inner = make_like(layer, fd, name, host);
        close(fd);
        fd = inner;
        ok = fd >= 0;
        at = next;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_points(const struct layer *layer, int top_fd)
{
    for (size_t i = 0; i < layer->n_points; i++)
        if (!make_point(layer, top_fd, &layer->points[i]))
            return false;
    return true;
}

static bool make_links(const struct layer *layer, int top_fd)
{
    for (size_t i = 0; i < layer->n_links; i++)
        if (symlinkat(layer->links[i].target, top_fd, layer->links[i].name) && errno != EEXIST)
            return false;
    return true;
}

/* ---- overlay ---- */

/* What makes one, with the working directory above `upper` and `work`. */
static bool set_overlay(int fs_fd, const struct layer *layer)
{
    return fsconfig(fs_fd, FSCONFIG_SET_STRING, "lowerdir", layer->host, 0) == 0 &&
           fsconfig(fs_fd, FSCONFIG_SET_STRING, "upperdir", "upper", 0) == 0 &&
           fsconfig(fs_fd, FSCONFIG_SET_STRING, "workdir", "work", 0) == 0 &&
           (!layer->user_namespace ||
            fsconfig(fs_fd, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0) &&
           fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
}

static bool mount_overlay(const struct layer *layer, int scratch_fd, int target_fd)
{
    int fs_fd = fsopen("overlay", FSOPEN_CLOEXEC);
    int tree_fd = fs_fd >= 0 && fchdir(scratch_fd) == 0 && set_overlay(fs_fd, layer)
                      ? fsmount(fs_fd, FSMOUNT_CLOEXEC, 0)
                      : -1;

    if (fs_fd >= 0)
        close(fs_fd);
    return tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, NULL);
}

static bool overlay(const struct layer *layer, int scratch_fd, int target_fd)
{
    int upper_fd = make_like(layer, scratch_fd, "upper", layer->host);
    bool ok = upper_fd >= 0 && mkdirat(scratch_fd, "work", 0700) == 0 &&
              make_links(layer, upper_fd) && make_points(layer, upper_fd);

    if (upper_fd >= 0)
        close(upper_fd);
    return ok && !strpbrk(layer->host, ",:\\") && mount_overlay(layer, scratch_fd, target_fd);
}

/* ---- mirror ---- */

static bool on_the_way(const struct layer *layer, const char *host)
{
    size_t top = strlen(layer->host) + 1, len = strlen(host);

    for (size_t i = 0; i < layer->n_points; i++)
        if (strncmp(layer->points[i].path, host + top, len - top) == 0 &&
            layer->points[i].path[len - top] == '/')
            return true;
    return false;
}

static bool replaced(const struct layer *layer, const char *host)
{
    size_t top = strlen(layer->host) + 1;

    for (size_t i = 0; i < layer->n_links; i++)
        if (strcmp(layer->links[i].name, host + top) == 0)
            return true;
    return false;
}

/* Directories still to be mirrored; each child that leads to a mount point becomes another one. */
struct pending {
    struct pending *next;
    int to_fd;
    char host[];
};

static bool pending_add(struct pending **list, const char *host, int to_fd)
{
    struct pending *pending = mem_alloc(sizeof *pending + strlen(host) + 1);

    memcpy(pending->host, host, strlen(host) + 1);
    pending->to_fd = to_fd;
    pending->next = *list;
    *list = pending;
    return true;
}

static bool mirror_child(const struct layer *layer, const char *host, const char *name, int to_fd,
                         struct pending **list)
{
    char link[PATH_BYTES];
    struct stat info;
    ssize_t n;
    int inner;
    bool ok;

    if (lstat(host, &info))
        return true; /* gone meanwhile */
    if (S_ISLNK(info.st_mode)) {
        n = readlink(host, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        return n <= 0 || symlinkat(link, to_fd, name) == 0;
    }
    if (!S_ISDIR(info.st_mode))
        return make_file(to_fd, name) && mount_tree_bind_path(host, to_fd, name);
    inner = make_like(layer, to_fd, name, host);
    if (inner >= 0 && on_the_way(layer, host))
        return pending_add(list, host, inner);
    ok = inner >= 0 && mount_tree_bind_path(host, to_fd, name);
    if (inner >= 0)
        close(inner);
    return ok;
}

static bool mirror_one(const struct layer *layer, const struct pending *pending,
                       struct pending **list)
{
    DIR *dir = opendir(pending->host);
    unsigned left = CHILDREN_MAX;
    bool ok = true;

    if (!dir)
        return errno == EACCES || errno == ENOENT;              /* what we may not see is empty */
    for (struct dirent *entry; ok && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        char child[PATH_BYTES];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || !left--)
            continue;
        if (snprintf(child, sizeof child, "%s/%s", pending->host, entry->d_name) <
                (int)sizeof child &&
            !replaced(layer, child))
            ok = mirror_child(layer, child, entry->d_name, pending->to_fd, list);
    }
    closedir(dir);
    return ok;
}

static bool mirror(const struct layer *layer, int to_fd)
{
    struct pending *list = NULL;
    bool ok = pending_add(&list, layer->host, fcntl(to_fd, F_DUPFD_CLOEXEC, 0));

    while (list) {
        struct pending *pending = list;

        list = pending->next;
        ok = ok && mirror_one(layer, pending, &list);
        close(pending->to_fd);
        mem_free(pending);
    }
    return ok;
}

/* By the programs that will see it: those of an owner of his own are nobody here. */
static bool is_readable(const struct layer *layer)
{
    const mode_t by_others = S_IROTH | S_IXOTH;
    struct stat info;

    if (!layer->owner)
        return access(layer->host, R_OK | X_OK) == 0;
    return stat(layer->host, &info) == 0 && (info.st_mode & by_others) == by_others;
}

bool overlay_mount(const struct layer *layer, int scratch_fd, int target_fd, struct error *err)
{
    bool readable = is_readable(layer), ok;
    int mirror_fd;

    if (readable && overlay(layer, scratch_fd, target_fd))
        return true;
    mirror_fd = make_like(layer, scratch_fd, "mirror", readable ? layer->host : "");
    ok = mirror_fd >= 0 && make_links(layer, mirror_fd) &&
         (!readable || mirror(layer, mirror_fd)) && make_points(layer, mirror_fd) &&
         mount_tree_bind(mirror_fd, true, target_fd, NULL);
    if (!ok)
        error_errno(err, errno, "cannot make a private layer over %s", layer->host);
    if (mirror_fd >= 0)
        close(mirror_fd);
    return ok;
}
