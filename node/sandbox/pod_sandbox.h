#pragma once
/*
 * The sandbox of a pod: what its shim sets up once, and how a container is started in it.
 *
 * The shim of a sandboxed pod has no other pod, so it enters the pod's user, uts and ipc namespaces
 * itself; each container then is one clone with a mount and pid namespace of its own, whose process
 * 1 is init.h. What the containers share in memory is mounted nowhere; an ordinary user, and a
 * kernel before 6.15, needs a mount namespace of the shim to have it in. At level plain there are
 * no namespaces: volumes are directories, and variables in the environment say where.
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
    struct sockaddr_rules rules; /* of the addresses its programs use, */
    const struct sockaddr_bpf
        *bpf;        /* by the kernel, borrowed; NULL: by asking us (pod_sandbox_uses_notify) */
    bool own_mounts; /* the shim is in a mount namespace of its own */
    char *dir;       /* absolute: where what is its own lies; level plain: on disk */
    struct volume_dirs dirs; /* disk_fd: the directory of pods, in the namespaces of the sandbox */
    int self_pidfd;
    int user_fd;                    /* level FULL: the namespace of its programs' ids; else -1 */
    bool serves_ssh;                /* its programs keep what sshd needs */
    char *env[POD_SANDBOX_ENV_MAX]; /* [n_env] for every container; owned */
    uint32_t n_env;
    struct cgroup **groups; /* [containers]; NULL = none */
    uint64_t *contents;     /* [volumes]: hashes of their files */
};

/**
 * Make the pod's files, enter its namespaces. On disk, what is the pod's lies in the directory of
 * pods, absolute path `pods_dir`, under names that begin with its uid. `network` (borrowed) has
 * net_fd -1 where pods are in the machine's own; `bpf` is used if it is open.
 */
struct pod_sandbox *pod_sandbox_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                                    const struct shim_config *config, const struct network *network,
                                    const struct sockaddr_bpf *bpf, struct error *err);
/** Remove what it put on disk. Its mounts go with the process. */
void pod_sandbox_free(struct pod_sandbox *sandbox);
/** Remove what sandboxes have left whose shim was killed: control groups, what lies on disk. What still
 * runs of them is killed. */
void pod_sandbox_remove_lost(int pods_fd, const char *const *uids, size_t count);

/** Replace the hosts file; every process sees the new one at its next look-up. */
bool pod_sandbox_set_hosts(struct pod_sandbox *sandbox, const char *hosts, struct error *err);

/** Replace the files of a volume, unless they are as they were. */
bool pod_sandbox_set_files(struct pod_sandbox *sandbox, uint32_t index,
                           const struct shim_volume *volume, struct error *err);

/**
 * Start a container; `program` as for spawn_program. Above level plain the process is its init,
 * which writes struct init_report to `report_fd`. -1 with `err` when not even that can be started.
 */
pid_t pod_sandbox_start(struct pod_sandbox *sandbox, unsigned index,
                        const struct spawn_plan *program, int report_fd, struct error *err);

/** Join a container that runs, whose first process is `init`: this process, and all it starts.
 * `program` is what it will start; `in_unified`: see cgroup_clone. */
bool pod_sandbox_join(struct pod_sandbox *sandbox, unsigned index, pid_t init, bool in_unified,
                      struct spawn_plan *program, struct error *err);
/** In a child: become who a container's programs are. Their plan may change with it. */
bool pod_sandbox_drop_rights(const struct pod_sandbox *sandbox, unsigned index,
                             struct spawn_plan *program, struct error *err);

/** How many processes the user limit of a program should allow, so that the pod has its share and
 * no more; 0 = it does not bound them. */
unsigned pod_sandbox_process_limit(const struct pod_sandbox *sandbox);

/** May programs of the pod serve ssh? Then above level mounts they are given a host key. */
bool pod_sandbox_serves_ssh(const struct shim_pod *pod);
/** Are there files of ours for sshd (sshd.h)? */
bool pod_sandbox_has_sshd_files(const struct pod_sandbox *sandbox);

/** Do its programs ask the shim about addresses? */
bool pod_sandbox_uses_notify(const struct pod_sandbox *sandbox);
/** A program failed: the port it may have failed for; see sockaddr_bpf_taken_port. */
uint16_t pod_sandbox_taken_port(const struct pod_sandbox *sandbox, unsigned index);

/** Is the container's memory limit enforced by the kernel? Has it been, deadly? */
bool pod_sandbox_limits_memory(const struct pod_sandbox *sandbox, unsigned index);
bool pod_sandbox_oom_killed(const struct pod_sandbox *sandbox, unsigned index);
/** Its processes are gone. */
void pod_sandbox_ended(struct pod_sandbox *sandbox, unsigned index);

/** What the container left as its termination message (owned), or NULL. Clears it for the next run.
 */
char *pod_sandbox_termination_message(struct pod_sandbox *sandbox, unsigned index);
