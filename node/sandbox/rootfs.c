/*
 * Builds a container's file system in these steps:
 *
 * 1. Resolve the mount points along the host's links, and decide whether a new root is needed.
 * 2. Copy the mounts of host paths that our own file systems will cover but must stay visible.
 * 3. Mount a tmpfs, the scratch: the private directories and overlays live on it.
 * 4. Take the host's top-level entries: as they are, under an overlay, or bound into the new root.
 * 5. Add /dev, /run, /proc, /tmp; attach the volumes; hide what the container must not see.
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

#include "base/coverage.h"
#include "base/mem.h"
#include "node/sandbox/mounts/dev.h"
#include "node/sandbox/mounts/overlay.h"
#include "node/sandbox/namespaces.h"

enum { KEPT_PATHS = 2 };

struct mount_target {
    char *path; /* path of the mount with all links followed; owned */
    const struct rootfs_mount *mount;
};

/* A path of the host that the pod can still see although a private file system is mounted over the
 * directory that contains it. */
struct kept_path {
    char path[ROOTFS_PATH_MAX];
    int tree_fd; /* copy of the mount at the path; -1 = nothing covers the path */
    enum mount_point type;
};

struct build {
    const struct rootfs_plan *plan;
    struct mount_target *targets; /* [plan->n_mounts] mounts ordered by path: parents before their
                                   * children */
    bool new_root;                /* the root is a new tmpfs; false: the root is the host's */
    int scratch_fd, base_fd;
    struct kept_path kept[KEPT_PATHS];
};

/* Top-level directories that are private to the container. /tmp, the last one, is private only on
 * request. */
static const char *const private_tops[] = {"proc", "sys", "dev", "run", "tmp"};

static const char var_tmp[] = "/var/tmp";

static size_t top_len(const char *path)
{
    return strcspn(path + 1, "/");
}

static bool is_private(const struct rootfs_plan *plan, const char *name)
{
    for (size_t i = 0; i < countof(private_tops) - !plan->private_tmp; i++)
        if (strcmp(private_tops[i], name) == 0)
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
    return strcmp(((const struct mount_target *)a)->path, ((const struct mount_target *)b)->path);
}

static bool resolve_mounts(struct build *build, struct error *err)
{
    const struct rootfs_plan *plan = build->plan;

    build->targets = mem_array(plan->n_mounts + 1, sizeof *build->targets);
    for (size_t i = 0; i < plan->n_mounts; i++) {
        struct mount_target *target = &build->targets[i];
        char top[ROOTFS_PATH_MAX];

        target->mount = &plan->mounts[i];
        if (!rootfs_resolve(target->mount->path, top, err))
            return false;
        target->path = mem_strdup(top);
        if (!target->path[1] || below(target->path, "/proc") || below(target->path, "/sys"))
            return error_set(err, ERR_INVALID, "", "nothing can be mounted at %s",
                             target->mount->path);
        snprintf(top, sizeof top, "%.*s", (int)top_len(target->path) + 1, target->path);
        build->new_root = build->new_root || access(top, F_OK) != 0;
    }
    qsort(build->targets, plan->n_mounts, sizeof *build->targets, by_path);
    return true;
}

static enum mount_point type_of(const struct stat *info)
{
    return S_ISDIR(info->st_mode) ? MOUNT_POINT_DIR : MOUNT_POINT_FILE;
}

static bool target_exists(const struct mount_target *target)
{
    struct stat info;

    return stat(target->path, &info) == 0 && type_of(&info) == target->mount->type;
}

static bool mount_scratch(struct build *build, struct error *err)
{
    const char *path = build->plan->scratch;
    char options[MOUNT_TREE_OPTIONS_MAX];

    mount_tree_tmpfs_options(build->plan->scratch_bytes, options);
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID, options))
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
        const struct mount_target *target = &build->targets[i];

        if (below(target->path, top) && strcmp(target->path, top) != 0 && !target_exists(target))
            return true;
    }
    return false;
}

/* Returns whether the host's files at this path, to which no link leads, are kept from the pod. */
static bool is_hidden(const struct rootfs_plan *plan, const char *path)
{
    return (plan->hidden && hidden_dirs_cover(plan->hidden, path)) ||
           (plan->home && below(path, plan->home));
}

