/*
 * Makes, updates, measures and opens the volumes of a pod.
 */
#include "node/sandbox/mounts/volumes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/types/kinds/pod/volume_path.h"
#include "base/file.h"
#include "node/sandbox/mounts/host_path.h"
#include "node/sandbox/mounts/mount_tree.h"

enum { NAME_BYTES = 96, PATH_BYTES = 4096, BLOCK_BYTES = 512, DEPTH_MAX = 64 };

static bool is_file_path(const char *path)
{
    if (!*path || *path == '/' || strlen(path) >= PATH_BYTES)
        return false;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");

        if (!len || len > NAME_MAX || (len == 1 && at[0] == '.') ||
            (len >= 2 && strncmp(at, "..", 2) == 0))
            return false; /* names that begin with ".." are reserved for ..data and its versions */
        at += len;
        at += *at == '/';
    }
    return path[strlen(path) - 1] != '/';
}

/* Makes a directory, unless it exists, that all programs of the pod may enter, whatever the umask;
 * the modes of files decide what they may read. Returns its descriptor, or -1 with errno. */
static int make_directory(int at_fd, const char *name)
{
    bool made = mkdirat(at_fd, name, 0755) == 0;
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 || !made || fchmod(fd, 0755) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Writes a file of a volume below the directory `fd`, and makes the directories in its path. */
static bool write_file(int fd, const struct shim_file *file, struct error *err)
{
    int at_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), file_fd = -1;
    char name[NAME_MAX + 1];
    bool ok = false;

    for (const char *at = file->path; at_fd >= 0;) {
        size_t len = strcspn(at, "/");
        int inner;

        memcpy(name, at, len);
        name[len] = 0;
        if (!at[len])
            break;
        inner = make_directory(at_fd, name);
        close(at_fd);
        at_fd = inner;
        at += len + 1;
    }
    if (at_fd >= 0) /* in a projected volume several files may have one name: the last counts */
        file_fd = openat(at_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_fd >= 0)
        ok = file_write_all(file_fd, file->bytes, file->len) &&
             fchmod(file_fd, file->mode & 0777) == 0;
    if (!ok)
        error_errno(err, errno, "cannot write the file %s", file->path);
    if (file_fd >= 0)
        close(file_fd);
    if (at_fd >= 0)
        close(at_fd);
    return ok;
}

static bool link_first(int vol_fd, const char *path, struct error *err)
{
    char name[NAME_MAX + 1], target[NAME_MAX + 16];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "/"), path);
    snprintf(target, sizeof target, "..data/%s", name);
    return symlinkat(target, vol_fd, name) == 0 || errno == EEXIST ||
           error_errno(err, errno, "cannot link %s", name);
}

/* Writes the files of a volume below a new directory `name`, and makes the symbolic link `link` to
 * it. */
static bool make_files(int vol_fd, const char *name, const char *link,
                       const struct shim_volume *volume, struct error *err)
{
    int data_fd = make_directory(vol_fd, name);
    bool ok = data_fd >= 0 && symlinkat(name, vol_fd, link) == 0;

    if (!ok)
        error_errno(err, errno, "cannot make the volume's files");
    for (uint32_t i = 0; ok && i < volume->n_files; i++) {
        const struct shim_file *file = &volume->files[i];

        ok = is_file_path(file->path)
                 ? write_file(data_fd, file, err)
                 : error_set(err, ERR_INVALID, "", "not a file name: \"%s\"", file->path);
    }
    if (data_fd >= 0)
        close(data_fd);
    return ok;
}

static bool link_all(int vol_fd, const struct shim_volume *volume, struct error *err)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < volume->n_files; i++)
        ok = link_first(vol_fd, volume->files[i].path, err);
    return ok;
}

