/*
 * Bounded reads, durable replacement of a file (temporary file, sync, rename, sync of the
 * directory), and removal of trees by descriptor.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { READ_STEP = 64 * 1024 };

static inline UNUSED void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
#define scoped_fd __attribute__((cleanup(close_fd))) int

bool file_read(const char *path, size_t max_bytes, struct buf *out, struct error *err)
{
    /* O_NONBLOCK: opening a pipe or a device by mistake must not hang. */
    scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return error_errno(err, errno, "%s", path);
    return file_read_fd(fd, path, max_bytes, out, err);
}

bool file_read_fd(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                  struct error *err)
{
    struct stat info;

    if (fstat(fd, &info))
        return error_errno(err, errno, "%s", shown_name);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERR_INTERNAL, "", "%s: not a regular file", shown_name);
    /* The size is only a hint: files in /proc report 0, others grow. */
    if (info.st_size > 0 && (size_t)info.st_size <= max_bytes)
        buf_reserve(out, (size_t)info.st_size + 1);
    return file_read_stream(fd, shown_name, max_bytes, out, err);
}

bool file_read_stream(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                      struct error *err)
{
    size_t before = out->len;

    for (;;) {
        if (out->cap - out->len < 2)
            buf_reserve(out, READ_STEP);

        ssize_t n = read(fd, out->data + out->len, out->cap - out->len - 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int reason = errno;

            out->len = before;
            out->data[before] = '\0';
            return error_errno(err, reason, "%s", shown_name);
        }
        out->len += (size_t)n;
        out->data[out->len] = '\0';
        if (out->len - before > max_bytes) {
            out->len = before;
            out->data[before] = '\0';
            return error_set(err, ERR_TOO_LARGE, "", "%s: larger than %zu bytes", shown_name,
                             max_bytes);
        }
        if (!n)
            return true;
    }
}

bool file_write_all(int fd, const void *data, size_t len)
{
    const char *bytes = data;

    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

bool file_sync(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        error_errno(err, errno, "cannot sync %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool file_create_private(const char *path, struct error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno == EEXIST || error_errno(err, errno, "cannot create %s", path);
    close(fd);
    return true;
}

bool file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode,
                       struct error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    scoped_str dir = slash ? mem_printf("%.*s", (int)(slash - path + 1), path) : mem_strdup(".");
    scoped_fd dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (!*name)
        return error_set(err, ERR_INTERNAL, "", "%s: names no file", path);
    if (dir_fd < 0)
        return error_errno(err, errno, "%s", dir);

    char temporary[32];

    snprintf(temporary, sizeof temporary, ".tmp-%016llx",
             (unsigned long long)clock_random(clock_real()));

    int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0)
        return error_errno(err, errno, "%s", path);

    /* fchmod sets the requested mode whatever the umask is. close can report an error that write
     * did not. */
    bool written = !fchmod(fd, mode) && file_write_all(fd, bytes, len) && !fsync(fd);
    int reason = errno;

    if (close(fd) && written) {
        written = false;
        reason = errno;
    }
    if (written && renameat(dir_fd, temporary, dir_fd, name)) {
        written = false;
        reason = errno;
    }
    if (!written) {
        unlinkat(dir_fd, temporary, 0);
        return error_errno(err, reason, "%s", path);
    }
    if (fsync(dir_fd))
        return error_errno(err, errno, "%s", dir);
    return true;
}

static bool has_content(const char *path, const void *bytes, size_t len, mode_t mode)
{
    scoped(buf) struct buf text = {0};
    struct stat info;

    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 07777) == mode &&
           file_read(path, len, &text, NULL) && text.len == len &&
           (len == 0 || memcmp(text.data, bytes, len) == 0);
}

bool file_write_changed(const char *path, const void *bytes, size_t len, mode_t mode,
                        struct error *err)
{
    return has_content(path, bytes, len, mode) || file_write_atomic(path, bytes, len, mode, err);
}

bool file_mkdirs(const char *path, mode_t mode, struct error *err)
{
    scoped_str partial = mem_strdup(path);
    struct stat info;

    for (char *at = partial;;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");

        char after = *at;

        *at = '\0';
        if (*partial && mkdir(partial, mode) && errno != EEXIST) {
            int reason = errno;

            /* The directory may exist although its parent cannot be written. */
            if (stat(partial, &info))
                return error_errno(err, reason, "%s", partial);
        }
        if (!after)
            break;
        *at = after;
    }
    if (stat(path, &info))
        return error_errno(err, errno, "%s", path);
    if (!S_ISDIR(info.st_mode))
        return error_errno(err, ENOTDIR, "%s", path);
    return true;
}

/*
 * Removing a tree.
 *
 * Every step is relative to a descriptor of the parent directory and never follows a link, so
 * another process that moves directories meanwhile cannot redirect it outside the tree. A directory
 * on another mount is kept and reported. The number of descriptors is bounded: directories deeper
 * than DEPTH_MAX are first moved to the root of the tree.
 */
enum { DEPTH_MAX = 64 };

struct removal {
    int root_fd;
    uint64_t mount;
    bool has_mount_id; /* false before Linux 5.8; devices are compared then */
    unsigned moved;
    struct error *err;
    bool ok;
};

static void failed(struct removal *removal, int reason, const char *name)
{
    if (removal->ok)
        error_errno(removal->err, reason, "remove %s", name);
    removal->ok = false;
}

