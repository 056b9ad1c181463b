#pragma once
/*
 * The box of a pod: what its shim sets up once, and how a container is started in it.
 *
 * The shim of a boxed pod has no other pod, so it enters the pod's user, uts and ipc namespaces
 * itself; each container then is one clone with a mount and pid namespace of its own, whose process
 * 1 is init.h. What the containers share in memory is mounted nowhere; an ordinary user, and a
 * kernel before 6.15, needs a mount namespace of the shim to have it in. At level plain there are
 * no namespaces: volumes are directories, and variables in the environment say where.
 */
#include "node/machine/sockaddr_rules.h"
#include "node/sandbox/network.h"
#include "node/sandbox/sandbox.h"
#include "node/sandbox/sockaddr_bpf.h"
#include "node/sandbox/spawn.h"
#include "node/sandbox/volumes.h"
#include "node/wire/message.h"

enum { BOX_ENV_MAX = 8 };

struct box {
    enum sandbox_level level;
    const struct shim_pod *pod; /* borrowed */
    bool private_tmp, private_network, hosts_as_addresses;
    struct rewrite rewrite;     /* of the addresses its programs use, */
    const struct hook *hook;    /* by the kernel, borrowed; NULL: by asking us (box_asks) */
    bool own_mounts;            /* the shim is in a mount namespace of its own */
    char *dir;                  /* absolute: where what is its own lies; level plain: on disk */
    struct volumes_where where; /* disk_fd: the directory of pods, in the namespaces of the box */
    int self_pidfd;
    int user_fd;            /* level FULL: the namespace of its programs' ids; else -1 */
    bool serves_ssh;        /* its programs keep what sshd needs */
    char *env[BOX_ENV_MAX]; /* [n_env] for every container; owned */
    uint32_t n_env;
    struct cgroup **groups; /* [containers]; NULL = none */
    uint64_t *contents;     /* [volumes]: hashes of their files */
};

/**
 * Make the pod's files, enter its namespaces. On disk, what is the pod's lies in the directory of
 * pods, absolute path `pods_dir`, under names that begin with its uid. `network` (borrowed) has
 * net_fd -1 where pods are in the machine's own; `hook` is used if it is open.
 */
struct box *box_new(int pods_fd, const char *pods_dir, const struct shim_pod *pod,
                    const struct shim_config *config, const struct network *network,
                    const struct hook *hook, struct error *err);
/** Remove what it put on disk. Its mounts go with the process. */
void box_free(struct box *box);
/** Remove what boxes have left whose shim was killed: control groups, what lies on disk. What still
 * runs of them is killed. */
void box_sweep(int pods_fd, const char *const *uids, size_t count);

/** Replace the hosts file; every process sees the new one at its next look-up. */
bool box_set_hosts(struct box *box, const char *hosts, struct error *err);

/** Replace the files of a volume, unless they are as they were. */
bool box_set_files(struct box *box, uint32_t index, const struct shim_volume *volume,
                   struct error *err);

/**
 * Start a container; `program` as for spawn_program. Above level plain the process is its init,
 * which writes struct init_report to `report_fd`. -1 with `err` when not even that can be started.
 */
pid_t box_start(struct box *box, unsigned index, const struct spawn_plan *program, int report_fd,
                struct error *err);

/** Join a container that runs, whose first process is `init`: this process, and all it starts.
 * `program` is what it will start; `born`: see cgroup_clone. */
bool box_join(struct box *box, unsigned index, pid_t init, bool born, struct spawn_plan *program,
              struct error *err);
/** In a child: become who a container's programs are. Their plan may change with it. */
bool box_become(const struct box *box, unsigned index, struct spawn_plan *program,
                struct error *err);

/** How many processes the user limit of a program should allow, so that the pod has its share and
 * no more; 0 = it does not bound them. */
unsigned box_processes(const struct box *box);

/** May programs of the pod serve ssh? Then above level mounts they are given a host key. */
bool box_serves_ssh(const struct shim_pod *pod);
/** Are there files of ours for sshd (sshd.h)? */
bool box_has_sshd_files(const struct box *box);

/** Do its programs ask the shim about addresses? */
bool box_asks(const struct box *box);
/** A program failed: the port it may have failed for; see hook_taken. */
uint16_t box_taken_port(const struct box *box, unsigned index);

/** Is the container's memory limit enforced by the kernel? Has it been, deadly? */
bool box_limits_memory(const struct box *box, unsigned index);
bool box_was_oom(const struct box *box, unsigned index);
/** Its processes are gone. */
void box_ended(struct box *box, unsigned index);

/** What the container left as its termination message (owned), or NULL. Clears it for the next run.
 */
char *box_termination_message(struct box *box, unsigned index);
