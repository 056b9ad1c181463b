/*
 * The sandbox of a pod: its namespaces, its files, its limits, and cleaning up after a killed shim.
 *
 * Containers are started by pod_sandbox_container.c.
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
#include <time.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/mounts/mount_tree.h"
#include "node/sandbox/mounts/volumes.h"
#include "node/sandbox/namespaces.h"
#include "node/sandbox/plain.h"
#include "node/sandbox/rootfs.h"
#include "node/sandbox/sshd.h"

enum {
    LOW_PORT = 1024,
    SSH_PORT = 22,
    PROCESSES_MAX = 1024, /* limit of processes of a pod (rule L-37) */
    REMOVE_TRIES = 50,
    REMOVE_PAUSE_NS = 2000000,
};

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

bool pod_sandbox_serves_ssh(const struct shim_pod *pod)
{
    return runs_sshd(pod) || mounts_below(pod, "/root/.ssh");
}

/* Returns whether the pod expects to be root: it has files in root's home directory, low ports, or
 * sshd. At level user a pod has a single id; it is root for such pods, and others keep the user's
 * own id. */
static bool wants_root(const struct shim_pod *pod)
{
    if (runs_sshd(pod) || mounts_below(pod, "/root"))
        return true;
    for (uint32_t i = 0; i < pod->n_ports; i++)
        if (pod->ports[i] < LOW_PORT)
            return true;
    return false;
}

/* Fills in the address and the ports of a pod. A pod that runs sshd has port 22 without declaring
 * it. */
static void fill_sockaddr_rules(struct pod_sandbox *sandbox, const struct shim_config *config,
                                const struct sockaddr_bpf *bpf)
{
    const struct shim_pod *pod = sandbox->pod;
    struct sockaddr_rules *rules = &sandbox->rules;
    struct in_addr ip;

    for (uint32_t i = 0; i < pod->n_ports && rules->n_ports < SOCKADDR_PORTS_MAX; i++)
        rules->ports[rules->n_ports++] = (uint16_t)pod->ports[i];
    if (runs_sshd(pod) && rules->n_ports < SOCKADDR_PORTS_MAX)
        rules->ports[rules->n_ports++] = SSH_PORT;
    if (config->sockaddr_method != SOCKADDR_METHOD_NONE && pod->ip &&
        inet_pton(AF_INET, pod->ip, &ip) == 1)
        rules->ip = ip.s_addr;
    rules->low_ports_move = sockaddr_low_ports_move();
    if (rules->ip && config->sockaddr_method == SOCKADDR_METHOD_BPF && sockaddr_bpf_is_open(bpf))
        sandbox->bpf = bpf; /* NULL: pod_sandbox_uses_notify tells the method */
}

static const char hosts_name[] = "run/hosts";

