/*
 * The file system a sandboxed container sees. See rootfs.h.
 */
#include "node/sandbox/rootfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/dev.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/mount_tree.h"
#include "node/sandbox/overlay.h"

enum { KEEPS = 2 };

struct place {  /* where a mount goes */
    char *path; /* owned */
    const struct rootfs_mount *mount;
};

/* A path of the host that must show through one of our own file systems. */
struct keep {
    char path[ROOTFS_PATH_MAX];
    int tree_fd; /* -1 = not needed */
    bool is_dir;
};

struct build {
    const struct rootfs_plan *plan;
    struct place *places; /* by path, parents before what is in them */
    bool new_root;
    int scratch_fd, base_fd;
    struct keep keeps[KEEPS];
};

/* ---- what is needed ---- */

/* Top-level directories that are not taken from the host as they are; the last one on request. */
static const char *const own[] = {"proc", "sys", "dev", "run", "tmp"};

static size_t top_len(const char *path)
{
    return strcspn(path + 1, "/");
}

static bool is_own(const struct rootfs_plan *plan, const char *name)
{
    for (size_t i = 0; i < countof(own) - !plan->private_tmp; i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

static bool below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->path, ((const struct place *)b)->path);
}

static bool place_all(struct build *build, struct error *err)
{
    const struct rootfs_plan *plan = build->plan;

    build->places = mem_array(plan->n_mounts + 1, sizeof *build->places);
    for (size_t i = 0; i < plan->n_mounts; i++) {
        struct place *place = &build->places[i];
        char top[ROOTFS_PATH_MAX];

        place->mount = &plan->mounts[i];
        if (!rootfs_resolve(place->mount->path, top, err))
            return false;
        place->path = mem_strdup(top);
        if (!place->path[1] || below(place->path, "/proc") || below(place->path, "/sys"))
            return error_set(err, ERR_INVALID, "", "nothing can be mounted at %s",
                             place->mount->path);
        snprintf(top, sizeof top, "%.*s", (int)top_len(place->path) + 1, place->path);
        build->new_root = build->new_root || access(top, F_OK) != 0;
    }
    qsort(build->places, plan->n_mounts, sizeof *build->places, by_path);
    return true;
}

static bool point_exists(const struct place *place)
{
    struct stat info;

    return stat(place->path, &info) == 0 && S_ISDIR(info.st_mode) == place->mount->is_dir;
}

/* ---- the parts ---- */

static bool mount_scratch(struct build *build, struct error *err)
{
    const char *path = build->plan->scratch;

    if (mount("tmpfs", path, "tmpfs", MS_NOSUID, "mode=0755"))
        return error_errno(err, errno, "cannot mount tmpfs on %s", path);
    build->scratch_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return build->scratch_fd >= 0 || error_errno(err, errno, "%s", path);
}

