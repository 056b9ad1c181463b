/*
 * Starting containers in a pod's sandbox: their mounts, their process 1, the rights of their
 * programs, their termination messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/init.h"
#include "node/sandbox/mounts/mount_tree.h"
#include "node/sandbox/namespaces.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/sandbox/sshd.h"

enum { MESSAGE_MAX = 4096 };
static const char default_message_path[] = "/dev/termination-log";

bool pod_sandbox_drop_rights(const struct pod_sandbox *sandbox, unsigned index,
                             struct spawn_plan *program, struct error *err)
{
    if (sandbox->level == ISOLATION_FULL && !namespaces_enter_user_range(sandbox->user_fd, err))
        return false;
    if (!sandbox->pod->containers[index].cwd && access(program->cwd, X_OK))
        program->cwd = "/"; /* the directory is covered, or it is closed to these ids */
    if (sandbox->level < ISOLATION_USER)
        return true;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    namespaces_drop_capabilities(sandbox->serves_ssh);
    if (sandbox->serves_ssh && sandbox->level == ISOLATION_USER)
        sshd_pretend_groups();
    return true;
}

/* Joins the mounts and process ids of a container's process 1. The kernel then gives the caller the
 * root of the mounts; where jobflow runs in a chroot, that of the container is another. */
static bool join_namespaces(pid_t init, struct error *err)
{
    char path[32];
    int pidfd, root_fd;
    bool ok;

    snprintf(path, sizeof path, "/proc/%d/root", (int)init);
    pidfd = pidfd_open(init, 0);
    root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ok = pidfd >= 0 && root_fd >= 0 && setns(pidfd, CLONE_NEWNS | CLONE_NEWPID) == 0 &&
         fchdir(root_fd) == 0 && chroot(".") == 0;
    if (!ok)
        error_errno(err, errno, "cannot join the container");
    if (root_fd >= 0)
        close(root_fd);
    if (pidfd >= 0)
        close(pidfd);
    return ok;
}

bool pod_sandbox_join(struct pod_sandbox *sandbox, unsigned index, pid_t init, bool in_unified,
                      struct spawn_plan *program, struct error *err)
{
    if (sandbox->groups[index])
        cgroup_join(sandbox->groups[index], in_unified);
    return sandbox->level == ISOLATION_PLAIN ||
           (join_namespaces(init, err) && pod_sandbox_drop_rights(sandbox, index, program, err));
}

const char *pod_sandbox_message_path(const struct pod_sandbox *sandbox, unsigned index)
{
    const char *path = sandbox->pod->containers[index].termination_path;

    return path && *path ? path : default_message_path;
}

static int message_file(const struct pod_sandbox *sandbox, unsigned index, int flags)
{
    char name[32];

    snprintf(name, sizeof name, "term/%u", index);
    return openat(sandbox->dirs.own_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
}

char *pod_sandbox_termination_message(struct pod_sandbox *sandbox, unsigned index)
{
    int fd = message_file(sandbox, index, O_RDWR | O_NONBLOCK);
    char text[MESSAGE_MAX + 1];
    ssize_t n;

    if (fd < 0)
        return NULL;
    n = read(fd, text, MESSAGE_MAX);
    if (n > 0 && ftruncate(fd, 0))
        n = 0;
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? mem_strdup(text) : NULL;
}

/* Copies the mount at `fd` for a container and closes `fd`. The ids of the copy are mapped into the
 * user namespace `user_fd`; -1 = they are not mapped. */
static bool take_tree(int fd, bool read_only, int user_fd, const char *path,
                      struct rootfs_mount *out, struct error *err)
{
    struct stat info;
    bool ok;

    if (fd < 0)
        return false;
    *out = (struct rootfs_mount){.path = path,
                                 .type = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)
                                             ? MOUNT_POINT_DIR
                                             : MOUNT_POINT_FILE};
    out->tree_fd =
        mount_tree_clone(fd, MOUNT_TREE_RECURSIVE | (read_only ? MOUNT_TREE_READ_ONLY : 0), err);
    close(fd);
    if (out->tree_fd < 0)
        return false;
    ok = user_fd < 0 || mount_tree_map_ids(out->tree_fd, user_fd, err);
    if (!ok)
        close(out->tree_fd);
    return ok;
}

/* Adds the files for sshd to the mounts of a container. Volumes that follow may cover them. */
static bool take_sshd_files(struct pod_sandbox *sandbox, struct rootfs_mount *mounts, size_t *count,
                            struct error *err)
{
    const char *name, *path;

    if (!pod_sandbox_has_sshd_files(sandbox))
        return true;
    for (size_t i = 0; sshd_file(sandbox->level, i, &name, &path); i++, ++*count)
        if (!take_tree(openat(sandbox->dirs.own_fd, name, O_PATH | O_CLOEXEC | O_NOFOLLOW), false,
                       sandbox->user_fd, path, &mounts[*count], err))
            return (error_prefix(err, "%s: ", path), false);
    return true;
}

/* Returns whether the volume is on a mount that the machine's mount namespace has, too. */
static bool is_shared_with_host(const struct pod_sandbox *sandbox, const struct shim_volume *volume)
{
    return !sandbox->own_mounts && (volume->kind == SHIM_HOST_PATH || volumes_on_disk(volume));
}

