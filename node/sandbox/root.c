/*
 * The file system a boxed container sees. See root.h.
 */
#include "node/sandbox/root.h"
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
#include "node/sandbox/layer.h"
#include "node/sandbox/tree.h"

enum { KEEPS = 2 };

struct place { /* where a mount goes */
    char path[ROOT_PATH_MAX];
    const struct root_mount *mount;
};

/* A path of the host that must show through one of our own file systems. */
struct keep {
    char path[ROOT_PATH_MAX];
    int tree_fd; /* -1 = not needed */
    bool is_dir;
};

struct build {
    const struct root_plan *plan;
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

static bool is_own(const struct root_plan *plan, const char *name)
{
    for (size_t i = 0; i < countof(own) - !plan->private_tmp; i++)
        if (!strcmp(own[i], name))
            return true;
    return false;
}

static bool below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->path, ((const struct place *)b)->path);
}

static bool place_all(struct build *build, struct error *err)
{
    const struct root_plan *plan = build->plan;

    build->places = mem_array(plan->n_mounts + 1, sizeof *build->places);
    for (size_t i = 0; i < plan->n_mounts; i++) {
        struct place *place = &build->places[i];
        char top[ROOT_PATH_MAX];

        place->mount = &plan->mounts[i];
        if (!root_resolve(place->mount->path, place->path, err))
            return false;
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

static bool wants_layer(const struct build *build, const char *top)
{
    if (build->plan->hosts && !strcmp(top, "/etc"))
        return true;
    if (build->plan->owner && !strcmp(top, "/root"))
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
    char top[ROOT_PATH_MAX];
    struct stat info;
    int fd;

    keep->tree_fd = -1;
    if (!path || !root_resolve(path, keep->path, NULL) || !keep->path[1])
        return;
    snprintf(top, sizeof top, "%.*s", (int)top_len(keep->path) + 1, keep->path);
    if (!is_own(build->plan, top + 1) && !wants_layer(build, top))
        return;
    fd = open(keep->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    keep->is_dir = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    keep->tree_fd = tree_clone(fd, true, false, NULL);
    close(fd);
}

static bool mount_layer(struct build *build, const char *top, struct error *err)
{
    static const struct layer_link links[] = {{"hosts", "/run/pod/hosts"},
                                              {"hostname", "/run/pod/hostname"}};
    size_t n = build->plan->n_mounts;
    struct layer_point *points = mem_array(n + 1, sizeof *points);
    bool etc = build->plan->hosts && !strcmp(top, "/etc");
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
                (struct layer_point){place->path + strlen(top) + 1, place->mount->is_dir};
    }
    snprintf(name, sizeof name, "layer.%s", top + 1);
    scratch_fd = scratch_dir(build, name, err);
    if (scratch_fd >= 0)
        target_fd = tree_make(build->base_fd, top, true, err);
    ok = target_fd >= 0 && layer_mount(&layer, scratch_fd, target_fd, err);
    if (scratch_fd >= 0)
        close(scratch_fd);
    if (target_fd >= 0)
        close(target_fd);
    mem_free(points);
    return ok;
}

static bool bind_host(struct build *build, const char *path, bool is_dir, struct error *err)
{
    int fd = open(path, O_PATH | O_CLOEXEC), tree_fd = -1, target_fd = -1;
    bool ok = false;

    if (fd >= 0)
        tree_fd = tree_clone(fd, true, false, err);
    else
        error_errno(err, errno, "%s", path);
    if (tree_fd >= 0)
        target_fd = tree_make(build->base_fd, path, is_dir, err);
    if (target_fd >= 0)
        ok = tree_attach(tree_fd, target_fd, err);
    if (!ok)
        error_prefix(err, "%s: ", path);
    if (fd >= 0)
        close(fd);
    if (target_fd >= 0)
        close(target_fd);
    return ok;
}

/* One entry of the host's root directory, into the new root or in place. */
static bool take_entry(struct build *build, const char *name, struct error *err)
{
    char path[NAME_MAX + 2], link[ROOT_PATH_MAX];
    struct stat info;
    ssize_t n;

    snprintf(path, sizeof path, "/%s", name);
    if (is_own(build->plan, name) || lstat(path, &info))
        return true;
    if (S_ISDIR(info.st_mode) && wants_layer(build, path))
        return mount_layer(build, path, err);
    if (!build->new_root)
        return true;
    if (S_ISLNK(info.st_mode)) {
        n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        return n <= 0 || symlinkat(link, build->base_fd, name) == 0 ||
               error_errno(err, errno, "%s", path);
    }
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
        return true;
    return bind_host(build, path, S_ISDIR(info.st_mode), err);
}

static bool take_host(struct build *build, struct error *err)
{
    DIR *dir = opendir("/");
    bool ok = dir || error_errno(err, errno, "/");

    for (struct dirent *entry;
         ok && dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = take_entry(build, entry->d_name, err);
    if (dir)
        closedir(dir);
    return ok;
}

static bool own_directory(struct build *build, const char *name, const char *type,
                          unsigned long flags, const char *options, struct error *err)
{
    int fd = tree_make(build->base_fd, name, true, err);

    if (fd < 0)
        return false;
    close(fd);
    return tree_mount(type, build->base_fd, name, MS_NOSUID | MS_NODEV | flags, options, err);
}

/* A directory in memory. */
static bool own_tmpfs(struct build *build, const char *name, const char *mode, struct error *err)
{
    unsigned owner = build->plan->owner;
    char options[64];

    if (owner)
        snprintf(options, sizeof options, "mode=%s,uid=%u,gid=%u", mode, owner, owner);
    else
        snprintf(options, sizeof options, "mode=%s", mode);
    return own_directory(build, name, "tmpfs", 0, options, err);
}

static bool attach(struct build *build, const char *path, bool is_dir, int tree_fd,
                   struct error *err)
{
    int target_fd = tree_make(build->base_fd, path, is_dir, err);
    bool ok;

    if (target_fd < 0) {
        close(tree_fd);
        return false;
    }
    ok = tree_attach(tree_fd, target_fd, err);
    if (!ok)
        error_prefix(err, "%s: ", path);
    close(target_fd);
    return ok;
}

static bool own_directories(struct build *build, struct error *err)
{
    const struct root_plan *plan = build->plan;
    int dev_fd = scratch_dir(build, "dev", err), target_fd = -1;
    bool ok = dev_fd >= 0 && dev_fill(dev_fd, err) &&
              (target_fd = tree_make(build->base_fd, "dev", true, err)) >= 0 &&
              dev_mount(dev_fd, target_fd, err);

    if (dev_fd >= 0)
        close(dev_fd);
    if (target_fd >= 0)
        close(target_fd);
    if (!ok || !own_tmpfs(build, "run", "0755", err) ||
        !own_directory(build, "proc", "proc", MS_NOEXEC, NULL, err) ||
        !attach(build, "/run/pod", true, plan->run_tree_fd, err))
        return false;
    if (plan->private_tmp && !own_tmpfs(build, "tmp", "1777", err))
        return false;
    return !build->new_root || bind_host(build, "/sys", true, err);
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

static bool begin_base(struct build *build, struct error *err)
{
    int fd;

    if (!build->new_root) {
        build->base_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return build->base_fd >= 0 || error_errno(err, errno, "/");
    }
    fd = scratch_dir(build, "new", err);
    if (fd < 0)
        return false;
    close(fd);
    if (!tree_mount("tmpfs", build->scratch_fd, "new", MS_NOSUID, "mode=0755", err))
        return false;
    build->base_fd = openat(build->scratch_fd, "new", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return build->base_fd >= 0 || error_errno(err, errno, "new root");
}

static bool enter_base(struct build *build, struct error *err)
{
    if (build->new_root &&
        (fchdir(build->base_fd) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH)))
        return error_errno(err, errno, "cannot move into the new root");
    return chdir("/") == 0 || error_errno(err, errno, "/");
}

bool root_build(const struct root_plan *plan, struct error *err)
{
    struct build build = {.plan = plan, .scratch_fd = -1, .base_fd = -1};
    bool ok;

    umask(0);
    for (size_t i = 0; i < KEEPS; i++)
        build.keeps[i].tree_fd = -1;
    ok = place_all(&build, err);
    if (ok) {
        keep(&build, &build.keeps[0], plan->cwd);
        keep(&build, &build.keeps[1], "/etc/resolv.conf");
    }
    ok = ok && mount_scratch(&build, err) && begin_base(&build, err) && take_host(&build, err) &&
         own_directories(&build, err) && attach_volumes(&build, err) && enter_base(&build, err);
    mem_free(build.places);
    if (build.scratch_fd >= 0)
        close(build.scratch_fd);
    if (build.base_fd >= 0)
        close(build.base_fd);
    return ok;
}
