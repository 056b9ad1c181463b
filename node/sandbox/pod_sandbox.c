/*
 * The box of a pod. See pod_sandbox.h.
 */
#include "node/sandbox/pod_sandbox.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/mount_tree.h"
#include "node/sandbox/plain.h"
#include "node/sandbox/rootfs.h"
#include "node/sandbox/sshd.h"
#include "node/sandbox/volumes.h"

enum { LOW_PORT = 1024, SSH_PORT = 22, PROCESSES_MAX = 1024 /* L-37 */ };

/* ---- who we are inside ---- */

/* Programs that expect to be root get to be it: those that are given files in its home directory,
 * bind low ports or are sshd. All others keep the user's own id. */
static bool runs_sshd(const struct shim_pod *pod)
{
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        for (uint32_t a = 0; a < pod->containers[i].n_argv; a++)
            if (strstr(pod->containers[i].argv[a], "sshd"))
                return true;
    return false;
}

static bool mounts_below(const struct shim_pod *pod, const char *dir)
{
    size_t len = strlen(dir);

    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++) {
        const struct shim_container *c = &pod->containers[i];

        for (uint32_t m = 0; m < c->n_mounts; m++)
            if (strncmp(c->mounts[m].path, dir, len) == 0 && strchr("/", c->mounts[m].path[len]))
                return true;
    }
    return false;
}

bool box_serves_ssh(const struct shim_pod *pod)
{
    return runs_sshd(pod) || mounts_below(pod, "/root/.ssh");
}

static bool wants_root(const struct shim_pod *pod)
{
    if (runs_sshd(pod) || mounts_below(pod, "/root"))
        return true;
    for (uint32_t i = 0; i < pod->n_ports; i++)
        if (pod->ports[i] < LOW_PORT)
            return true;
    return false;
}

/* The declared ports; that of ssh is declared by whoever runs sshd. */
static void fill_rewrite(struct box *box, const struct shim_config *config, const struct hook *hook)
{
    const struct shim_pod *pod = box->pod;
    struct rewrite *rewrite = &box->rewrite;
    struct in_addr ip;

    for (uint32_t i = 0; i < pod->n_ports && rewrite->n_ports < REWRITE_PORTS_MAX; i++)
        rewrite->ports[rewrite->n_ports++] = (uint16_t)pod->ports[i];
    if (runs_sshd(pod) && rewrite->n_ports < REWRITE_PORTS_MAX)
        rewrite->ports[rewrite->n_ports++] = SSH_PORT;
    if (config->rewrite != REWRITE_NONE && pod->ip && inet_pton(AF_INET, pod->ip, &ip) == 1)
        rewrite->ip = ip.s_addr;
    rewrite->low_ports_move = rewrite_low_ports_move();
    if (rewrite->ip && config->rewrite == REWRITE_BY_KERNEL && hook_is_open(hook))
        box->hook = hook; /* without it, programs ask */
}

/* ---- files ---- */

static const char hosts_name[] = "run/hosts";

