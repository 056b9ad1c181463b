/*
 * Opens and makes paths of the host for volumes. openat2 with RESOLVE_BENEATH keeps links from
 * leading out of the base, and a check keeps the path and the kept directory from containing each
 * other.
 */
#include "node/sandbox/mounts/host_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The values of `hostPath.type`. `make` says that a missing path is made. */
struct type {
    const char *name;
    mode_t format;
    bool make;
};

static const struct type types[] = {
    {"Directory", S_IFDIR, false},   {"DirectoryOrCreate", S_IFDIR, true},
    {"File", S_IFREG, false},        {"FileOrCreate", S_IFREG, true},
    {"Socket", S_IFSOCK, false},     {"CharDevice", S_IFCHR, false},
    {"BlockDevice", S_IFBLK, false},
};

static const struct type *type_of(const struct shim_volume *volume)
{
    for (size_t i = 0; volume->host_type && i < countof(types); i++)
        if (strcmp(types[i].name, volume->host_type) == 0)
            return &types[i];
    return NULL; /* the volume asks for no type */
}

/* Returns the part of the volume's path behind its base directory. */
static const char *rest_of(const struct shim_volume *volume)
{
    const char *rest = volume->host_path + (volume->host_base ? strlen(volume->host_base) : 0);

    return rest + strspn(rest, "/");
}

static int open_base(const struct shim_volume *volume)
{
    return open(volume->host_base ? volume->host_base : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_below(const struct shim_volume *volume, int base_fd, const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = volume->host_base ? RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS : 0,
    };

    return (int)syscall(SYS_openat2, base_fd, *path ? path : ".", &how, sizeof how);
}

/* Turns an errno into an error about the volume's path. EXDEV means that a link leads out of the
 * base. */
static void set_error(const struct shim_volume *volume, int number, struct error *err)
{
    if (number == EXDEV)
        error_set(err, ERR_FORBIDDEN, "", "%s leads out of %s, which is all that may be mounted",
                  volume->host_path, volume->host_base);
    else
        error_errno(err, number, "%s", volume->host_path);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns whether `what` is the directory `dir_fd` or one of its ancestors. */
static bool lies_in(int dir_fd, const struct stat *what)
{
    int fd = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat at, last = {0};
    bool found = false;

    while (fd >= 0 && fstat(fd, &at) == 0 && !found && !is_same(&at, &last)) {
        int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        found = is_same(&at, what);
        last = at;
        close(fd);
        fd = above;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Opens the directory itself or, of a file, the directory that contains it. Returns -1 on
 * failure. */
static int directory_of(int fd)
{
    char link[64], path[PATH_MAX];
    struct stat info;
    ssize_t n;

    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        return openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    if (strrchr(path, '/'))
        strrchr(path, '/')[1] = 0;
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool conflicts_with(int fd, const char *keep)
{
    int keep_fd = open(keep, O_PATH | O_DIRECTORY | O_CLOEXEC), dir_fd = directory_of(fd);
    struct stat kept, shown;
    bool verdict = keep_fd < 0 || dir_fd < 0 || fstat(keep_fd, &kept) || fstat(fd, &shown) ||
                   lies_in(dir_fd, &kept) || lies_in(keep_fd, &shown);

    if (keep_fd >= 0)
        close(keep_fd);
    if (dir_fd >= 0)
        close(dir_fd);
    return verdict;
}

int host_path_open(const struct shim_volume *volume, struct error *err)
{
    int base_fd = open_base(volume);
    int fd = base_fd < 0 ? -1 : open_below(volume, base_fd, rest_of(volume));

    if (fd < 0)
        set_error(volume, errno, err);
    if (base_fd >= 0)
        close(base_fd);
    if (fd >= 0 && volume->host_keep && conflicts_with(fd, volume->host_keep)) {
        error_set(err, ERR_FORBIDDEN, "",
                  "%s holds the server's own data, or lies in it: that is never mounted",
                  volume->host_path);
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Makes one component of a path unless it exists. `fd`, the directory it is in, is closed; the
 * descriptor of the component is returned. The mode is applied whatever the umask. */
static int make_directory(int fd, const char *name, mode_t mode)
{
    bool made = mkdirat(fd, name, mode) == 0;
    int inner = made || errno == EEXIST
                    ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                    : -1;

    if (made && inner >= 0 && fchmod(inner, mode)) {
        close(inner);
        inner = -1;
    }
    close(fd);
    return inner;
}

static bool make_file(int fd, const char *name, mode_t mode)
{
    int file_fd = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    bool ok = file_fd >= 0 && fchmod(file_fd, mode) == 0;

    if (file_fd >= 0)
        close(file_fd);
    return ok;
}

/* Makes what is missing of the volume's path: directories, or a file in an existing directory.
 * Returns false with errno on failure. */
static bool make_missing(const struct shim_volume *volume, const struct type *type)
{
    const mode_t mode = volume->host_private ? 0700 : 0755, file_mode = 0644;
    char path[PATH_MAX];
    int base_fd, fd;
    bool ok = false;
    char *at = path;

    if (snprintf(path, sizeof path, "%s", rest_of(volume)) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    base_fd = open_base(volume);
    fd = base_fd < 0 ? -1 : open_below(volume, base_fd, "");
    while (fd >= 0 && *at) {
        char *end = at + strcspn(at, "/"), *next = end + strspn(end, "/"), cut = *end;
        int inner;

        *end = 0;
        inner = open_below(volume, base_fd, path);
        if (inner < 0 && errno == ENOENT && type->format == S_IFDIR) {
            fd = make_directory(fd, at, mode);
        } else if (inner < 0 && errno == ENOENT && !*next) {
            ok = make_file(fd, at, file_mode);
            break;
        } else {
            close(fd);
            fd = inner;
        }
        *end = cut;
        at = next;
    }
    if (fd >= 0)
        close(fd);
    if (base_fd >= 0)
        close(base_fd);
    return ok || fd >= 0;
}

bool host_path_ready(const struct shim_volume *volume, struct error *err)
{
    const struct type *type = type_of(volume);
    struct error missing = {0};
    struct stat info;
    bool fits;
    int fd;

    if (!type)
        return true;
    fd = host_path_open(volume, &missing);
    if (fd < 0 && missing.code == ERR_NOT_FOUND && type->make &&
        (volume->host_private || !volume->read_only)) {
        if (!make_missing(volume, type)) {
            set_error(volume, errno, err);
            return false;
        }
        fd = host_path_open(volume, &missing);
    }
    if (fd < 0) {
        if (err)
            *err = missing;
        return false;
    }
    fits = fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type->format;
    close(fd);
    return fits || error_set(err, ERR_INVALID, "", "hostPath type check failed: %s is not a %s",
                             volume->host_path, volume->host_type);
}