/* Copies the mount at `path` if one of the private file systems will cover it. */
static void keep_path(const struct build *build, struct kept_path *kept, const char *path)
{
    char top[ROOTFS_PATH_MAX];
    struct stat info;
    int fd;

    kept->tree_fd = -1;
    if (!path || !rootfs_resolve(path, kept->path, NULL) || !kept->path[1] ||
        is_hidden(build->plan, kept->path))
        return;
    snprintf(top, sizeof top, "%.*s", (int)top_len(kept->path) + 1, kept->path);
    if (!is_private(build->plan, top + 1) && !wants_overlay(build, top) &&
        !(build->plan->private_tmp && below(kept->path, var_tmp)))
        return;
    fd = open(kept->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    kept->type = fstat(fd, &info) == 0 ? type_of(&info) : MOUNT_POINT_FILE;
    kept->tree_fd = mount_tree_clone(fd, MOUNT_TREE_RECURSIVE, NULL);
    close(fd);
}

/* Mounts a private overlay over a top-level directory, with the mount points that are missing below
 * it. */
static bool mount_top_overlay(struct build *build, const char *top, struct error *err)
{
    static const struct overlay_link links[] = {{"hosts", "/run/pod/hosts"},
                                                {"hostname", "/run/pod/hostname"}};
    size_t n = build->plan->n_mounts;
    struct overlay_point *points = mem_array(n + 1, sizeof *points);
    bool etc = build->plan->hosts && strcmp(top, "/etc") == 0;
    struct overlay overlay = {
        .host = top,
        .points = points,
        .links = links,
        .n_links = etc ? countof(links) : 0,
        .user_namespace = build->plan->user_namespace,
        .owner = build->plan->owner,
    };
    char name[NAME_MAX + 16];
    int scratch_fd, target_fd = -1;
    bool ok;

    for (size_t i = 0; i < n; i++) {
        const struct mount_target *target = &build->targets[i];

        if (below(target->path, top) && strcmp(target->path, top) != 0)
            points[overlay.n_points++] =
                (struct overlay_point){target->path + strlen(top) + 1, target->mount->type};
    }
    snprintf(name, sizeof name, "overlay.%.*s", NAME_MAX, top + 1);
    scratch_fd = scratch_dir(build, name, err);
    if (scratch_fd >= 0)
        target_fd = mount_tree_make_point(build->base_fd, top, MOUNT_POINT_DIR, err);
    ok = target_fd >= 0 && overlay_mount(&overlay, scratch_fd, target_fd, err);
    if (scratch_fd >= 0)
        close(scratch_fd);
    if (target_fd >= 0)
        close(target_fd);
    mem_free(points);
    return ok;
}

/* Binds an entry of the host's root directory into the container's new root. */
static bool bind_host(struct build *build, const char *name, enum mount_point type,
                      struct error *err)
{
    char from[NAME_MAX + 2];
    int fd = -1;
    bool ok;

    snprintf(from, sizeof from, "/%s", name);
    if (type == MOUNT_POINT_DIR)
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

/* Finds the DT_* type of a path, for file systems whose directories do not tell it. */
static bool find_type(const char *path, unsigned *out)
{
    struct stat info;

    if (lstat(path, &info))
        return false;
    *out = IFTODT(info.st_mode);
    return true;
}

/* Takes one entry of the host's root directory: into the new root, or in place. */
static bool take_top_entry(struct build *build, const struct dirent *entry, struct error *err)
{
    const char *name = entry->d_name;
    char path[NAME_MAX + 2], link[ROOTFS_PATH_MAX];
    unsigned type = entry->d_type;
    ssize_t n;

    snprintf(path, sizeof path, "/%s", name);
    if (is_private(build->plan, name) || (type == DT_UNKNOWN && !find_type(path, &type)))
        return true;
    if (type == DT_DIR && wants_overlay(build, path))
        return mount_top_overlay(build, path, err);
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
    return bind_host(build, name, type == DT_DIR ? MOUNT_POINT_DIR : MOUNT_POINT_FILE, err);
}

static bool take_host(struct build *build, struct error *err)
{
    DIR *dir = opendir("/");
    bool ok = dir || error_errno(err, errno, "/");

    for (struct dirent *entry;
         ok && dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = take_top_entry(build, entry, err);
    if (dir)
        closedir(dir);
    return ok;
}

/* Makes the mount point of a private directory. Without a new root the host's tree already has
 * it. */
static bool make_point(struct build *build, const char *name, struct error *err)
{
    return !build->new_root || mkdirat(build->base_fd, name, 0755) == 0 ||
           error_errno(err, errno, "cannot make the mount point /%s", name);
}

/* Shows a directory of the scratch tmpfs at the top-level entry `name`. `flags` are of enum
 * mount_tree_flags. */
static bool show_scratch(struct build *build, int fd, const char *name, unsigned flags,
                         struct error *err)
{
    int target_fd = openat(build->base_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = target_fd >= 0 ? mount_tree_bind(fd, flags, target_fd, err)
                             : error_errno(err, errno, "mount point");

    if (target_fd >= 0)
        close(target_fd);
    if (!ok)
        error_prefix(err, "cannot make a private /%s: ", name);
    return ok;
}

/* Makes an empty directory on the scratch tmpfs and shows it at a path to which no link leads, unless
 * there is no such directory. */
static bool make_private_at(struct build *build, const char *path, const char *name, mode_t mode,
                            struct error *err)
{
    unsigned owner = build->plan->owner;
    int target_fd = openat(build->base_fd, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int fd = target_fd < 0 ? -1 : scratch_dir(build, name, err);
    bool ok = target_fd < 0 ||
              (fd >= 0 && fchmod(fd, mode) == 0 && (!owner || fchown(fd, owner, owner) == 0) &&
               mount_tree_bind(fd, 0, target_fd, err));

    if (!ok)
        error_prefix(err, "cannot make a private %s: ", path);
    if (fd >= 0)
        close(fd);
    if (target_fd >= 0)
        close(target_fd);
    return ok;
}

/* Makes an empty directory on the scratch tmpfs and shows it at the top-level entry `name`. */
static bool make_private_dir(struct build *build, const char *name, mode_t mode, struct error *err)
{
    unsigned owner = build->plan->owner;
    int fd = scratch_dir(build, name, err);
    bool ok = fd >= 0 && ((fchmod(fd, mode) == 0 && (!owner || fchown(fd, owner, owner) == 0)) ||
                          error_errno(err, errno, "cannot make a private /%s", name));

    ok = ok && make_point(build, name, err) && show_scratch(build, fd, name, 0, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_proc(struct build *build, struct error *err)
{
    return make_point(build, "proc", err) &&
           mount_tree_mount("proc", build->base_fd, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL,
                            err);
}

static bool make_dev(struct build *build, struct error *err)
{
    int fd = scratch_dir(build, "dev", err);
    bool ok = fd >= 0 && dev_fill(fd, build->plan->owner, err) && make_point(build, "dev", err) &&
              show_scratch(build, fd, "dev", MOUNT_TREE_RECURSIVE, err);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Attaches a mount tree at a path of the new file system. The tree is closed. */
static bool attach(struct build *build, const char *path, enum mount_point type, int tree_fd,
                   struct error *err)
{
    int target_fd = mount_tree_make_point(build->base_fd, path, type, err);
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

static bool make_private_dirs(struct build *build, struct error *err)
{
    const struct rootfs_plan *plan = build->plan;

    return make_dev(build, err) && make_private_dir(build, "run", 0755, err) &&
           make_proc(build, err) &&
           attach(build, "/run/pod", MOUNT_POINT_DIR, plan->run_tree_fd, err) &&
           (!plan->private_tmp || make_private_dir(build, "tmp", 01777, err)) &&
           (!plan->private_tmp || make_private_at(build, var_tmp, "var-tmp", 01777, err)) &&
           (!plan->home || make_private_at(build, plan->home, "home", 0700, err)) &&
           (!build->new_root || bind_host(build, "sys", MOUNT_POINT_DIR, err));
}

static bool attach_volumes(struct build *build, struct error *err)
{
    for (size_t i = 0; i < KEPT_PATHS; i++)
        if (build->kept[i].tree_fd >= 0 &&
            !attach(build, build->kept[i].path, build->kept[i].type, build->kept[i].tree_fd, err))
            return false;
    for (size_t i = 0; i < build->plan->n_mounts; i++) {
        const struct mount_target *target = &build->targets[i];

        if (!attach(build, target->path, target->mount->type, target->mount->tree_fd, err))
            return false;
    }
    return true;
}

/* Covers a directory, unless it is not in this file system, by the empty one at `empty_fd`. */
static bool cover(const struct build *build, const char *path, int empty_fd, struct error *err)
{
    int target_fd = openat(build->base_fd, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int tree_fd = target_fd < 0 ? -1 : mount_tree_clone(empty_fd, MOUNT_TREE_READ_ONLY, err);
    bool ok = target_fd < 0 || (tree_fd >= 0 && mount_tree_attach(tree_fd, target_fd, err));

    if (target_fd >= 0)
        close(target_fd);
    return ok;
}

/* Covers the data directory, which holds credentials and the API's socket, by an empty one. */
static bool hide(struct build *build, struct error *err)
{
    const struct hidden_dirs *hidden = build->plan->hidden;
    int empty_fd = hidden ? scratch_dir(build, "hidden", err) : -1;
    bool ok = !hidden || empty_fd >= 0;

    for (size_t i = 0; ok && hidden && i < hidden->n; i++)
        ok = cover(build, hidden->paths[i], empty_fd, err);
    if (empty_fd >= 0)
        close(empty_fd);
    return ok;
}

static bool open_base(struct build *build, struct error *err)
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

static bool enter_root(struct build *build, struct error *err)
{
    coverage_write();
    if (build->new_root &&
        (fchdir(build->base_fd) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH)))
        return error_errno(err, errno, "cannot move into the new root");
    return chdir("/") == 0 || error_errno(err, errno, "/");
}

/* Returns false when the pod's spec names a working directory in a hidden one. */
static bool check_cwd(const struct rootfs_plan *plan, struct error *err)
{
    char path[ROOTFS_PATH_MAX];

    if (!plan->cwd_asked || !plan->hidden || !rootfs_resolve(plan->cwd, path, NULL) ||
        !hidden_dirs_cover(plan->hidden, path))
        return true;
    return error_set(err, ERR_FORBIDDEN, "",
                     "working directory \"%s\": it lies in the data directory of jobflow, which "
                     "pods do not see; set workingDir to another one",
                     plan->cwd);
}

/* From here on this mount namespace cannot write to the host's files. What is mounted later, and
 * the trees of volumes, can be written to. */
static bool protect_host(const struct rootfs_plan *plan, struct error *err)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    return !plan->read_only ||
           mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes) == 0 ||
           error_errno(err, errno, "cannot make the host's files read-only");
}

bool rootfs_build(const struct rootfs_plan *plan, struct error *err)
{
    struct build build = {.plan = plan, .scratch_fd = -1, .base_fd = -1};
    bool ok;

    umask(0);
    for (size_t i = 0; i < KEPT_PATHS; i++)
        build.kept[i].tree_fd = -1;
    ok = (!plan->detach_mounts || namespaces_detach_mounts(err)) && check_cwd(plan, err) &&
         protect_host(plan, err) && resolve_mounts(&build, err);
    if (ok) {
        keep_path(&build, &build.kept[0], plan->cwd);
        keep_path(&build, &build.kept[1], "/etc/resolv.conf");
    }
    ok = ok && mount_scratch(&build, err) && open_base(&build, err) && take_host(&build, err) &&
         make_private_dirs(&build, err) && attach_volumes(&build, err) && hide(&build, err) &&
         enter_root(&build, err);
    for (size_t i = 0; build.targets && i < plan->n_mounts; i++)
        mem_free(build.targets[i].path);
    mem_free(build.targets);
    if (build.scratch_fd >= 0)
        close(build.scratch_fd);
    if (build.base_fd >= 0)
        close(build.base_fd);
    return ok;
}