/* Removes the links in a volume whose file the volume no longer has. */
static void unlink_stale(int vol_fd)
{
    int fd = fcntl(vol_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (dir)
        rewinddir(dir);
    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.' || (entry->d_name[1] != '.' && entry->d_name[1]))
            if (faccessat(vol_fd, entry->d_name, F_OK, 0) && errno == ENOENT)
                unlinkat(vol_fd, entry->d_name, 0);
    if (dir)
        closedir(dir);
}

/* Returns whether a mount of the pod shows a subPath of the volume. */
static bool has_sub_path_mount(const struct shim_pod *pod, uint32_t index)
{
    for (uint32_t c = 0; c < pod->n_init + pod->n_main; c++)
        for (uint32_t m = 0; m < pod->containers[c].n_mounts; m++) {
            const struct shim_mount *mount = &pod->containers[c].mounts[m];

            if (mount->volume == index && mount->sub_path && *mount->sub_path)
                return true;
        }
    return false;
}

bool volumes_update(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                    const struct shim_volume *volume, struct error *err)
{
    char name[NAME_BYTES], before[NAME_BYTES] = "", after[NAME_BYTES];
    int fd;
    ssize_t n;
    bool ok;

    snprintf(name, sizeof name, "v%u", index);
    fd = openat(dirs->own_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    n = fd < 0 ? -1 : readlinkat(fd, "..data", before, sizeof before - 1);
    if (n < 3 || strspn(before + 2, "0123456789") != (size_t)n - 2) {
        error_set(err, ERR_INTERNAL, "", "the volume's files are not where they were written");
        if (fd >= 0)
            close(fd);
        return false;
    }
    snprintf(after, sizeof after, "..%lu", strtoul(before + 2, NULL, 10) + 1);
    ok = make_files(fd, after, "..next", volume, err) &&
         (renameat(fd, "..next", fd, "..data") == 0 || error_errno(err, errno, "files")) &&
         link_all(fd, volume, err);
    if (ok) {
        unlink_stale(fd);
        ok = has_sub_path_mount(pod, index) || file_remove_tree(fd, before, err);
    } else {
        unlinkat(fd, "..next", 0);
        file_remove_tree(fd, after, NULL);
    }
    close(fd);
    return ok;
}

bool volumes_on_disk(const struct shim_volume *volume)
{
    return volume->kind == SHIM_EMPTY_DIR && !volume->memory;
}

/* Finds the directory of a volume: returns the descriptor of the directory it is in and sets its
 * name there. */
static int locate(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                  char name[NAME_BYTES])
{
    bool on_disk = volumes_on_disk(&pod->volumes[index]);

    if (on_disk)
        snprintf(name, NAME_BYTES, "%s.%u", pod->uid, index);
    else
        snprintf(name, NAME_BYTES, "v%u", index);
    return on_disk ? dirs->disk_fd : dirs->own_fd;
}

static bool mount_tmpfs(int at_fd, const char *name, const struct shim_volume *volume,
                        struct error *err)
{
    int target_fd = openat(at_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int tree_fd = target_fd < 0 ? -1 : mount_tree_tmpfs("0777", volume->size_bytes, err);
    bool ok = tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, err);

    if (target_fd >= 0)
        close(target_fd);
    return ok;
}

static bool make_one(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                     struct error *err)
{
    const struct shim_volume *volume = &pod->volumes[index];
    char name[NAME_BYTES];
    int at_fd = locate(dirs, pod, index, name), fd;
    bool ok;

    if (volume->kind == SHIM_HOST_PATH)
        return host_path_ready(volume, err);
    if (mkdirat(at_fd, name, 0700))
        return error_errno(err, errno, "cannot make the volume");
    if (volume->kind == SHIM_EMPTY_DIR && volume->size_bytes > 0 && volume->memory &&
        dirs->may_mount)
        return mount_tmpfs(at_fd, name, volume, err);
    fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    ok = fd >= 0 && fchmod(fd, volume->kind == SHIM_FILES_VOLUME ? 0755 : 0777) == 0;
    if (!ok)
        error_errno(err, errno, "cannot make the volume");
    if (ok && volume->kind == SHIM_FILES_VOLUME)
        ok = make_files(fd, "..1", "..data", volume, err) && link_all(fd, volume, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool volumes_make(const struct volume_dirs *dirs, const struct shim_pod *pod, struct error *err)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        if (!make_one(dirs, pod, i, err)) {
            error_prefix(err, "volume \"%s\": ", pod->volumes[i].name);
            return false;
        }
    return true;
}

void volumes_remove(const struct volume_dirs *dirs, const struct shim_pod *pod)
{
    char name[NAME_BYTES];

    for (uint32_t i = 0; i < pod->n_volumes; i++)
        if (volumes_on_disk(&pod->volumes[i]) || !dirs->may_mount) {
            int at_fd = locate(dirs, pod, i, name);

            if (unlinkat(at_fd, name, AT_REMOVEDIR)) /* usually the directory is empty already */
                file_remove_tree(at_fd, name, NULL);
        }
}

static bool is_limited(const struct shim_volume *volume)
{
    return volumes_on_disk(volume) && volume->size_bytes > 0;
}

bool volumes_limited(const struct shim_pod *pod)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        if (is_limited(&pod->volumes[i]))
            return true;
    return false;
}

/* Returns the disk space of a tree in bytes; stops counting beyond `limit`. `fd` is closed. Links
 * are not followed. */
static int64_t tree_bytes(int fd, int64_t limit, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    int64_t sum = 0;

    for (struct dirent *entry;
         dir && sum <= limit && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        struct stat info;
        int inner;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW))
            continue;
        sum += (int64_t)info.st_blocks * BLOCK_BYTES;
        if (!S_ISDIR(info.st_mode) || depth >= DEPTH_MAX)
            continue;
        inner = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (inner >= 0)
            sum += tree_bytes(inner, limit - sum, depth + 1);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return sum;
}

const struct shim_volume *volumes_overfull(const struct volume_dirs *dirs,
                                           const struct shim_pod *pod)
{
    char name[NAME_BYTES];

    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct shim_volume *volume = &pod->volumes[i];
        int at_fd, fd;

        if (!is_limited(volume))
            continue;
        at_fd = locate(dirs, pod, i, name);
        fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 && tree_bytes(fd, volume->size_bytes, 0) > volume->size_bytes)
            return volume;
    }
    return NULL;
}

