/*
 * Containers of a box: their mounts, their first process, who their programs are. See
 * pod_sandbox.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/init.h"
#include "node/sandbox/mount_tree.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/sandbox/sshd.h"

enum { MESSAGE_MAX = 4096 };
static const char default_message_path[] = "/dev/termination-log";

/* ---- rights ---- */

bool box_become(const struct box *box, unsigned index, struct spawn_plan *program,
                struct error *err)
{
    if (box->level == SANDBOX_FULL && !sandbox_enter_range(box->user_fd, err))
        return false;
    if (!box->pod->containers[index].cwd && access(program->cwd, X_OK))
        program->cwd = "/"; /* that of the node: under a volume, or where these ids may not go */
    if (box->level < SANDBOX_USER)
        return true;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    sandbox_drop_capabilities(box->serves_ssh);
    if (box->serves_ssh && box->level == SANDBOX_USER)
        sshd_pretend_groups();
    return true;
}

bool box_join(struct box *box, unsigned index, pid_t init, bool born, struct spawn_plan *program,
              struct error *err)
{
    int pidfd;
    bool ok;

    if (box->groups[index])
        cgroup_join(box->groups[index], born);
    if (box->level == SANDBOX_PLAIN)
        return true;
    pidfd = pidfd_open(init, 0);
    ok = pidfd >= 0 && setns(pidfd, CLONE_NEWNS | CLONE_NEWPID) == 0;
    if (!ok)
        return error_errno(err, errno, "cannot join the container");
    close(pidfd);
    return box_become(box, index, program, err);
}

/* ---- termination messages ---- */

static const char *message_path(const struct box *box, unsigned index)
{
    const char *path = box->pod->containers[index].termination_path;

    return path && *path ? path : default_message_path;
}

static int message_file(const struct box *box, unsigned index, int flags)
{
    char name[32];

    snprintf(name, sizeof name, "term/%u", index);
    return openat(box->where.own_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
}

char *box_termination_message(struct box *box, unsigned index)
{
    int fd = message_file(box, index, O_RDWR | O_NONBLOCK);
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

/* ---- containers ---- */

/* `user_fd`: the namespace whose ids it shows; -1 = the host's. */
static bool take_tree(int fd, bool read_only, int user_fd, const char *path, struct root_mount *out,
                      struct error *err)
{
    struct stat info;
    bool ok;

    if (fd < 0)
        return false;
    *out =
        (struct root_mount){.path = path, .is_dir = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)};
    out->tree_fd = tree_clone(fd, true, read_only, err);
    close(fd);
    if (out->tree_fd < 0)
        return false;
    ok = user_fd < 0 || tree_map(out->tree_fd, user_fd, err);
    if (!ok)
        close(out->tree_fd);
    return ok;
}

/* Those first that others may lie over. */
static bool take_sshd_files(struct box *box, struct root_mount *mounts, size_t *count,
                            struct error *err)
{
    const char *name, *path;

    if (!box_has_sshd_files(box))
        return true;
    for (size_t i = 0; sshd_file(box->level, i, &name, &path); i++, ++*count)
        if (!take_tree(openat(box->where.own_fd, name, O_PATH | O_CLOEXEC | O_NOFOLLOW), false,
                       box->user_fd, path, &mounts[*count], err))
            return error_prefix(err, "%s: ", path), false;
    return true;
}

/* Is it shown by a mount that the machine has, too? */
static bool is_the_machines(const struct box *box, const struct shim_volume *volume)
{
    return !box->own_mounts && (volume->kind == SHIM_HOST_PATH || volumes_on_disk(volume));
}

static bool take_mounts(struct box *box, unsigned index, struct root_mount *mounts, size_t *count,
                        struct error *err)
{
    const struct shim_container *c = &box->pod->containers[index];
    int fd = message_file(box, index, O_RDWR | O_CREAT);

    *count = 0;
    if (fd >= 0)
        fchmod(fd, 0666);
    if (!take_tree(fd, false, box->user_fd, message_path(box, index), &mounts[0], err))
        return error_prefix(err, "termination message: "), false;
    ++*count;
    if (!take_sshd_files(box, mounts, count, err))
        return false;
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        const struct shim_mount *mount = &c->mounts[i];
        const struct shim_volume *volume = &box->pod->volumes[mount->volume];

        if (!take_tree(volumes_open(&box->where, box->pod, mount, err),
                       volumes_read_only(box->pod, mount), volume->foreign ? -1 : box->user_fd,
                       mount->path, &mounts[*count], err) ||
            (is_the_machines(box, volume) && !tree_part(mounts[*count].tree_fd, err)))
            return error_prefix(err, "%s: ", mount->path), false;
        ++*count;
    }
    return true;
}

static int run_tree(struct box *box, struct error *err)
{
    int fd = openat(box->where.own_fd, "run", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int tree_fd = fd < 0 ? -1 : tree_clone(fd, false, true, err);

    if (fd >= 0)
        close(fd);
    return tree_fd;
}

/* The directory of pods is <data>/node/pods (node/runtime/host.h): the first of them. */
static char *data_directory(const struct box *box)
{
    char *path = mem_strdup(box->dir);

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path) {
            mem_free(path);
            return NULL;
        }
        *slash = '\0';
    }
    return path;
}

/* Where an rlimit bounds its processes, a group of theirs need not: that of whoever is neither the
 * machine's root nor has the rights of sshd, which becomes users that each have the whole share. */
static struct cgroup *make_group(const struct box *box, unsigned index)
{
    struct shim_limits limits = box->pod->containers[index].limits;

    if (box->level == SANDBOX_FULL && !box->serves_ssh && box_processes(box))
        limits.processes = -1;
    return cgroup_new(box->pod->uid, index, &limits, box->hook, &box->rewrite);
}

pid_t box_start(struct box *box, unsigned index, const struct spawn_plan *program, int report_fd,
                struct error *err)
{
    const struct shim_container *c = &box->pod->containers[index];
    scoped_str data = data_directory(box);
    struct root_mount *mounts = mem_array((size_t)c->n_mounts + 1 + SSHD_FILES_MAX, sizeof *mounts);
    struct root_plan root = {
        .scratch = box->dir,
        .part_mounts = !box->own_mounts,
        .mounts = mounts,
        .run_tree_fd = run_tree(box, err),
        .hosts = box->pod->hosts != NULL,
        .private_tmp = box->private_tmp,
        .user_namespace = box->level == SANDBOX_USER,
        .owner = box->level == SANDBOX_FULL ? box->pod->ids : 0,
        .cwd = program->cwd,
        .hidden = data,
    };
    struct init_plan plan = {&root, *program, report_fd,         box->self_pidfd,
                             box,   index,    box->groups[index]};
    pid_t pid = -1;

    if (!box->groups[index])
        plan.group = box->groups[index] = make_group(box, index);
    if (box->hook && !(plan.group && plan.group->hooked))
        error_set(err, ERR_UNAVAILABLE, "", "the pod's addresses cannot be told apart: no BPF");
    else if (root.run_tree_fd >= 0 && take_mounts(box, index, mounts, &root.n_mounts, err)) {
        pid = cgroup_clone(plan.group, CLONE_NEWNS | CLONE_NEWPID, &plan.born);
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
