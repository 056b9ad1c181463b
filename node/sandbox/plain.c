/*
 * A sandbox at level plain is a tree of links and a set of environment variables. This file makes
 * both.
 */
#include "node/sandbox/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/mounts/mount_tree.h"

static const char *const name_libraries[] = {
    "/usr/lib/x86_64-linux-gnu/libnss_wrapper.so",
    "/usr/lib/aarch64-linux-gnu/libnss_wrapper.so",
    "/usr/lib64/libnss_wrapper.so",
    "/usr/lib/libnss_wrapper.so",
};

static void add_env(struct pod_sandbox *sandbox, char *entry)
{
    sandbox->env[sandbox->n_env++] = entry;
}

static char *volume_path(const struct pod_sandbox *sandbox, const struct shim_mount *mount)
{
    const struct shim_volume *volume = &sandbox->pod->volumes[mount->volume];
    const char *sub = mount->sub_path && *mount->sub_path ? mount->sub_path : NULL;

    if (volume->kind == SHIM_HOST_PATH)
        return mem_printf("%s%s%s", volume->host_path, sub ? "/" : "", sub ? sub : "");
    return mem_printf("%s%s%u%s%s", sandbox->dir, volumes_on_disk(volume) ? "." : "/v",
                      mount->volume, sub ? "/" : "", sub ? sub : "");
}

/* Makes a link to `target` where `mount_path` lies in the tree `mnt_fd`. An entry of that name
 * stays. */
static bool link_path(int mnt_fd, const char *mount_path, const char *target, struct error *err)
{
    scoped_str path = mem_strdup(mount_path + strspn(mount_path, "/"));
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int fd;
    bool ok;

    if (slash)
        *slash = 0;
    fd = mount_tree_make_point(mnt_fd, slash ? path : "", MOUNT_POINT_DIR, err);
    ok = fd >= 0 && (symlinkat(target, fd, name) == 0 || errno == EEXIST ||
                     error_errno(err, errno, "cannot link %s", mount_path));
    if (fd >= 0)
        close(fd);
    return ok;
}

static void link_message(const struct pod_sandbox *sandbox, unsigned index, int mnt_fd)
{
    scoped_str file = mem_printf("%s/term/%u", sandbox->dir, index);

    /* A volume may cover the path. Then the container has no message, as at the other levels. */
    link_path(mnt_fd, pod_sandbox_message_path(sandbox, index), file, NULL);
}

static void add_ssh_dir(struct pod_sandbox *sandbox, unsigned index, const struct shim_mount *mount)
{
    size_t len = strlen(mount->path);

    if (len < 5 || strcmp(mount->path + len - 5, "/.ssh") != 0)
        return;
    for (uint32_t i = 0; i < sandbox->n_env; i++)
        if (strncmp(sandbox->env[i], "VC_SSH_DIR=", 11) == 0)
            return;
    add_env(sandbox, mem_printf("VC_SSH_DIR=%s/mnt%u%s", sandbox->dir, index, mount->path));
}

const char *plain_name_library(void)
{
    for (size_t i = 0; i < countof(name_libraries); i++)
        if (access(name_libraries[i], R_OK) == 0)
            return name_libraries[i];
    return NULL;
}

static void add_names(struct pod_sandbox *sandbox)
{
    const char *library = sandbox->hosts_as_addresses ? NULL : plain_name_library();

    add_env(sandbox, mem_printf("VC_HOSTS_FILE=%s/run/hosts", sandbox->dir));
    add_env(sandbox, mem_printf("NSS_WRAPPER_HOSTS=%s/run/hosts", sandbox->dir));
    if (library)
        add_env(sandbox, mem_printf("LD_PRELOAD=%s", library));
}

/* Makes the tree of one container. */
static bool make_tree(struct pod_sandbox *sandbox, unsigned index, struct error *err)
{
    const struct shim_container *c = &sandbox->pod->containers[index];
    char name[32];
    int mnt_fd = -1;
    bool ok = true;

    snprintf(name, sizeof name, "mnt%u", index);
    if (mkdirat(sandbox->dirs.own_fd, name, 0700) == 0)
        mnt_fd = openat(sandbox->dirs.own_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mnt_fd < 0)
        return error_errno(err, errno, "mount root");
    sandbox->mount_roots[index] = mem_printf("VC_MOUNT_ROOT=%s/%s", sandbox->dir, name);
    for (uint32_t m = 0; ok && m < c->n_mounts; m++) {
        scoped_str target = volume_path(sandbox, &c->mounts[m]);

        ok = link_path(mnt_fd, c->mounts[m].path, target, err);
        add_ssh_dir(sandbox, index, &c->mounts[m]);
    }
    link_message(sandbox, index, mnt_fd);
    close(mnt_fd);
    return ok;
}

bool plain_make(struct pod_sandbox *sandbox, struct error *err)
{
    const struct shim_pod *pod = sandbox->pod;

    if (pod->hosts)
        add_names(sandbox);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        if (!make_tree(sandbox, i, err))
            return false;
    return true;
}