static int scratch_dir(struct build *build, const char *name, struct error *err)
{
    int fd = -1;

    if (mkdirat(build->scratch_fd, name, 0755) == 0)
        fd = openat(build->scratch_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        error_errno(err, errno, "private directory %s", name);
    return fd;
}

static bool wants_overlay(const struct build *build, const char *top)
{
    if (build->plan->hosts && strcmp(top, "/etc") == 0)
        return true;
    if (build->plan->owner && strcmp(top, "/root") == 0)
        return true;
    for (size_t i = 0; i < build->plan->n_mounts; i++) {
        const struct place *place = &build->places[i];

        if (below(place->path, top) && strcmp(place->path, top) != 0 && !point_exists(place))
            return true;
    }
    return false;
}

static void keep(const struct build *build, struct keep *keep, const char *path)
{
    char top[ROOTFS_PATH_MAX];
    struct stat info;
    int fd;

    keep->tree_fd = -1;
    if (!path || !rootfs_resolve(path, keep->path, NULL) || !keep->path[1])
        return;
    snprintf(top, sizeof top, "%.*s", (int)top_len(keep->path) + 1, keep->path);
    if (!is_own(build->plan, top + 1) && !wants_overlay(build, top))
        return;
    fd = open(keep->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    keep->is_dir = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    keep->tree_fd = mount_tree_clone(fd, true, false, NULL);
    close(fd);
}

static bool mount_overlay_over(struct build *build, const char *top, struct error *err)
{
    static const struct overlay_link links[] = {{"hosts", "/run/pod/hosts"},
                                                {"hostname", "/run/pod/hostname"}};
    size_t n = build->plan->n_mounts;
    struct overlay_point *points = mem_array(n + 1, sizeof *points);
    bool etc = build->plan->hosts && strcmp(top, "/etc") == 0;
    struct layer layer = {top,
                          points,
                          0,
                          links,
                          etc ? countof(links) : 0,
                          build->plan->user_namespace,
                          build->plan->owner};
    char name[NAME_MAX + 8];
    int scratch_fd, target_fd = -1;
    bool ok;

    for (size_t i = 0; i < n; i++) {
        const struct place *place = &build->places[i];

        if (below(place->path, top) && strcmp(place->path, top) != 0)
            points[layer.n_points++] =
                (struct overlay_point){place->path + strlen(top) + 1, place->mount->is_dir};
    }
    snprintf(name, sizeof name, "layer.%s", top + 1);
    scratch_fd = scratch_dir(build, name, err);
    if (scratch_fd >= 0)
        target_fd = mount_tree_make_point(build->base_fd, top, true, err);
    ok = target_fd >= 0 && overlay_mount(&layer, scratch_fd, target_fd, err);
    if (scratch_fd >= 0)
        close(scratch_fd);
    if (target_fd >= 0)
        close(target_fd);
    mem_free(points);
    return ok;
}

/* Something of the host's root directory into the new root, which nobody else sees yet. */
static bool bind_host(struct build *build, const char *name, bool is_dir, struct error *err)
{
    char from[NAME_MAX + 2];
    int fd = -1;
    bool ok;

    snprintf(from, sizeof from, "/%s", name);
    if (is_dir)
        ok = mkdirat(build->base_fd, name, 0755) == 0;
    else
        ok =
            (fd = openat(build->base_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) >= 0;
    ok = ok && mount_tree_bind_path(from, build->base_fd, name);
    if (!ok)
        error_errno(err, errno, "%s", from);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Some file systems do not say it in the directory. */
static bool find_type(const char *path, unsigned *out)
{
    struct stat info;

    if (lstat(path, &info))
        return false;
    *out = IFTODT(info.st_mode);
    return true;
}

/* One entry of the host's root directory, into the new root or in place. */
static bool take_entry(struct build *build, const struct dirent *entry, struct error *err)
{
    const char *name = entry->d_name;
    char path[NAME_MAX + 2], link[ROOTFS_PATH_MAX];
    unsigned type = entry->d_type;
    ssize_t n;

    snprintf(path, sizeof path, "/%s", name);
    if (is_own(build->plan, name) || (type == DT_UNKNOWN && !find_type(path, &type)))
        return true;
    if (type == DT_DIR && wants_overlay(build, path))
        return mount_overlay_over(build, path, err);
    if (!build->new_root)
        return true;
    if (type == DT_LNK) {
        n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        return n <= 0 || symlinkat(link, build->base_fd, name) == 0 ||
               error_errno(err, errno, "%s", path);
    }
    if (type != DT_DIR && type != DT_REG)
        return true;
    return bind_host(build, name, type == DT_DIR, err);
}

static bool take_host(struct build *build, struct error *err)
{
    DIR *dir = opendir("/");
    bool ok = dir || error_errno(err, errno, "/");

    for (struct dirent *entry;
         ok && dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = take_entry(build, entry, err);
    if (dir)
        closedir(dir);
    return ok;
}

/* Where something of ours is mounted: in the host's tree it is there. */
static bool own_point(struct build *build, const char *name, struct error *err)
{
    return !build->new_root || mkdirat(build->base_fd, name, 0755) == 0 ||
           error_errno(err, errno, "cannot make the mount point /%s", name);
}

/* A directory of the scratch, where something of the same name is. */
static bool show_own(struct build *build, int fd, const char *name, bool recursive,
                     struct error *err)
{
    int target_fd = openat(build->base_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = target_fd >= 0 ? mount_tree_bind(fd, recursive, target_fd, err)
                             : error_errno(err, errno, "its mount point");

    if (target_fd >= 0)
        close(target_fd);
    if (!ok)
        error_prefix(err, "cannot make a private /%s: ", name);
    return ok;
}

/* A directory in memory; they share one file system. */
static bool own_directory(struct build *build, const char *name, mode_t mode, struct error *err)
{
    unsigned owner = build->plan->owner;
    int fd = scratch_dir(build, name, err);
    bool ok = fd >= 0 && ((fchmod(fd, mode) == 0 && (!owner || fchown(fd, owner, owner) == 0)) ||
                          error_errno(err, errno, "cannot make a private /%s", name));

    ok = ok && own_point(build, name, err) && show_own(build, fd, name, false, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool own_proc(struct build *build, struct error *err)
{
    return own_point(build, "proc", err) &&
           mount_tree_mount("proc", build->base_fd, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL,
                            err);
}

static bool own_dev(struct build *build, struct error *err)
{
    int fd = scratch_dir(build, "dev", err);
    bool ok = fd >= 0 && dev_fill(fd, build->plan->owner, err) && own_point(build, "dev", err) &&
              show_own(build, fd, "dev", true, err);

    if (fd >= 0)
        close(fd);
    return ok;
}

static bool attach(struct build *build, const char *path, bool is_dir, int tree_fd,
                   struct error *err)
{
    int target_fd = mount_tree_make_point(build->base_fd, path, is_dir, err);
    bool ok;

    if (target_fd < 0) {
        close(tree_fd);
        return false;
    }
    ok = mount_tree_attach(tree_fd, target_fd, err);
    if (!ok)
        error_prefix(err, "%s: ", path);
    close(target_fd);
    return ok;
}

static bool own_directories(struct build *build, struct error *err)
{
    const struct rootfs_plan *plan = build->plan;

    return own_dev(build, err) && own_directory(build, "run", 0755, err) && own_proc(build, err) &&
           attach(build, "/run/pod", true, plan->run_tree_fd, err) &&
           (!plan->private_tmp || own_directory(build, "tmp", 01777, err)) &&
           (!build->new_root || bind_host(build, "sys", true, err));
}

static bool attach_volumes(struct build *build, struct error *err)
{
    for (size_t i = 0; i < KEEPS; i++)
        if (build->keeps[i].tree_fd >= 0 &&
            !attach(build, build->keeps[i].path, build->keeps[i].is_dir, build->keeps[i].tree_fd,
                    err))
            return false;
    for (size_t i = 0; i < build->plan->n_mounts; i++) {
        const struct place *place = &build->places[i];

        if (!attach(build, place->path, place->mount->is_dir, place->mount->tree_fd, err))
            return false;
    }
    return true;
}

/* What is ours alone, credentials and the API's socket among it, is not there for the container. */
static bool hide(struct build *build, struct error *err)
{
    const char *path = build->plan->hidden;
    char cwd[ROOTFS_PATH_MAX];
    int target_fd, empty_fd, tree_fd = -1;
    bool ok;

    if (!path ||
        (build->plan->cwd && rootfs_resolve(build->plan->cwd, cwd, NULL) && below(cwd, path)))
        return true;
    target_fd = openat(build->base_fd, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target_fd < 0) /* it lies in what is not taken from the host */
        return true;
    empty_fd = scratch_dir(build, "hidden", err);
    if (empty_fd >= 0)
        tree_fd = mount_tree_clone(empty_fd, false, true, err);
    ok = tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, err);
    if (empty_fd >= 0)
        close(empty_fd);
    close(target_fd);
    return ok;
}

static bool begin_base(struct build *build, struct error *err)
{
    int fd;

    if (!build->new_root) {
        build->base_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return build->base_fd >= 0 || error_errno(err, errno, "/");
    }
    fd = scratch_dir(build, "new", err);
    if (fd >= 0)
        build->base_fd = mount_tree_make_root(fd, err);
    if (fd >= 0)
        close(fd);
    return build->base_fd >= 0;
}

static bool enter_base(struct build *build, struct error *err)
{
    if (build->new_root &&
        (fchdir(build->base_fd) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH)))
        return error_errno(err, errno, "cannot move into the new root");
    return chdir("/") == 0 || error_errno(err, errno, "/");
}

bool rootfs_build(const struct rootfs_plan *plan, struct error *err)
{
    struct build build = {.plan = plan, .scratch_fd = -1, .base_fd = -1};
    bool ok;

    umask(0);
    for (size_t i = 0; i < KEEPS; i++)
        build.keeps[i].tree_fd = -1;
    ok = (!plan->part_mounts || namespaces_detach_mounts(err)) && place_all(&build, err);
    if (ok) {
        keep(&build, &build.keeps[0], plan->cwd);
        keep(&build, &build.keeps[1], "/etc/resolv.conf");
    }
    ok = ok && mount_scratch(&build, err) && begin_base(&build, err) && take_host(&build, err) &&
         own_directories(&build, err) && attach_volumes(&build, err) && hide(&build, err) &&
         enter_base(&build, err);
    for (size_t i = 0; build.places && i < plan->n_mounts; i++)
        mem_free(build.places[i].path);
    mem_free(build.places);
    if (build.scratch_fd >= 0)
        close(build.scratch_fd);
    if (build.base_fd >= 0)
        close(build.base_fd);
    return ok;
}