static bool mount_of(int fd, uint64_t *out_mount, bool *out_has_id)
{
    struct statx info;

    if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &info))
        return false;
    *out_has_id = info.stx_mask & STATX_MNT_ID;
    *out_mount =
        *out_has_id ? info.stx_mnt_id : ((uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor);
    return true;
}

/* Opens a directory to empty it. If its owner may not read or write it, and the owner is this user,
 * its mode is changed first. */
static int open_dir(int parent_fd, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent_fd, name, flags);

    if (fd < 0 && errno == EACCES) {
        scoped_fd handle = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char self[40];

        if (handle < 0)
            return -1;
        snprintf(self, sizeof self, "/proc/self/fd/%d", handle);
        if (chmod(self, S_IRWXU))
            return -1;
        fd = openat(parent_fd, name, flags);
    }
    if (fd >= 0) {
        struct stat info;

        if (!fstat(fd, &info) && (info.st_mode & S_IRWXU) != S_IRWXU)
            fchmod(fd, info.st_mode | S_IRWXU); /* best effort: if it fails, the unlink reports
                                                 * why */
    }
    return fd;
}

/* Clears the immutable flag. Only root can set it, and this code runs as root wherever it finds
 * one. */
static bool thaw(int fd)
{
    int flags;

    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) || !(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
        return false;
    flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
    return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

/* Thaws an entry of a directory. Only directories and regular files have the flag; others are not
 * opened, because opening a device can have effects. */
static bool thaw_entry(int dir_fd, const char *name)
{
    struct stat info;

    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) ||
        (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return false;

    scoped_fd fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && thaw(fd);
}

/* Removes an entry as unlinkat does, also one that is immutable or lies in an immutable directory
 * of the tree. */
static int unlink_any(int dir_fd, const char *name, int flags, bool in_tree)
{
    bool thawed;

    if (!unlinkat(dir_fd, name, flags))
        return 0;
    if (errno != EPERM)
        return -1;
    thawed = in_tree && thaw(dir_fd);
    thawed = thaw_entry(dir_fd, name) || thawed;
    errno = EPERM;
    return thawed ? unlinkat(dir_fd, name, flags) : -1;
}

static void remove_entry(struct removal *removal, int dir_fd, const char *name, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static void empty_dir(struct removal *removal, int dir_fd, unsigned depth)
{
    int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir) {
        failed(removal, errno, ".");
        if (copy >= 0)
            close(copy);
        return;
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(removal, dir_fd, entry->d_name, depth);
    }
    closedir(dir);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static void remove_entry(struct removal *removal, int dir_fd, const char *name, unsigned depth)
{
    if (!unlink_any(dir_fd, name, 0, true) || errno == ENOENT)
        return;
    if (errno != EISDIR && errno != EPERM) {
        failed(removal, errno, name);
        return;
    }

    if (depth == DEPTH_MAX) {
        char moved[32];

        snprintf(moved, sizeof moved, ".deep-%u-%08x", removal->moved++,
                 (unsigned)clock_random(clock_real()));
        if (renameat(dir_fd, name, removal->root_fd, moved))
            failed(removal, errno, name);
        return;
    }

    scoped_fd fd = open_dir(dir_fd, name);
    uint64_t mount;
    bool has_id;

    if (fd < 0) {
        if (errno != ENOENT)
            failed(removal, errno, name);
        return;
    }
    if (!mount_of(fd, &mount, &has_id)) {
        failed(removal, errno, name);
        return;
    }
    if (mount != removal->mount || has_id != removal->has_mount_id) {
        failed(removal, EXDEV, name);
        return;
    }
    empty_dir(removal, fd, depth + 1);
    if (unlink_any(dir_fd, name, AT_REMOVEDIR, true) && errno != ENOENT)
        failed(removal, errno, name);
}

bool file_remove_tree(int dir_fd, const char *name, struct error *err)
{
    if (!unlink_any(dir_fd, name, 0, false) || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return error_errno(err, errno, "remove %s", name);

    uint64_t outside;
    bool outside_has_id;
    scoped_fd root_fd = open_dir(dir_fd, name);
    struct removal removal = {.root_fd = root_fd, .err = err, .ok = true};

    if (root_fd < 0)
        return errno == ENOENT || error_errno(err, errno, "remove %s", name);

    /* For a name without a slash the parent is dir_fd: ".." could lead into a mount that lies over
     * it. */
    bool path = strchr(name, '/') != NULL;
    scoped_fd parent_fd = path ? openat(root_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    if ((path && parent_fd < 0) || !mount_of(root_fd, &removal.mount, &removal.has_mount_id) ||
        !mount_of(path ? parent_fd : dir_fd, &outside, &outside_has_id))
        return error_errno(err, errno, "remove %s", name);
    if (outside != removal.mount)
        return error_errno(err, EXDEV, "remove %s", name);

    /* Each pass may move deeper directories to the root; the next pass empties them. */
    unsigned moved;

    do {
        moved = removal.moved;
        empty_dir(&removal, root_fd, 0);
    } while (removal.ok && removal.moved != moved);
    if (!removal.ok)
        return false;
    if (unlink_any(dir_fd, name, AT_REMOVEDIR, false) && errno != ENOENT)
        return error_errno(err, errno, "remove %s", name);
    return true;
}
