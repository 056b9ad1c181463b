#pragma once
/*
 * A shim: the process that owns pods' programs, so that they outlive the node.
 *
 *   node ──(unix socket)── shared shim ─┬─ program (leader of a session and process group)
 *                                       ├─ program ─── its children
 *                                       ├─ orphan: a child that lost its parent; we are subreaper
 *                                       └─(socket pair)── a pod's own shim ── its programs
 *
 * A boxed pod has a shim of its own, forked from the shared one (pod_shim.c), for the namespaces a
 * process is in. What is known of the pod lies with the shared shim all the same: it writes the
 * records of all, speaks with the node for all, and they go when it goes.
 *
 * One turn: take messages, exits and output; write down (records) what was asked and what has come
 * to its end; start what was asked; tell the node. Nothing is started or told before it is written
 * down. A shim with nothing to do and nobody connected ends by itself; it leaves its records.
 */
#include <sys/resource.h>

#include "base/reactor.h"
#include "node/shim/entry.h"
#include "node/shim/netns_holder.h"
#include "node/shim/pod.h"
#include "node/shim/records.h"
#include "node/wire/frame_conn.h"
#include "node/wire/message.h"

struct orphan {
    pid_t pid;
    struct pod *pod; /* NULL: cannot be told */
    bool lost;       /* its pod is not ours: left by the shim of a boxed pod that died */
    UT_hash_handle by_pid;
    unsigned looks; /* for its marker, since it was found without one */
};

struct pod_shim;
struct exec_helper;
struct pod_sandbox;

struct shim {
    bool shared;      /* the shared one; else that of a single boxed pod, */
    pid_t shared_pid; /* and this is the shared one */
    struct reactor reactor;
    struct records records; /* of the shared one */
    struct shim_config config;
    struct arena *config_arena;
    char *pods_dir;  /* absolute path of SHIM_FD_PODS */
    int children_fd; /* what lists our children; -1 = not open (yet), or this kernel has it not */
    struct netns_holder
        netns_holder; /* of the private network: ours, or that of the shim we come from */
    struct sockaddr_bpf sockaddr_bpf; /* for boxed pods; the same */
    struct rlimit files;              /* of programs: what we were started with */

    struct source listener, signals;
    struct frame_conn node; /* a pod's own shim: to the shared one */
    int next_node_fd;       /* a new node's connection while the old one's is not used up; or -1 */
    struct alarm idle, retry;
    struct alarm look_again; /* for orphans */

    struct pod *pods;                  /* by uid */
    struct container *programs;        /* by pid */
    struct orphan *orphans;            /* by pid */
    struct pod_shim *pod_shims;        /* by uid: boxed pods and their shims */
    struct pod_shim *pod_shims_by_pid; /* the same by pid, as long as it has a process */
    struct exec_helper *exec_helpers;  /* by pid: helpers of containers */
    struct pod_sandbox *sandbox;       /* of the only pod; NULL until its first container */
    struct cgroup *pids_group; /* of programs that are in no box (pids_limit.c); NULL = none */
    bool pids_limit_tried;     /* it was tried */
    struct pod *due,
        *unrecorded;      /* lists by next_due: to step; taken this turn, not written down */
    unsigned live;        /* pods that are not final */
    bool node_left;       /* the last node has ended in order */
    bool had_exec_helper; /* there was a process beside a container */

    char **env; /* scratch of env_merge */
    size_t cap_env;
    struct buf scratch, children;
    char *chunk; /* scratch of reading output */
};

/* node_link.c: the connection */
bool node_link_start(struct shim *shim, struct error *err);
void node_link_put_status(struct shim *shim,
                          const struct shim_status *status); /* records and node */
void node_link_flush(struct shim *shim);
void node_link_stop(struct shim *shim);

/* pids_limit.c: how many processes programs in no box may have */
const struct cgroup *pids_limit_group(struct shim *shim); /* NULL: as many as rlimits allow */
void pids_limit_release(struct shim *shim);               /* all of them have been reaped */

/* reap.c: programs and orphans that ended */
bool reap_start(struct shim *shim, struct error *err);
void reap_stop(struct shim *shim);
void reap_kill_orphans(struct shim *shim, const struct pod *pod);

/* shim.c */
/** Be this shim until it ends. `pod`: the one that a pod's own shim is for; else NULL. The exit
 * code. */
int shim_run(struct shim *shim, struct pod *pod);

/* pod_shim.c: pods with a shim of their own, from the shared one's side */
/** Give a pod a shim; consumes it. False: there is none to be had, and the pod is as it was. */
bool pod_shim_start(struct shim *shim, struct pod *pod);
/** Is the message about such a pod? Then it has been passed on. */
bool pod_shim_forward(struct shim *shim, const struct frame *frame, const char *bytes);
void pod_shim_send_config(struct shim *shim);
void pod_shim_stop_all(struct shim *shim);
bool pod_shim_has_process(const struct shim *shim, pid_t pid);
void pod_shim_exited(struct shim *shim, pid_t pid, int wait_status);  /* no-op for others */
void pod_shim_put_statuses(const struct shim *shim, struct buf *out); /* their states */
void pod_shim_free_all(struct shim *shim);

/* pod_shim_fork.c */
/** When the shared shim goes, so do we, for it alone could say how the pod ended. A change of ids
 * or capabilities undoes it. False: it is gone. */
bool pod_shim_die_with(pid_t pool);
void pod_shim_reserve_fds(void); /* descriptors that offspring find at fixed numbers */
/** The process of a pod's own shim, which talks to `socket_fd`. -1 with errno. */
pid_t pod_shim_fork(struct shim *shim, struct pod *pod, int socket_fd);
/** A process that removes what a pod's shim has left that was killed, and the pid. */
pid_t pod_shim_fork_sweeper(struct shim *shim, const char *uid);

/* env.c */
/** The environment of a container: marker, base of the config, the box's, then its own; of several
 * values of a name the last one counts. Borrowed until the next call. */
char *const *env_merge(struct shim *shim, const char *marker, const struct shim_container *spec);

enum { OUTPUT_CHUNK = 64 << 10 };