static int open_beneath(int fd, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, fd, path, &how, sizeof how);
}

/* Opens a subPath of a volume. A missing one is made in a writable volume, as the kubelet does. */
static int open_sub_path(int fd, const struct shim_volume *volume, const char *path,
                         struct error *err)
{
    int inner = -1;

    if (!path_descends(path)) {
        error_set(err, ERR_INVALID, "", "not a subPath: \"%s\"", path);
        return -1;
    }
    inner = open_beneath(fd, path);
    if (inner < 0 && errno == ENOENT && volume->kind != SHIM_FILES_VOLUME && !volume->read_only)
        inner = mount_tree_make_point(fd, path, MOUNT_POINT_DIR, err);
    else if (inner < 0 && (errno == EXDEV || errno == ELOOP))
        error_set(err, ERR_INVALID, "",
                  "subPath \"%s\": a link there leads out of the volume, or in a circle", path);
    else if (inner < 0)
        error_errno(err, errno, "subPath \"%s\"", path);
    return inner;
}

static int open_own(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                    struct error *err)
{
    char name[NAME_BYTES];
    int at_fd = locate(dirs, pod, index, name);
    int fd = openat(at_fd, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        error_errno(err, errno, "directory of the volume");
    return fd;
}

int volumes_open(const struct volume_dirs *dirs, const struct shim_pod *pod,
                 const struct shim_mount *mount, struct error *err)
{
    const struct shim_volume *volume = &pod->volumes[mount->volume];
    int fd = volume->kind == SHIM_HOST_PATH ? host_path_open(volume, err)
                                            : open_own(dirs, pod, mount->volume, err);
    int inner;

    if (fd >= 0 && mount->sub_path && *mount->sub_path) {
        inner = open_sub_path(fd, volume, mount->sub_path, err);
        close(fd);
        fd = inner;
    }
    if (fd < 0)
        error_prefix(err, "volume \"%s\": ", volume->name);
    return fd;
}

bool volumes_read_only(const struct shim_pod *pod, const struct shim_mount *mount)
{
    const struct shim_volume *volume = &pod->volumes[mount->volume];

    return mount->read_only || volume->read_only || volume->kind == SHIM_FILES_VOLUME;
}