static bool write_small(struct pod_sandbox *sandbox, const char *name, const char *text,
                        struct error *err)
{
    int fd = openat(sandbox->dirs.own_fd, name,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool ok = fd >= 0 && file_write_all(fd, text, strlen(text)) && fchmod(fd, 0644) == 0;

    if (!ok)
        error_errno(err, errno, "cannot write %s", name);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool pod_sandbox_set_hosts(struct pod_sandbox *sandbox, const char *hosts, struct error *err)
{
    int fd = sandbox->dirs.own_fd;

    return write_small(sandbox, "run/hosts.new", hosts, err) &&
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

bool pod_sandbox_set_files(struct pod_sandbox *sandbox, uint32_t index,
                           const struct shim_volume *volume, struct error *err)
{
    uint64_t hash = hash_files(volume);

    if (index >= sandbox->pod->n_volumes || sandbox->pod->volumes[index].kind != SHIM_FILES_VOLUME)
        return error_set(err, ERR_INVALID, "", "no volume of files");
    if (sandbox->contents[index] == hash)
        return true;
    if (!volumes_update(&sandbox->dirs, sandbox->pod, index, volume, err)) {
        error_prefix(err, "volume \"%s\": ", sandbox->pod->volumes[index].name);
        return false;
    }
    sandbox->contents[index] = hash;
    return true;
}

static bool make_directories(struct pod_sandbox *sandbox, struct error *err)
{
    static const struct {
        const char *name;
        mode_t mode;
    } rows[] = {{"run", 0755}, {"term", 0755}};

    for (size_t i = 0; i < countof(rows); i++)
        if (mkdirat(sandbox->dirs.own_fd, rows[i].name, 0700) ||
            fchmodat(sandbox->dirs.own_fd, rows[i].name, rows[i].mode, 0))
            return error_errno(err, errno, "cannot make the pod's directory %s", rows[i].name);
    return true;
}

static bool make_identity(struct pod_sandbox *sandbox, struct error *err)
{
    const struct shim_pod *pod = sandbox->pod;
    const char *hostname = pod->hostname ? pod->hostname : "";
    scoped_str line = mem_printf("%s\n", hostname);

    if (sandbox->level > ISOLATION_PLAIN && *hostname && sethostname(hostname, strlen(hostname)))
        return error_errno(err, errno, "cannot set the hostname %s", hostname);
    return write_small(sandbox, "run/hostname", line, err) &&
           (!pod->hosts ||
            write_small(sandbox, hosts_name, pod->hosts, err)); /* no process reads the file yet */
}

static bool make_sshd(struct pod_sandbox *sandbox, struct error *err)
{
    return !pod_sandbox_has_sshd_files(sandbox) ||
           sshd_make(sandbox->dirs.own_fd, sandbox->level, sandbox->pod->host_key,
                     sandbox->pod->host_public, err);
}

/* Moves a pod with an address in the private network into that network. */
static bool enter_network(struct pod_sandbox *sandbox, const struct network *network,
                          struct error *err)
{
    struct in_addr ip;

    if (!sandbox->private_network || !sandbox->pod->ip ||
        inet_pton(AF_INET, sandbox->pod->ip, &ip) != 1)
        return true;
    if (network->net_fd < 0)
        return error_set(err, ERR_UNAVAILABLE, "", "the private network is gone");
    return network_join(network, ip.s_addr, err) || (error_prefix(err, "private network: "), false);
}

/* Returns the size of the pod's own file system, with its hosts file, ConfigMaps, Secrets and
 * termination messages, to which programs write. 0 = half of the memory. */
static int64_t own_files_bytes(const struct pod_sandbox *sandbox)
{
    const int64_t of_volumes = 256 << 20; /* 64 volumes of 1 MiB, while they are replaced */

    return sandbox->scratch_bytes ? sandbox->scratch_bytes + of_volumes : 0;
}

/* Makes a tmpfs that is mounted nowhere, if the kernel can copy such a mount into containers; else
 * returns -1. With such a tmpfs the shim needs no copy of the machine's mounts. */
static int make_tmpfs(const struct pod_sandbox *sandbox)
{
    int fd = sandbox->level == ISOLATION_USER
                 ? -1
                 : mount_tree_tmpfs("0755", own_files_bytes(sandbox), NULL);
    int copy_fd = fd < 0 ? -1 : mount_tree_clone(fd, 0, NULL);

    if (copy_fd >= 0)
        close(copy_fd);
    else if (fd >= 0)
        close(fd);
    return copy_fd < 0 ? -1 : fd;
}

/* Mounts the tmpfs over the directory of pods, in a new mount namespace. From then on only disk_fd
 * leads to the directory on disk below it. */
static bool mount_tmpfs(struct pod_sandbox *sandbox, struct error *err)
{
    char options[MOUNT_TREE_OPTIONS_MAX];

    sandbox->own_mounts = true;
    if (!namespaces_enter_mounts(err))
        return false;
    close(sandbox->dirs.disk_fd); /* the descriptor refers to the mounts of the old namespace */
    sandbox->dirs.disk_fd = open(sandbox->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sandbox->dirs.disk_fd < 0)
        return error_errno(err, errno, "%s", sandbox->dir);
    mount_tree_tmpfs_options(own_files_bytes(sandbox), options);
    if (mount("tmpfs", sandbox->dir, "tmpfs", MS_NOSUID | MS_NODEV, options))
        return error_errno(err, errno, "cannot mount tmpfs on %s", sandbox->dir);
    sandbox->dirs.own_fd = open(sandbox->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return sandbox->dirs.own_fd >= 0 || error_errno(err, errno, "%s", sandbox->dir);
}

static bool enter_namespaces(struct pod_sandbox *sandbox, const struct network *network,
                             struct error *err)
{
    bool root = wants_root(sandbox->pod);
    uid_t uid = root ? 0 : geteuid(); /* the ids are read before a user namespace changes them */
    gid_t gid = root ? 0 : getegid();

    if (sandbox->level == ISOLATION_FULL &&
        (sandbox->user_fd = namespaces_user_range(sandbox->pod->ids, err)) < 0)
        return false;
    if (!enter_network(sandbox, network, err) || !namespaces_enter(sandbox->level, uid, gid, err))
        return false;
    sandbox->dirs.may_mount = true;
    sandbox->dirs.own_fd = make_tmpfs(sandbox);
    return sandbox->dirs.own_fd >= 0 || mount_tmpfs(sandbox, err);
}

/* Makes the directory on disk that holds the pod's files at level plain. */
static bool make_plain_dir(struct pod_sandbox *sandbox, struct error *err)
{
    const char *uid = sandbox->pod->uid;
    int at_fd = sandbox->dirs.disk_fd;

    if (mkdirat(at_fd, uid, 0700) == 0)
        sandbox->dirs.own_fd = openat(at_fd, uid, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return sandbox->dirs.own_fd >= 0 || error_errno(err, errno, "directory of the pod");
}

/* The directory of pods is <data>/node/pods (node/runtime/internal.h). */
static void hide_data_directory(struct pod_sandbox *sandbox)
{
    scoped_str path = mem_strdup(sandbox->dir);

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
            return;
        *slash = '\0';
    }
    hidden_dirs_find(path, &sandbox->hidden);
}

/* A confined program with the id of the user who runs jobflow does not get that user's home
 * directory. At level FULL the ids of programs have no rights there. */
static void hide_home(struct pod_sandbox *sandbox, const struct shim_config *config)
{
    static const char name[] = "HOME=/";
    char home[ROOTFS_PATH_MAX];

    if (!sandbox->confined || sandbox->level != ISOLATION_USER)
        return;
    for (uint32_t i = 0; i < config->n_env; i++)
        if (strncmp(config->env[i], name, strlen(name)) == 0 &&
            rootfs_resolve(config->env[i] + strlen(name) - 1, home, NULL) && home[1])
            sandbox->home = mem_strdup(home);
}

struct pod_sandbox *pod_sandbox_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                                    const struct shim_config *config, const struct network *network,
                                    const struct sockaddr_bpf *bpf, struct error *err)
{
    enum isolation_level level =
        pod->confined ? isolation_level_confining() : (enum isolation_level)config->level;
    bool mounts = level > ISOLATION_PLAIN;
    struct pod_sandbox *sandbox = mem_alloc(sizeof *sandbox);

    sandbox->level = level;
    sandbox->confined = pod->confined;
    sandbox->pod = pod;
    sandbox->private_tmp = config->private_tmp || pod->confined;
    sandbox->scratch_bytes = config->scratch_bytes;
    sandbox->hosts_as_addresses = config->hosts_as_addresses;
    sandbox->private_network = config->private_network;
    sandbox->groups = mem_array(pod->n_init + pod->n_main, sizeof(struct cgroup *));
    sandbox->mount_roots = mem_array(pod->n_init + pod->n_main, sizeof(char *));
    sandbox->contents = mem_array(pod->n_volumes, sizeof *sandbox->contents);
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        sandbox->contents[i] = hash_files(&pod->volumes[i]);
    fill_sockaddr_rules(sandbox, config, bpf);
    sandbox->dir = mounts ? mem_strdup(pods_dir) : mem_printf("%s/%s", pods_dir, pod->uid);
    sandbox->dirs.disk_fd = openat(pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sandbox->dirs.own_fd = -1;
    sandbox->self_pidfd = pidfd_open(getpid(), 0);
    sandbox->user_fd = -1;
    sandbox->serves_ssh = pod_sandbox_serves_ssh(pod);
    if (mounts) {
        hide_data_directory(sandbox);
        hide_home(sandbox, config);
    }
    if ((mounts ? enter_namespaces(sandbox, network, err) : make_plain_dir(sandbox, err)) &&
        make_directories(sandbox, err) && make_identity(sandbox, err) && make_sshd(sandbox, err) &&
        volumes_make(&sandbox->dirs, pod, err) && (mounts || plain_make(sandbox, err)))
        return sandbox;
    pod_sandbox_free(sandbox);
    return NULL;
}

void pod_sandbox_free(struct pod_sandbox *sandbox)
{
    if (!sandbox)
        return;
    volumes_remove(&sandbox->dirs, sandbox->pod);
    if (sandbox->level == ISOLATION_PLAIN)
        file_remove_tree(sandbox->dirs.disk_fd, sandbox->pod->uid, NULL);
    for (uint32_t i = 0; i < sandbox->n_env; i++)
        mem_free(sandbox->env[i]);
    for (uint32_t i = 0; i < sandbox->pod->n_init + sandbox->pod->n_main; i++) {
        cgroup_free(sandbox->groups[i]);
        mem_free(sandbox->mount_roots[i]);
    }
    mem_free(sandbox->mount_roots);
    cgroup_free(sandbox->group);
    mem_free(sandbox->groups);
    mem_free(sandbox->contents);
    if (sandbox->dirs.own_fd >= 0)
        close(sandbox->dirs.own_fd);
    close(sandbox->dirs.disk_fd);
    if (sandbox->user_fd >= 0)
        close(sandbox->user_fd);
    close(sandbox->self_pidfd);
    hidden_dirs_release(&sandbox->hidden);
    mem_free(sandbox->home);
    mem_free(sandbox->dir);
    mem_free(sandbox);
}

bool pod_sandbox_has_sshd_files(const struct pod_sandbox *sandbox)
{
    return sandbox->pod->host_key && sandbox->pod->host_public && sandbox->level >= ISOLATION_USER;
}

bool pod_sandbox_uses_notify(const struct pod_sandbox *sandbox)
{
    return sandbox->rules.ip && !sandbox->bpf;
}

uint16_t pod_sandbox_taken_port(const struct pod_sandbox *sandbox, unsigned index)
{
    const struct cgroup *group = sandbox->groups[index];

    return group && group->sockaddr_bpf ? sockaddr_bpf_taken_port(sandbox->bpf, group->storage_key)
                                        : 0;
}

/* Returns the number of processes and threads of this user, as the kernel counts them for
 * RLIMIT_NPROC. */
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

/* Returns whether the kernel counts the processes of each user namespace separately. Before 5.14
 * all processes of the user count, wherever they are. */
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

unsigned pod_sandbox_process_limit(const struct pod_sandbox *sandbox)
{
    if (sandbox->level >= ISOLATION_USER && counts_by_namespace())
        return PROCESSES_MAX;
    /* At level plain RLIMIT_NPROC does not bind root. Other users get what runs now plus the pod's
     * share. */
    return sandbox->level == ISOLATION_PLAIN && geteuid() ? count_own() + PROCESSES_MAX : 0;
}

bool pod_sandbox_limits_memory(const struct pod_sandbox *sandbox, unsigned index)
{
    return sandbox->groups[index] && sandbox->groups[index]->limits_memory;
}

bool pod_sandbox_limits_pod_memory(const struct pod_sandbox *sandbox)
{
    return sandbox->group && sandbox->group->limits_memory;
}

bool pod_sandbox_oom_killed(const struct pod_sandbox *sandbox, unsigned index)
{
    return sandbox->groups[index] && cgroup_oom_killed(sandbox->groups[index]);
}

void pod_sandbox_ended(struct pod_sandbox *sandbox, unsigned index)
{
    cgroup_free(sandbox->groups[index]);
    sandbox->groups[index] = NULL;
}

/* Returns whether the name of a directory entry is <uid> or <uid>.<volume> of one of these pods. No
 * uid contains a dot. */
static bool is_of_any(const char *name, const char *const *uids, size_t count)
{
    size_t len = strcspn(name, ".");

    for (size_t i = 0; i < count; i++)
        if (strncmp(name, uids[i], len) == 0 && !uids[i][len])
            return true;
    return false;
}

/* Removes a pod's directory. Killed processes may still write into it while they end, so the
 * removal is retried. */
static void remove_tree(int pods_fd, const char *name)
{
    const struct timespec pause = {0, REMOVE_PAUSE_NS};

    for (unsigned tries = 0; !file_remove_tree(pods_fd, name, NULL) && tries < REMOVE_TRIES;
         tries++)
        nanosleep(&pause, NULL);
}

void pod_sandbox_remove_lost(int pods_fd, const char *const *uids, size_t count)
{
    int fd = openat(pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    cgroup_remove_lost(uids, count);
    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.' && is_of_any(entry->d_name, uids, count))
            remove_tree(pods_fd, entry->d_name);
    if (dir)
        closedir(dir);
}
