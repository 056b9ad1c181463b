/*
 * Files and trees by descriptors. A file is looked at before it is opened, so that nothing but
 * regular files and directories is ever opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest/internal.h"
#include "base/mem.h"

enum { READ_BYTES = 1 << 20 };

char *digest_join(const char *dir, const char *name)
{
    const char *slash = *dir && dir[strlen(dir) - 1] != '/' ? "/" : "";

    return mem_printf("%s%s%s", dir, slash, name);
}

int digest_open(const struct digest_walk *walk, int dir_fd, const char *name, int flags)
{
    const struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };

    if (walk->bounds == DIGEST_ANYWHERE)
        return openat(dir_fd, name, flags | O_CLOEXEC);
    return (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
}

int digest_stat(const struct digest_walk *walk, int dir_fd, const char *name, struct stat *out)
{
    int fd, result;

    if (walk->bounds == DIGEST_ANYWHERE)
        return fstatat(dir_fd, name, out, 0);
    fd = digest_open(walk, dir_fd, name, O_PATH);
    if (fd < 0)
        return -1;
    result = fstat(fd, out);
    close(fd);
    return result;
}

static struct file_digest *add(struct file_digests *out, const char *shown, enum digest_type type)
{
    mem_grow(out->items, out->count, out->cap);
    out->items[out->count] = (struct file_digest){.path = mem_strdup(shown), .type = type};
    return &out->items[out->count++];
}

void digest_add_missing(const char *shown, struct file_digests *out)
{
    add(out, shown, DIGEST_MISSING);
}

static bool count_one(struct digest_walk *walk, const char *shown, struct error *err)
{
    return ++walk->files <= DIGEST_FILES_MAX ||
           error_set(err, ERR_TOO_LARGE, "", "%s: more than %d files", shown, DIGEST_FILES_MAX);
}

/* Opens for reading what an O_PATH descriptor stands for, without touching its time of access where
 * that is allowed. */
static int reopen(int path_fd)
{
    char link[64];
    int fd;

    snprintf(link, sizeof link, "/proc/self/fd/%d", path_fd);
    fd = open(link, O_RDONLY | O_CLOEXEC | O_NOATIME);
    return fd < 0 && errno == EPERM ? open(link, O_RDONLY | O_CLOEXEC) : fd;
}

