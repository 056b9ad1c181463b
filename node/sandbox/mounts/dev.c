/*
 * Fills /dev of a container. Character devices are made by mknod where that is allowed, else bound
 * from the host. Directories are bound, and links are copied.
 */
#include "node/sandbox/mounts/dev.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/sandbox/mounts/mount_tree.h"

enum { PATH_BYTES = 4096 };

/* clang-format off */
static const struct {
    const char *name, *type, *options;
    mode_t mode;
} file_systems[] = {
    {"shm",    NULL,     NULL,                          01777}, /* a plain directory of the tmpfs */
    {"pts",    "devpts", "newinstance,ptmxmode=0666,mode=620", 0755},
    {"mqueue", "mqueue", NULL,                          01777},
};
/* Devices that a container does not get: those whose names are one of these words followed by a
 * digit or letter. */
static const char *const left_out[] = {"tty", "vcs", "loop", "ram", "pty"};
/* clang-format on */

static bool skip(const char *name)
{
    if (name[0] == '.' || strcmp(name, "ptmx") == 0)
        return true;
    for (size_t i = 0; i < countof(file_systems); i++)
        if (strcmp(name, file_systems[i].name) == 0)
            return true;
    for (size_t i = 0; i < countof(left_out); i++) {
        size_t len = strlen(left_out[i]);

        if (strncmp(name, left_out[i], len) == 0 && isalnum((unsigned char)name[len]))
            return true;
    }
    return false;
}

/* Returns whether programs of the pod may open a device of the host. Programs with ids of their own
 * have the rights of others. */
static bool may_open(const char *from, const struct stat *info, unsigned owner)
{
    if (owner)
        return info->st_mode & (S_IROTH | S_IWOTH);
    return access(from, R_OK) == 0 || access(from, W_OK) == 0;
}

/* Makes a device node for the same device, which is cheaper than a mount. A process in a user
 * namespace has no right to make one. */
static bool make_device(int dev_fd, const char *name, const struct stat *info)
{
    if (mknodat(dev_fd, name, info->st_mode, info->st_rdev))
        return false;
    if (!(info->st_uid || info->st_gid) ||
        fchownat(dev_fd, name, info->st_uid, info->st_gid, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    unlinkat(dev_fd, name, 0); /* the node would belong to the wrong user */
    return false;
}

/* Shows a device or directory of the host in the container. One that cannot be shown is left out,
 * and the pod starts without it. */
static void take(int dev_fd, const char *name, bool is_dir, unsigned owner)
{
    char from[PATH_BYTES];
    struct stat info;
    int fd;

    snprintf(from, sizeof from, "/dev/%s", name);
    if (is_dir)
        mkdirat(dev_fd, name, 0755);
    else if (stat(from, &info) || !may_open(from, &info, owner) ||
             (S_ISCHR(info.st_mode) && make_device(dev_fd, name, &info)))
        return;
    else if ((fd = openat(dev_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) >= 0)
        close(fd);
    if (!mount_tree_bind_path(from, dev_fd, name))
        unlinkat(dev_fd, name, is_dir ? AT_REMOVEDIR : 0);
}

static void take_link(int dev_fd, const char *name)
{
    char path[PATH_BYTES], target[PATH_BYTES];
    ssize_t n;

    snprintf(path, sizeof path, "/dev/%s", name);
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = 0;
    if (symlinkat(target, dev_fd, name))
        return;
}

bool dev_fill(int dev_fd, unsigned owner, struct error *err)
{
    DIR *dir = opendir("/dev");

    if (!dir)
        return error_errno(err, errno, "/dev");
    for (struct dirent *entry; (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        if (skip(entry->d_name))
            continue;
        if (entry->d_type == DT_LNK)
            take_link(dev_fd, entry->d_name);
        else if (entry->d_type != DT_BLK && entry->d_type != DT_SOCK)
            take(dev_fd, entry->d_name, entry->d_type == DT_DIR, owner);
    }
    closedir(dir);
    for (size_t i = 0; i < countof(file_systems); i++) {
        mkdirat(dev_fd, file_systems[i].name, file_systems[i].mode);
        /* The mount may fail: then programs have no terminals or queues. */
        if (file_systems[i].type)
            mount_tree_mount(file_systems[i].type, dev_fd, file_systems[i].name,
                             MS_NOSUID | MS_NOEXEC, file_systems[i].options, NULL);
    }
    return symlinkat("pts/ptmx", dev_fd, "ptmx") == 0 || error_errno(err, errno, "/dev/ptmx");
}