static bool take_mounts(struct pod_sandbox *sandbox, unsigned index, struct rootfs_mount *mounts,
                        size_t *count, struct error *err)
{
    const struct shim_container *c = &sandbox->pod->containers[index];
    int fd = message_file(sandbox, index, O_RDWR | O_CREAT);

    *count = 0;
    if (fd >= 0)
        fchmod(fd, 0666);
    if (!take_tree(fd, false, sandbox->user_fd, pod_sandbox_message_path(sandbox, index),
                   &mounts[0], err))
        return (error_prefix(err, "termination message: "), false);
    ++*count;
    if (!take_sshd_files(sandbox, mounts, count, err))
        return false;
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        const struct shim_mount *mount = &c->mounts[i];
        const struct shim_volume *volume = &sandbox->pod->volumes[mount->volume];

        if (!take_tree(volumes_open(&sandbox->dirs, sandbox->pod, mount, err),
                       volumes_read_only(sandbox->pod, mount),
                       volume->host_ids ? -1 : sandbox->user_fd, mount->path, &mounts[*count],
                       err) ||
            (is_shared_with_host(sandbox, volume) &&
             !mount_tree_detach(mounts[*count].tree_fd, err)))
            return (error_prefix(err, "%s: ", mount->path), false);
        ++*count;
    }
    return true;
}

static int run_tree(struct pod_sandbox *sandbox, struct error *err)
{
    int fd = openat(sandbox->dirs.own_fd, "run", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int tree_fd = fd < 0 ? -1 : mount_tree_clone(fd, MOUNT_TREE_READ_ONLY, err);

    if (fd >= 0)
        close(fd);
    return tree_fd;
}

/* Makes the control groups of the pod as a whole, unless they exist or the pod has no limits. */
static void make_pod_group(struct pod_sandbox *sandbox)
{
    struct shim_limits limits = sandbox->pod->limits;

    if (sandbox->group || (!limits.memory_bytes && !limits.cpu_milli))
        return;
    limits.processes = -1;
    sandbox->group = cgroup_new(
        &(struct cgroup_spec){.uid = sandbox->pod->uid, .index = CGROUP_OF_POD, .limits = limits});
}

/* Makes the control groups of a container. At level full an rlimit bounds its processes already,
 * unless sshd may change to other ids, each of which would have the whole share; then a pids group
 * is needed, too. */
static struct cgroup *make_group(struct pod_sandbox *sandbox, unsigned index)
{
    struct shim_limits limits = sandbox->pod->containers[index].limits;

    make_pod_group(sandbox);
    if (sandbox->level == ISOLATION_FULL && !sandbox->serves_ssh &&
        pod_sandbox_process_limit(sandbox))
        limits.processes = -1;
    return cgroup_new(&(struct cgroup_spec){
        .uid = sandbox->pod->uid,
        .index = index,
        .of_pod = sandbox->group,
        .limits = limits,
        .bpf = sandbox->bpf,
        .rules = &sandbox->rules,
    });
}

pid_t pod_sandbox_start(struct pod_sandbox *sandbox, unsigned index,
                        const struct spawn_plan *program, int report_fd, struct error *err)
{
    const struct shim_container *c = &sandbox->pod->containers[index];
    struct rootfs_mount *mounts =
        mem_array((size_t)c->n_mounts + 1 + SSHD_FILES_MAX, sizeof *mounts);
    struct rootfs_plan root = {
        .scratch = sandbox->dir,
        .detach_mounts = !sandbox->own_mounts,
        .mounts = mounts,
        .run_tree_fd = run_tree(sandbox, err),
        .hosts = sandbox->pod->hosts != NULL,
        .private_tmp = sandbox->private_tmp,
        .scratch_bytes = sandbox->scratch_bytes,
        .user_namespace = sandbox->level == ISOLATION_USER,
        .owner = sandbox->level == ISOLATION_FULL ? sandbox->pod->ids : 0,
        .read_only = sandbox->confined,
        .home = sandbox->home,
        .cwd = program->cwd,
        .cwd_asked = c->cwd != NULL,
        .hidden = &sandbox->hidden,
    };
    struct init_plan plan = {
        &root, *program, report_fd, sandbox->self_pidfd, sandbox, index, sandbox->groups[index]};
    pid_t pid = -1;

    if (!sandbox->groups[index])
        plan.group = sandbox->groups[index] = make_group(sandbox, index);
    if (sandbox->bpf && !(plan.group && plan.group->sockaddr_bpf))
        error_set(err, ERR_UNAVAILABLE, "", "the pod's addresses cannot be told apart: no BPF");
    else if (root.run_tree_fd >= 0 && take_mounts(sandbox, index, mounts, &root.n_mounts, err)) {
        pid = cgroup_clone(plan.group, CLONE_NEWNS | CLONE_NEWPID, &plan.in_unified);
        if (pid == 0)
            init_run(&plan);
        if (pid < 0)
            error_errno(err, errno, "cannot clone");
    }
    for (size_t i = 0; i < root.n_mounts; i++)
        close(mounts[i].tree_fd);
    if (root.run_tree_fd >= 0)
        close(root.run_tree_fd);
    mem_free(mounts);
    return pid;
}
