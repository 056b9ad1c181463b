/*
 * A private overlay over one directory of the host is an overlayfs or, where there is none, a
 * mirror on a tmpfs, in which the children of the directory are bound one by one.
 */
#include "node/sandbox/mounts/overlay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/mounts/mount_tree.h"

enum { PATH_BYTES = 4096, CHILDREN_MAX = 20000 };

/* Makes a directory, unless it exists, with owner and mode of the directory `host` on the host.
 * What belongs to root there belongs to the overlay's owner here. Returns its descriptor, or -1
 * with errno. */
static int make_like(const struct overlay *overlay, int at_fd, const char *name, const char *host)
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
    if (fchown(fd, info.st_uid ? info.st_uid : overlay->owner,
               info.st_gid ? info.st_gid : overlay->owner)) {
        /* an id without a mapping: the directory stays ours */
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

/* Makes a mount point and its missing parents. Each parent is made like the host's. */
static bool make_point(const struct overlay *overlay, int top_fd, const struct overlay_point *point)
{
    char host[PATH_BYTES], name[NAME_MAX + 1];
    int fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
    bool ok = fd >= 0;

    snprintf(host, sizeof host, "%s", overlay->host);
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
        if (!*next && point->type == MOUNT_POINT_FILE) {
            ok = make_file(fd, name);
            break;
        }
        inner = make_like(overlay, fd, name, host);
        close(fd);
        fd = inner;
        ok = fd >= 0;
        at = next;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_points(const struct overlay *overlay, int top_fd)
{
    for (size_t i = 0; i < overlay->n_points; i++)
        if (!make_point(overlay, top_fd, &overlay->points[i]))
            return false;
    return true;
}

static bool make_links(const struct overlay *overlay, int top_fd)
{
    for (size_t i = 0; i < overlay->n_links; i++)
        if (symlinkat(overlay->links[i].target, top_fd, overlay->links[i].name) && errno != EEXIST)
            return false;
    return true;
}

/* Tells overlayfs its directories. The working directory holds `upper` and `work`. */
static bool configure(int fs_fd, const struct overlay *overlay)
{
    return fsconfig(fs_fd, FSCONFIG_SET_STRING, "lowerdir", overlay->host, 0) == 0 &&
           fsconfig(fs_fd, FSCONFIG_SET_STRING, "upperdir", "upper", 0) == 0 &&
           fsconfig(fs_fd, FSCONFIG_SET_STRING, "workdir", "work", 0) == 0 &&
           (!overlay->user_namespace ||
            fsconfig(fs_fd, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0) &&
           fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
}

static bool mount_kernel_overlay(const struct overlay *overlay, int scratch_fd, int target_fd)
{
    int fs_fd = fsopen("overlay", FSOPEN_CLOEXEC);
    int tree_fd = fs_fd >= 0 && fchdir(scratch_fd) == 0 && configure(fs_fd, overlay)
                      ? fsmount(fs_fd, FSMOUNT_CLOEXEC, 0)
                      : -1;

    if (fs_fd >= 0)
        close(fs_fd);
    return tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, NULL);
}

static bool make_kernel_overlay(const struct overlay *overlay, int scratch_fd, int target_fd)
{
    int upper_fd = make_like(overlay, scratch_fd, "upper", overlay->host);
    bool ok = upper_fd >= 0 && mkdirat(scratch_fd, "work", 0700) == 0 &&
              make_links(overlay, upper_fd) && make_points(overlay, upper_fd);

    if (upper_fd >= 0)
        close(upper_fd);
    return ok && !strpbrk(overlay->host, ",:\\") &&
           mount_kernel_overlay(overlay, scratch_fd, target_fd);
}

/* Returns whether there is a mount point below this directory of the host. */
static bool leads_to_point(const struct overlay *overlay, const char *host)
{
    size_t top = strlen(overlay->host) + 1, len = strlen(host);

    for (size_t i = 0; i < overlay->n_points; i++)
        if (strncmp(overlay->points[i].path, host + top, len - top) == 0 &&
            overlay->points[i].path[len - top] == '/')
            return true;
    return false;
}

static bool is_replaced_by_link(const struct overlay *overlay, const char *host)
{
    size_t top = strlen(overlay->host) + 1;

    for (size_t i = 0; i < overlay->n_links; i++)
        if (strcmp(overlay->links[i].name, host + top) == 0)
            return true;
    return false;
}

/* The directories that are still to be mirrored. A child that leads to a mount point is added to
 * the list; other children are bound whole. */
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

static bool mirror_child(const struct overlay *overlay, const char *host, const char *name,
                         int to_fd, struct pending **list)
{
    char link[PATH_BYTES];
    struct stat info;
    ssize_t n;
    int inner;
    bool ok;

    if (lstat(host, &info))
        return true; /* the child was removed after the directory was read */
    if (S_ISLNK(info.st_mode)) {
        n = readlink(host, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        return n <= 0 || symlinkat(link, to_fd, name) == 0;
    }
    if (!S_ISDIR(info.st_mode))
        return make_file(to_fd, name) && mount_tree_bind_path(host, to_fd, name);
    inner = make_like(overlay, to_fd, name, host);
    if (inner >= 0 && leads_to_point(overlay, host))
        return pending_add(list, host, inner);
    ok = inner >= 0 && mount_tree_bind_path(host, to_fd, name);
    if (inner >= 0)
        close(inner);
    return ok;
}

static bool mirror_one(const struct overlay *overlay, const struct pending *pending,
                       struct pending **list)
{
    DIR *dir = opendir(pending->host);
    unsigned left = CHILDREN_MAX;
    bool ok = true;

    if (!dir)
        return errno == EACCES || errno == ENOENT;              /* the child is shown empty */
    for (struct dirent *entry; ok && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        char child[PATH_BYTES];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || !left--)
            continue;
        if (snprintf(child, sizeof child, "%s/%s", pending->host, entry->d_name) <
                (int)sizeof child &&
            !is_replaced_by_link(overlay, child))
            ok = mirror_child(overlay, child, entry->d_name, pending->to_fd, list);
    }
    closedir(dir);
    return ok;
}

static bool mirror(const struct overlay *overlay, int to_fd)
{
    struct pending *list = NULL;
    bool ok = pending_add(&list, overlay->host, fcntl(to_fd, F_DUPFD_CLOEXEC, 0));

    while (list) {
        struct pending *pending = list;

        list = pending->next;
        ok = ok && mirror_one(overlay, pending, &list);
        close(pending->to_fd);
        mem_free(pending);
    }
    return ok;
}

/* Returns whether the pod's programs can read the directory. With ids of their own they have the
 * rights of others. */
static bool is_readable(const struct overlay *overlay)
{
    const mode_t by_others = S_IROTH | S_IXOTH;
    struct stat info;

    if (!overlay->owner)
        return access(overlay->host, R_OK | X_OK) == 0;
    return stat(overlay->host, &info) == 0 && (info.st_mode & by_others) == by_others;
}

bool overlay_mount(const struct overlay *overlay, int scratch_fd, int target_fd, struct error *err)
{
    bool readable = is_readable(overlay), ok;
    int mirror_fd;

    if (readable && make_kernel_overlay(overlay, scratch_fd, target_fd))
        return true;
    mirror_fd = make_like(overlay, scratch_fd, "mirror", readable ? overlay->host : "");
    ok = mirror_fd >= 0 && make_links(overlay, mirror_fd) &&
         (!readable || mirror(overlay, mirror_fd)) && make_points(overlay, mirror_fd) &&
         mount_tree_bind(mirror_fd, MOUNT_TREE_RECURSIVE, target_fd, NULL);
    if (!ok)
        error_errno(err, errno, "cannot make a private overlay over %s", overlay->host);
    if (mirror_fd >= 0)
        close(mirror_fd);
    return ok;
}
