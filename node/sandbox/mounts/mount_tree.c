/*
 * Mounts by descriptor, on open_tree, move_mount, mount_setattr and fsopen. Paths below a root are
 * opened by openat2 with RESOLVE_IN_ROOT, component by component where something is missing.
 */
#include "node/sandbox/mounts/mount_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* Translates mount_tree_flags to the AT_* flags of the system calls. */
static unsigned recursion(unsigned flags)
{
    return AT_EMPTY_PATH | (flags & MOUNT_TREE_RECURSIVE ? AT_RECURSIVE : 0);
}

int mount_tree_clone(int fd, unsigned flags, struct error *err)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    int tree_fd = open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursion(flags));

    if (tree_fd < 0) {
        error_errno(err, errno, "cannot copy the mount");
        return -1;
    }
    if (flags & MOUNT_TREE_READ_ONLY &&
        mount_setattr(tree_fd, "", recursion(flags), &attributes, sizeof attributes)) {
        error_errno(err, errno, "cannot make a mount read-only");
        close(tree_fd);
        return -1;
    }
    return tree_fd;
}

bool mount_tree_map_ids(int tree_fd, int user_fd, struct error *err)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)user_fd};

    return mount_setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                         sizeof attributes) == 0 ||
           error_errno(err, errno, "cannot map the ids of a mount");
}

bool mount_tree_detach(int tree_fd, struct error *err)
{
    struct mount_attr attributes = {.propagation = MS_SLAVE};

    return mount_setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                         sizeof attributes) == 0 ||
           error_errno(err, errno, "cannot make a mount private");
}

/* How many files a tmpfs of that size may have: even an empty one takes memory. */
static int64_t files_of(int64_t size_bytes)
{
    const int64_t bytes_each = 4096, at_least = 16384;

    return size_bytes / bytes_each > at_least ? size_bytes / bytes_each : at_least;
}

void mount_tree_tmpfs_options(int64_t size_bytes, char out[MOUNT_TREE_OPTIONS_MAX])
{
    int len = snprintf(out, MOUNT_TREE_OPTIONS_MAX, "mode=0755");

    if (size_bytes)
        snprintf(out + len, MOUNT_TREE_OPTIONS_MAX - (size_t)len, ",size=%lld,nr_inodes=%lld",
                 (long long)size_bytes, (long long)files_of(size_bytes));
}

int mount_tree_tmpfs(const char *mode, int64_t size_bytes, struct error *err)
{
    int fs_fd = fsopen("tmpfs", FSOPEN_CLOEXEC), tree_fd = -1;
    char size[32], files[32];

    snprintf(size, sizeof size, "%lld", (long long)size_bytes);
    snprintf(files, sizeof files, "%lld", (long long)files_of(size_bytes));
    if (fs_fd >= 0 && fsconfig(fs_fd, FSCONFIG_SET_STRING, "mode", mode, 0) == 0 &&
        (!size_bytes || (fsconfig(fs_fd, FSCONFIG_SET_STRING, "size", size, 0) == 0 &&
                         fsconfig(fs_fd, FSCONFIG_SET_STRING, "nr_inodes", files, 0) == 0)) &&
        fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        tree_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (tree_fd < 0)
        error_errno(err, errno, "cannot make a file system in memory");
    if (fs_fd >= 0)
        close(fs_fd);
    return tree_fd;
}

bool mount_tree_attach(int tree_fd, int target_fd, struct error *err)
{
    int failed =
        move_mount(tree_fd, "", target_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);

    if (failed)
        error_errno(err, errno, "cannot mount");
    close(tree_fd);
    return !failed;
}

static int open_inside(int root_fd, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, root_fd, *path ? path : ".", &how, sizeof how);
}

static bool make_one(int parent_fd, const char *name, enum mount_point type)
{
    int fd;

    if (type == MOUNT_POINT_DIR)
        return mkdirat(parent_fd, name, 0755) == 0 || errno == EEXIST;
    fd = openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EEXIST;
}

/* Creates what is missing on the way to `path`, and `path` itself as a directory or an empty file.
 * `path` is changed during the call and is the same afterwards. */
static bool make_all(int root_fd, char *path, enum mount_point type)
{
    for (char *name = path + strspn(path, "/"); *name;) {
        char *end = name + strcspn(name, "/"), *next = end + strspn(end, "/");
        const char cut = *end;
        int parent_fd;
        bool made;

        if (name > path)
            name[-1] = 0;
        parent_fd = open_inside(root_fd, name > path ? path : "");
        if (name > path)
            name[-1] = '/';
        if (parent_fd < 0)
            return false;
        *end = 0;
        made = make_one(parent_fd, name, *next ? MOUNT_POINT_DIR : type);
        close(parent_fd);
        if (!made)
            return false;
        *end = cut;
        name = next;
    }
    return true;
}

/* Makes a directory right below the root, where no link can lead elsewhere. It saves the general
 * way, component by component. Returns -1 if the directory exists. */
static int make_top(int root_fd, const char *name)
{
    return mkdirat(root_fd, name, 0755)
               ? -1
               : openat(root_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int mount_tree_make_point(int root_fd, const char *path, enum mount_point type, struct error *err)
{
    const char *name = path + strspn(path, "/");
    char copy[PATH_BYTES];
    bool is_top = type == MOUNT_POINT_DIR && *name && !strchr(name, '/');
    int fd = is_top ? make_top(root_fd, name) : -1;

    if (fd < 0)
        fd = open_inside(root_fd, path);
    if (fd < 0 && errno == ENOENT) {
        if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
            errno = ENAMETOOLONG;
        else if (make_all(root_fd, copy, type))
            fd = open_inside(root_fd, path);
    }
    if (fd < 0)
        error_errno(err, errno, "cannot make the mount point %s", path);
    return fd;
}

bool mount_tree_bind_path(const char *from, int at_fd, const char *name)
{
    return fchdir(at_fd) == 0 && mount(from, name, NULL, MS_BIND | MS_REC, NULL) == 0;
}

bool mount_tree_bind(int from_fd, unsigned flags, int target_fd, struct error *err)
{
    int tree_fd = mount_tree_clone(from_fd, flags, err);

    return tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, err);
}

int mount_tree_make_root(int fd, struct error *err)
{
    int tree_fd = mount_tree_clone(fd, 0, err);

    if (tree_fd < 0)
        return -1;
    if (move_mount(tree_fd, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0)
        return tree_fd;
    error_errno(err, errno, "cannot mount");
    close(tree_fd);
    return -1;
}

bool mount_tree_mount(const char *type, int at_fd, const char *name, unsigned long flags,
                      const char *options, struct error *err)
{
    return (fchdir(at_fd) == 0 && mount(type, name, type, flags, options) == 0) ||
           error_errno(err, errno, "cannot mount %s on %s", type, name);
}