static bool read_all(struct digest_walk *walk, int fd, struct sha256_state *state)
{
    ssize_t got;

    if (!walk->buffer)
        walk->buffer = mem_alloc(READ_BYTES);
    do {
        got = read(fd, walk->buffer, READ_BYTES);
        if (got > 0)
            sha256_feed(state, walk->buffer, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    return got == 0;
}

/* Reads a file that was a regular one a moment ago. Returns false with `err` if it has changed
 * meanwhile. */
static bool read_file(struct digest_walk *walk, int path_fd, const char *shown,
                      struct file_digest *out, struct error *err)
{
    const int64_t now_ns = clock_wall_ns(clock_real());
    struct file_stamp after;
    struct stat info;
    struct sha256_state *state;
    bool ok;
    int fd;

    if (fstat(path_fd, &info) || !S_ISREG(info.st_mode))
        return error_set(err, ERR_CONFLICT, "", "%s: changed while it was read", shown);
    fd = reopen(path_fd);
    if (fd < 0)
        return error_errno(err, errno, "%s", shown);
    if (info.st_size > READ_BYTES)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    file_stamp_of(&info, &out->stamp);
    state = sha256_begin();
    ok = (read_all(walk, fd, state) && !fstat(fd, &info)) || error_errno(err, errno, "%s", shown);
    sha256_end(state, &out->digest);
    close(fd);
    if (!ok)
        return false;
    file_stamp_of(&info, &after);
    if (!file_stamp_equal(&out->stamp, &after))
        return error_set(err, ERR_CONFLICT, "", "%s: changed while it was read", shown);
    out->settled = file_stamp_settled(&after, now_ns);
    if (out->settled)
        file_memory_put(walk->memory, &after, &out->digest);
    return true;
}

/* `flags`: O_NOFOLLOW inside a tree. */
static bool add_file(struct digest_walk *walk, int dir_fd, const char *name, int flags,
                     const struct stat *info, const char *shown, struct file_digests *out,
                     struct error *err)
{
    struct file_digest *file = add(out, shown, DIGEST_FILE);
    bool ok;
    int fd;

    file_stamp_of(info, &file->stamp);
    file->settled = file_memory_get(walk->memory, &file->stamp, &file->digest);
    if (file->settled)
        return true;
    fd = digest_open(walk, dir_fd, name, O_PATH | flags);
    if (fd < 0)
        return error_errno(err, errno, "%s", shown);
    ok = read_file(walk, fd, shown, file, err);
    close(fd);
    return ok;
}

static bool add_link(int dir_fd, const char *name, const char *shown, struct file_digests *out,
                     struct error *err)
{
    struct file_digest *link = add(out, shown, DIGEST_LINK);
    char text[PATH_MAX];
    ssize_t len = readlinkat(dir_fd, name, text, sizeof text);

    if (len < 0)
        return error_errno(err, errno, "%s", shown);
    sha256_of(text, (size_t)len, &link->digest);
    return true;
}

static bool refuse(const struct stat *info, const char *shown, struct error *err)
{
    const char *what = S_ISFIFO(info->st_mode)   ? "a FIFO"
                       : S_ISSOCK(info->st_mode) ? "a socket"
                                                 : "a device";

    return error_set(err, ERR_INVALID, "", "%s: it is %s, which has no content", shown, what);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool dir_names_read(int fd, struct dir_names *out)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        close(fd);
        return false;
    }
    errno = 0;
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (out->count > DIGEST_FILES_MAX) {
            errno = EOVERFLOW;
            break;
        }
        mem_grow(out->items, out->count, out->cap);
        out->items[out->count++] = mem_strdup(entry->d_name);
        errno = 0;
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    const int failed = errno;

    closedir(dir);
    errno = failed;
    return !failed;
}

void dir_names_release(struct dir_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        mem_free(names->items[i]);
    mem_free(names->items);
    *names = (struct dir_names){0};
}

static bool add_tree(struct digest_walk *walk, int fd, const struct stat *top, const char *shown,
                     int depth, struct file_digests *out, struct error *err);

static bool add_entry(struct digest_walk *walk, int dir_fd, const char *name,
                      const struct stat *top, const char *shown, int depth,
                      struct file_digests *out, struct error *err)
{
    struct stat info;
    int fd;

    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW))
        return error_errno(err, errno, "%s", shown);
    if (!count_one(walk, shown, err))
        return false;
    if (S_ISLNK(info.st_mode))
        return add_link(dir_fd, name, shown, out, err);
    if (S_ISREG(info.st_mode))
        return add_file(walk, dir_fd, name, O_NOFOLLOW, &info, shown, out, err);
    if (!S_ISDIR(info.st_mode))
        return refuse(&info, shown, err);
    if (info.st_dev != top->st_dev)
        return error_set(err, ERR_INVALID, "", "%s: another file system is mounted there", shown);
    add(out, shown, DIGEST_DIRECTORY);
    fd = digest_open(walk, dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return error_errno(err, errno, "%s", shown);
    return add_tree(walk, fd, top, shown, depth + 1, out, err);
}

/* Adds all that is in the directory `fd`, which is consumed. `top` is the root of the tree. */
static bool add_tree(struct digest_walk *walk, int fd, const struct stat *top, const char *shown,
                     int depth, struct file_digests *out, struct error *err)
{
    struct dir_names names = {0};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    bool ok = own >= 0;

    if (depth > DIGEST_DEPTH_MAX) {
        ok = error_set(err, ERR_TOO_LARGE, "", "%s: more than %d directories inside each other",
                       shown, DIGEST_DEPTH_MAX);
        close(fd);
    } else if (!dir_names_read(fd, &names) || !ok) {
        ok = error_errno(err, errno, "%s", shown);
    }
    for (size_t i = 0; ok && i < names.count; i++) {
        scoped_str path = digest_join(shown, names.items[i]);

        ok = add_entry(walk, own, names.items[i], top, path, depth, out, err);
    }
    dir_names_release(&names);
    if (own >= 0)
        close(own);
    return ok;
}

bool digest_add(struct digest_walk *walk, int dir_fd, const char *name, const struct stat *info,
                const char *shown, struct file_digests *out, struct error *err)
{
    int fd;

    if (!count_one(walk, shown, err))
        return false;
    if (S_ISREG(info->st_mode))
        return add_file(walk, dir_fd, name, 0, info, shown, out, err);
    if (!S_ISDIR(info->st_mode))
        return refuse(info, shown, err);
    add(out, shown, DIGEST_DIRECTORY);
    fd = digest_open(walk, dir_fd, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return error_errno(err, errno, "%s", shown);
    return add_tree(walk, fd, info, shown, 1, out, err);
}