static bool write_small(struct box *box, const char *name, const char *text, struct error *err)
{
    int fd = openat(box->where.own_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    0644);
    bool ok = fd >= 0 && file_write_all(fd, text, strlen(text)) && fchmod(fd, 0644) == 0;

    if (!ok)
        error_errno(err, errno, "cannot write %s", name);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool box_set_hosts(struct box *box, const char *hosts, struct error *err)
{
    int fd = box->where.own_fd;

    return write_small(box, "run/hosts.new", hosts, err) &&
           (renameat(fd, "run/hosts.new", fd, hosts_name) == 0 ||
            error_errno(err, errno, "cannot replace the hosts file"));
}

static uint64_t hash_files(const struct shim_volume *volume)
{
    uint64_t hash = volume->n_files;

    for (uint32_t i = 0; i < volume->n_files; i++) {
        const struct shim_file *file = &volume->files[i];
        const uint64_t parts[] = {hash, hash_stable(file->path, strlen(file->path)),
                                  hash_stable(file->bytes, file->len), file->mode};

        hash = hash_stable(parts, sizeof parts);
    }
    return hash;
}

bool box_set_files(struct box *box, uint32_t index, const struct shim_volume *volume,
                   struct error *err)
{
    uint64_t hash = hash_files(volume);

    if (index >= box->pod->n_volumes || box->pod->volumes[index].kind != SHIM_FILES_VOLUME)
        return error_set(err, ERR_INVALID, "", "no volume of files");
    if (box->contents[index] == hash)
        return true;
    if (!volumes_update(&box->where, box->pod, index, volume, err)) {
        error_prefix(err, "volume \"%s\": ", box->pod->volumes[index].name);
        return false;
    }
    box->contents[index] = hash;
    return true;
}

static bool make_directories(struct box *box, struct error *err)
{
    static const struct {
        const char *name;
        mode_t mode;
    } rows[] = {{"run", 0755}, {"term", 0755}};

    for (size_t i = 0; i < countof(rows); i++)
        if (mkdirat(box->where.own_fd, rows[i].name, 0700) ||
            fchmodat(box->where.own_fd, rows[i].name, rows[i].mode, 0))
            return error_errno(err, errno, "cannot make the pod's directory %s", rows[i].name);
    return true;
}

static bool make_identity(struct box *box, struct error *err)
{
    const struct shim_pod *pod = box->pod;
    const char *hostname = pod->hostname ? pod->hostname : "";
    scoped_str line = mem_printf("%s\n", hostname);

    if (box->level > SANDBOX_PLAIN && *hostname && sethostname(hostname, strlen(hostname)))
        return error_errno(err, errno, "cannot set the hostname %s", hostname);
    return write_small(box, "run/hostname", line, err) &&
           (!pod->hosts || write_small(box, hosts_name, pod->hosts, err)); /* nobody reads yet */
}

static bool make_sshd(struct box *box, struct error *err)
{
    return !box_has_sshd_files(box) ||
           sshd_make(box->where.own_fd, box->level, box->pod->host_key, box->pod->host_public, err);
}

/* Whoever has an address in the private network is in it. */
static bool enter_network(struct box *box, const struct network *network, struct error *err)
{
    struct in_addr ip;

    if (!box->private_network || !box->pod->ip || inet_pton(AF_INET, box->pod->ip, &ip) != 1)
        return true;
    if (network->net_fd < 0)
        return error_set(err, ERR_UNAVAILABLE, "", "the private network is gone");
    return network_join(network, ip.s_addr, err) || (error_prefix(err, "private network: "), false);
}

/* What need not outlive the shim is in a file system in memory. Where that can be mounted nowhere
 * and still be shown to containers, the mounts of the machine need not be copied for the shim. */
static int make_memory(const struct box *box)
{
    int fd = box->level == SANDBOX_USER ? -1 : tree_memory("0755", 0, NULL);
    int copy_fd = fd < 0 ? -1 : tree_clone(fd, false, false, NULL);

    if (copy_fd >= 0)
        close(copy_fd);
    else if (fd >= 0)
        close(fd);
    return copy_fd < 0 ? -1 : fd;
}

/* Else it lies over the directory of pods: there, the descriptor alone leads to the disk. */
static bool mount_memory(struct box *box, struct error *err)
{
    box->own_mounts = true;
    if (!sandbox_enter_mounts(err))
        return false;
    close(box->where.disk_fd); /* that one belongs to the mounts we have left */
    box->where.disk_fd = open(box->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (box->where.disk_fd < 0)
        return error_errno(err, errno, "%s", box->dir);
    if (mount("tmpfs", box->dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"))
        return error_errno(err, errno, "cannot mount tmpfs on %s", box->dir);
    box->where.own_fd = open(box->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return box->where.own_fd >= 0 || error_errno(err, errno, "%s", box->dir);
}

static bool enter(struct box *box, const struct network *network, struct error *err)
{
    bool root = wants_root(box->pod);
    uid_t uid = root ? 0 : geteuid(); /* before another user namespace calls us something else */
    gid_t gid = root ? 0 : getegid();

    if (box->level == SANDBOX_FULL && (box->user_fd = sandbox_user_range(box->pod->ids, err)) < 0)
        return false;
    if (!enter_network(box, network, err) || !sandbox_enter(box->level, uid, gid, err))
        return false;
    box->where.may_mount = true;
    box->where.own_fd = make_memory(box);
    return box->where.own_fd >= 0 || mount_memory(box, err);
}

/* At level plain, in a directory on disk. */
static bool stay(struct box *box, struct error *err)
{
    const char *uid = box->pod->uid;
    int at_fd = box->where.disk_fd;

    if (mkdirat(at_fd, uid, 0700) == 0)
        box->where.own_fd = openat(at_fd, uid, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return box->where.own_fd >= 0 || error_errno(err, errno, "directory of the pod");
}

struct box *box_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                    const struct shim_config *config, const struct network *network,
                    const struct hook *hook, struct error *err)
{
    bool mounts = config->level > SANDBOX_PLAIN;
    struct box *box = mem_alloc(sizeof *box);

    box->level = (enum sandbox_level)config->level;
    box->pod = pod;
    box->private_tmp = config->private_tmp;
    box->hosts_as_addresses = config->hosts_as_addresses;
    box->private_network = config->private_network;
    box->groups = mem_array(pod->n_init + pod->n_main, sizeof(struct cgroup *));
    box->contents = mem_array(pod->n_volumes, sizeof *box->contents);
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        box->contents[i] = hash_files(&pod->volumes[i]);
    fill_rewrite(box, config, hook);
    box->dir = mounts ? mem_strdup(pods_dir) : mem_printf("%s/%s", pods_dir, pod->uid);
    box->where.disk_fd = openat(pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    box->where.own_fd = -1;
    box->self_pidfd = pidfd_open(getpid(), 0);
    box->user_fd = -1;
    box->serves_ssh = box_serves_ssh(pod);
    if ((mounts ? enter(box, network, err) : stay(box, err)) && make_directories(box, err) &&
        make_identity(box, err) && make_sshd(box, err) && volumes_make(&box->where, pod, err) &&
        (mounts || plain_make(box, err)))
        return box;
    box_free(box);
    return NULL;
}

void box_free(struct box *box)
{
    if (!box)
        return;
    volumes_remove(&box->where, box->pod);
    if (box->level == SANDBOX_PLAIN)
        file_remove_tree(box->where.disk_fd, box->pod->uid, NULL);
    for (uint32_t i = 0; i < box->n_env; i++)
        mem_free(box->env[i]);
    for (uint32_t i = 0; i < box->pod->n_init + box->pod->n_main; i++)
        cgroup_free(box->groups[i]);
    mem_free(box->groups);
    mem_free(box->contents);
    if (box->where.own_fd >= 0)
        close(box->where.own_fd);
    close(box->where.disk_fd);
    if (box->user_fd >= 0)
        close(box->user_fd);
    close(box->self_pidfd);
    mem_free(box->dir);
    mem_free(box);
}

bool box_has_sshd_files(const struct box *box)
{
    return box->pod->host_key && box->pod->host_public && box->level >= SANDBOX_USER;
}

/* ---- addresses ---- */

bool box_asks(const struct box *box)
{
    return box->rewrite.ip && !box->hook;
}

uint16_t box_taken_port(const struct box *box, unsigned index)
{
    const struct cgroup *group = box->groups[index];

    return group && group->hooked ? hook_taken(box->hook, group->cell) : 0;
}

/* ---- limits ---- */

/* Processes and threads of this user, as the kernel counts them for RLIMIT_NPROC. */
static unsigned count_own(void)
{
    DIR *proc = opendir("/proc");
    unsigned count = 0;

    for (struct dirent *entry;
         proc && (entry = readdir(proc));) { /* NOLINT(concurrency-mt-unsafe) */
        char path[NAME_MAX + 16];
        struct stat info;

        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (stat(path, &info) == 0 && info.st_uid == geteuid() && info.st_nlink > 2)
            count += (unsigned)info.st_nlink - 2;
    }
    if (proc)
        closedir(proc);
    return count;
}

/* Before 5.14 all processes of the user count, wherever they are. */
static bool counts_by_namespace(void)
{
    struct utsname kernel;
    unsigned long major, minor;
    char *dot;

    if (uname(&kernel))
        return false;
    major = strtoul(kernel.release, &dot, 10);
    minor = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
    return major > 5 || (major == 5 && minor >= 14);
}

unsigned box_processes(const struct box *box)
{
    if (box->level >= SANDBOX_USER && counts_by_namespace())
        return PROCESSES_MAX;
    /* root's are not counted; others have as many as there are now, and the pod's share */
    return box->level == SANDBOX_PLAIN && geteuid() ? count_own() + PROCESSES_MAX : 0;
}

bool box_limits_memory(const struct box *box, unsigned index)
{
    return box->groups[index] && box->groups[index]->limits_memory;
}

bool box_was_oom(const struct box *box, unsigned index)
{
    return box->groups[index] && cgroup_was_oom(box->groups[index]);
}

void box_ended(struct box *box, unsigned index)
{
    cgroup_free(box->groups[index]);
    box->groups[index] = NULL;
}
