#pragma once
/*
 * The sandbox of a pod: what its shim sets up once, and how a container is started in it.
 *
 * The shim of a sandboxed pod has no other pod, so it enters the pod's user, uts and ipc namespaces
 * itself. Each container is one clone with a mount and a pid namespace of its own, whose process 1
 * is init.h. Files that need not outlive the shim lie on a tmpfs. That tmpfs is mounted nowhere if
 * the kernel (6.15) can copy such a mount into containers; at level user and on older kernels the
 * shim mounts it in a mount namespace of its own. At level plain there are no namespaces: volumes
 * are directories on disk, and environment variables tell where (plain.h).
 */
#include "node/machine/sockaddr_rules.h"
#include "node/sandbox/filter/sockaddr_bpf.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/mounts/hidden_dirs.h"
#include "node/sandbox/mounts/volumes.h"
#include "node/sandbox/network.h"
#include "node/sandbox/spawn.h"
#include "node/wire/message.h"

enum { POD_SANDBOX_ENV_MAX = 8 };

struct pod_sandbox {
    enum isolation_level level;
    bool confined; /* the pod's author may not do what the user who runs jobflow may (shim_pod) */
    const struct shim_pod *pod; /* what the shim was told about the pod; borrowed */
    bool private_tmp, private_network, hosts_as_addresses;
    struct sockaddr_rules rules;    /* rules for the socket addresses of the pod's programs */
    const struct sockaddr_bpf *bpf; /* BPF programs that apply the rules, borrowed; NULL: the shim
                                     * applies them */
    bool own_mounts;                /* the shim has a mount namespace of its own */
    char *dir; /* absolute path of the sandbox's files; at level plain they are on disk */
    struct hidden_dirs hidden; /* where the data directory is visible; none at level plain */
    int64_t scratch_bytes; /* size of a container's private directories; 0 = half of the memory */
    char *home; /* home directory that a confined pod at level USER must not see; NULL = none */
    struct volume_dirs dirs; /* the directories of volumes; disk_fd is the directory of pods as seen
                              * inside the sandbox */
    int self_pidfd;
    int user_fd;     /* level FULL: the user namespace of the pod's programs; other levels: -1 */
    bool serves_ssh; /* the pod's programs keep the capabilities that sshd needs */
    char *env[POD_SANDBOX_ENV_MAX]; /* variables of every container, [n_env]; owned */
    uint32_t n_env;
    char **mount_roots; /* level PLAIN: each container's variable VC_MOUNT_ROOT=PATH; other levels:
                         * all are NULL */
    struct cgroup **groups; /* control group of each container; NULL = none */
    struct cgroup *group;   /* control group of the pod as a whole, around them; NULL = none */
    uint64_t *contents;     /* for each volume a hash of its files */
};

/** Makes the pod's files and enters its namespaces. Files on disk lie in the directory of pods,
 * whose absolute path is `pods_dir`, under names that begin with the pod's uid. `network`
 * (borrowed) has net_fd -1 when pods use the machine's network. `bpf` is used if it is open.
 * Returns NULL with `err` on failure. */
struct pod_sandbox *pod_sandbox_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                                    const struct shim_config *config, const struct network *network,
                                    const struct sockaddr_bpf *bpf, struct error *err);
/** Removes the sandbox's files on disk and its control groups. Its mounts end with the process. */
void pod_sandbox_free(struct pod_sandbox *sandbox);
/** Cleans up after shims that were killed: kills what still runs of these pods, and removes their
 * control groups and their files on disk. It blocks. */
void pod_sandbox_remove_lost(int pods_fd, const char *const *uids, size_t count);

/** Replaces the hosts file of the pod. Programs see the new one at their next look-up. */
bool pod_sandbox_set_hosts(struct pod_sandbox *sandbox, const char *hosts, struct error *err);

/** Replaces the files of the volume with this index in the pod's volumes, unless the files have not
 * changed. */
bool pod_sandbox_set_files(struct pod_sandbox *sandbox, uint32_t index,
                           const struct shim_volume *volume, struct error *err);

/** Starts a container; `program` is as for spawn_program. Above level plain the process is the
 * container's init, which writes struct init_report to `report_fd`. Returns -1 with `err` when the
 * process cannot be cloned. */
pid_t pod_sandbox_start(struct pod_sandbox *sandbox, unsigned index,
                        const struct spawn_plan *program, int report_fd, struct error *err);

/** Moves this process, and all that it will start, into a running container whose process 1 is
 * `init`. `program` is what this process will start, and may be changed as by
 * pod_sandbox_drop_rights. `in_unified` is as for cgroup_join. */
bool pod_sandbox_join(struct pod_sandbox *sandbox, unsigned index, pid_t init, bool in_unified,
                      struct spawn_plan *program, struct error *err);
/** Takes on the ids and capabilities of a container's programs. It runs in the child that will
 * start the program. The program's working directory becomes / if these ids may not enter it. */
bool pod_sandbox_drop_rights(const struct pod_sandbox *sandbox, unsigned index,
                             struct spawn_plan *program, struct error *err);

/** Returns the RLIMIT_NPROC for the pod's programs, with which the pod has its share of processes
 * and no more. Returns 0 when an rlimit cannot bound them. */
unsigned pod_sandbox_process_limit(const struct pod_sandbox *sandbox);

/** Returns whether the pod runs sshd or mounts its configuration. Such a pod gets a host key at
 * levels above mounts. */
bool pod_sandbox_serves_ssh(const struct shim_pod *pod);
/** Returns whether the sandbox provides files for sshd (sshd.h). */
bool pod_sandbox_has_sshd_files(const struct pod_sandbox *sandbox);

/** Returns whether the shim rewrites the socket addresses of the pod's programs, through
 * sockaddr_notify.h. */
bool pod_sandbox_uses_notify(const struct pod_sandbox *sandbox);
/** Returns, after a program failed, the port in use because of which it may have failed; 0 = none
 * (sockaddr_bpf_taken_port). */
uint16_t pod_sandbox_taken_port(const struct pod_sandbox *sandbox, unsigned index);

/** Returns whether the kernel enforces the memory limit of the container. */
bool pod_sandbox_limits_memory(const struct pod_sandbox *sandbox, unsigned index);
/** Returns whether the kernel enforces the memory limit of the pod as a whole. */
bool pod_sandbox_limits_pod_memory(const struct pod_sandbox *sandbox);
/** Returns whether the kernel has killed a process of the container for exceeding the memory
 * limit. */
bool pod_sandbox_oom_killed(const struct pod_sandbox *sandbox, unsigned index);
/** Releases a container's control groups after its processes were reaped. */
void pod_sandbox_ended(struct pod_sandbox *sandbox, unsigned index);

/** Returns the path at which the container's program writes its termination message; borrowed. */
const char *pod_sandbox_message_path(const struct pod_sandbox *sandbox, unsigned index);
/** Returns the container's termination message (owned), or NULL. Clears the message for the next
 * run. */
char *pod_sandbox_termination_message(struct pod_sandbox *sandbox, unsigned index);
