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
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/network.h"
#include "node/sandbox/sockaddr_bpf.h"
#include "node/sandbox/spawn.h"
#include "node/sandbox/volumes.h"
#include "node/wire/message.h"

enum { POD_SANDBOX_ENV_MAX = 8 };

struct pod_sandbox {
    enum isolation_level level;
    const struct shim_pod *pod; /* borrowed */
    bool private_tmp, private_network, hosts_as_addresses;
    struct sockaddr_rules rules;    /* for socket addresses of its programs */
    const struct sockaddr_bpf *bpf; /* programs that apply them, borrowed; NULL: the shim does */
    bool own_mounts;                /* the shim has a mount namespace of its own */
    char *dir;                      /* absolute path of its files; level plain: on disk */
    struct volume_dirs dirs;        /* disk_fd: the directory of pods as seen inside the sandbox */
    int self_pidfd;
    int user_fd;                    /* level FULL: the user namespace of its programs; else -1 */
    bool serves_ssh;                /* its programs keep the capabilities that sshd needs */
    char *env[POD_SANDBOX_ENV_MAX]; /* [n_env] for every container; owned */
    uint32_t n_env;
    struct cgroup **groups; /* [containers]; NULL = none */
    uint64_t *contents;     /* [volumes]: hashes of their files */
};

/** Make the pod's files and enter its namespaces. Files on disk lie in the directory of pods, whose
 * absolute path is `pods_dir`, under names that begin with the pod's uid. `network` (borrowed) has
 * net_fd -1 when pods use the machine's network. `bpf` is used if it is open. NULL with `err`. */
struct pod_sandbox *pod_sandbox_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                                    const struct shim_config *config, const struct network *network,
                                    const struct sockaddr_bpf *bpf, struct error *err);
/** Remove its files on disk and its control groups. Its mounts end with the process. */
void pod_sandbox_free(struct pod_sandbox *sandbox);
/** Clean up after shims that were killed: kill what still runs of these pods, remove their control
 * groups and their files on disk. Blocks. */
void pod_sandbox_remove_lost(int pods_fd, const char *const *uids, size_t count);

/** Replace the hosts file. Programs see the new one at their next look-up. */
bool pod_sandbox_set_hosts(struct pod_sandbox *sandbox, const char *hosts, struct error *err);

/** Replace the files of a volume (index in the pod's volumes), unless they have not changed. */
bool pod_sandbox_set_files(struct pod_sandbox *sandbox, uint32_t index,
                           const struct shim_volume *volume, struct error *err);

/** Start a container; `program` is as for spawn_program. Above level plain the process is the
 * container's init, which writes struct init_report to `report_fd`. -1 with `err` when it cannot be
 * cloned. */
pid_t pod_sandbox_start(struct pod_sandbox *sandbox, unsigned index,
                        const struct spawn_plan *program, int report_fd, struct error *err);

/** Move this process, and all that it will start, into a running container whose process 1 is
 * `init`. `program` is what it will start, and may be changed as by pod_sandbox_drop_rights;
 * `in_unified`: see cgroup_join. */
bool pod_sandbox_join(struct pod_sandbox *sandbox, unsigned index, pid_t init, bool in_unified,
                      struct spawn_plan *program, struct error *err);
/** Take on the ids and capabilities of a container's programs. Runs in the child that will start
 * the program; the program's working directory becomes / if these ids may not enter it. */
bool pod_sandbox_drop_rights(const struct pod_sandbox *sandbox, unsigned index,
                             struct spawn_plan *program, struct error *err);

/** The RLIMIT_NPROC for programs of the pod, with which the pod has its share of processes and no
 * more; 0: an rlimit cannot bound them. */
unsigned pod_sandbox_process_limit(const struct pod_sandbox *sandbox);

/** Does the pod run sshd or mount its configuration? Then it gets a host key at levels above
 * mounts. */
bool pod_sandbox_serves_ssh(const struct shim_pod *pod);
/** Does the sandbox provide files for sshd (sshd.h)? */
bool pod_sandbox_has_sshd_files(const struct pod_sandbox *sandbox);

/** Does the shim rewrite the programs' socket addresses, through sockaddr_notify.h? */
bool pod_sandbox_uses_notify(const struct pod_sandbox *sandbox);
/** After a program failed: the port in use that it may have failed for, 0 = none; see
 * sockaddr_bpf_taken_port. */
uint16_t pod_sandbox_taken_port(const struct pod_sandbox *sandbox, unsigned index);

/** Does the kernel enforce the container's memory limit? */
bool pod_sandbox_limits_memory(const struct pod_sandbox *sandbox, unsigned index);
/** Has it killed a process of the container for exceeding it? */
bool pod_sandbox_oom_killed(const struct pod_sandbox *sandbox, unsigned index);
/** Release a container's control groups after its processes were reaped. */
void pod_sandbox_ended(struct pod_sandbox *sandbox, unsigned index);

/** The container's termination message (owned), or NULL. Clears it for the next run. */
char *pod_sandbox_termination_message(struct pod_sandbox *sandbox, unsigned index);
