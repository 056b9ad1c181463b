#pragma once
/*
 * A shim: the process that owns the programs of pods, so that they outlive the node.
 *
 *   node ──(unix socket)── shared shim ─┬─ program (leader of a session and process group)
 *                                       ├─ program ─── its children
 *                                       ├─ orphan: a descendant whose parent ended
 *                                       └─(socket pair)── shim of one pod ── its programs
 *
 * The shared shim runs plain pods itself. For a sandboxed pod it forks a shim of the pod's own
 * (pod_shim.c), because the pod's namespaces are those of a process. The shared shim still speaks
 * with the node for all pods and writes the records of all; when it ends, the forked shims end too.
 *
 * A turn takes messages, exits and output; writes records of what was requested and what ended;
 * starts what was requested; reports to the node. Nothing is started or reported before its record
 * is written. The shared shim is a subreaper, so orphans become its children (reap.c). It ends by
 * itself when no pod is unfinished and no node is connected, and leaves its records.
 */
#include <sys/resource.h>

#include "base/loop/reactor.h"
#include "node/shim/entry.h"
#include "node/shim/netns_holder.h"
#include "node/shim/pod.h"
#include "node/shim/records.h"
#include "node/wire/frame_conn.h"
#include "node/wire/message.h"

/* A process whose parent ended and which became a child of this shim. */
struct orphan {
    pid_t pid;
    struct pod *pod; /* pod of the process; NULL: not known yet, or `foreign` */
    bool foreign;    /* the pod is not one of this shim: the process was left by the shim of a
                      * sandboxed pod that died */
    UT_hash_handle by_pid;
    unsigned attempts; /* number of attempts to read the process's mark, since it was found without
                        * one */
};

struct pod_shim;
struct exec_helper;
struct pod_sandbox;

struct shim {
    bool shared;       /* true: the shared shim; false: the shim of one sandboxed pod */
    bool own_keyrings; /* plain pods get session keyrings of their own, too */
    pid_t shared_pid;  /* pod's shim: the process of the shared shim */
    struct reactor reactor;
    struct records records; /* records of all pods; only the shared shim has them */
    struct shim_config config;
    struct arena *config_arena;
    char *pods_dir; /* absolute path of SHIM_FD_PODS; NULL until it is needed */
    int children_fd; /* descriptor of /proc/self/task/…/children; -1: not open, or the kernel has no
                      * such file */
    struct netns_holder netns_holder; /* connection to the holder of the private network; pods'
                                       * shims inherit it */
    struct sockaddr_bpf sockaddr_bpf; /* BPF programs for sandboxed pods; pods' shims inherit
                                       * them */
    struct rlimit nofile_limit;       /* RLIMIT_NOFILE of programs: the limit that this shim was
                                       * started with */

    struct source listener, signals;
    struct frame_conn node; /* connection to the node; in a pod's shim, to the shared shim */
    int next_node_fd; /* a newer connection, accepted while `node` still has input; -1 = none */
    struct alarm idle, records_retry;
    struct alarm orphan_check;

    struct pod *pods;                  /* hash table by uid: the pods that run in this process */
    struct container *programs;        /* hash table by pid: containers with a process */
    struct orphan *orphans;            /* hash table of orphans by pid */
    struct pod_shim *pod_shims;        /* hash table by uid: sandboxed pods and their shims */
    struct pod_shim *pod_shims_by_pid; /* hash table by pid: sandboxed pods whose shim has a
                                        * process */
    struct exec_helper *exec_helpers;  /* hash table of exec helpers by pid */
    struct pod_sandbox *sandbox;       /* sandbox of the only pod; NULL until its first container */
    struct cgroup *pids_group;         /* control group of programs in no sandbox (pids_limit.c);
                                        * NULL = none */
    bool pids_limit_tried;
    struct pod *due;        /* list by next_due: pods to step at the end of the turn */
    struct pod *unrecorded; /* list by next_due: pods taken this turn, whose START is not yet on
                             * disk */
    unsigned n_unfinished;  /* number of pods that are not final */
    bool node_left;         /* the last node has said BYE */
    bool had_exec_helper;   /* an exec helper has run at some time: its descendants may become
                             * orphans of this shim */

    char **env; /* scratch memory of container_env */
    size_t cap_env;
    struct buf scratch, children;
    char *read_buffer; /* [OUTPUT_CHUNK] bytes of scratch memory for reading output */
};

/* Functions of node_link.c: the connection to the node or, in a pod's shim, to the shared shim. */
bool node_link_start(struct shim *shim, struct error *err);
/** Adds a status to the records and to what is sent. */
void node_link_put_status(struct shim *shim, const struct shim_status *status);
void node_link_flush(struct shim *shim);
void node_link_stop(struct shim *shim);

/* Functions of pids_limit.c: bounding the number of processes of programs in no sandbox. */
/** Returns the control group in which programs in no sandbox start. Returns NULL when only rlimits
 * bound them. */
const struct cgroup *pids_limit_group(struct shim *shim);
/** Removes the control group of programs in no sandbox, when all of them have been reaped. */
void pids_limit_release(struct shim *shim);

/* Functions of reap.c: programs and orphans that ended. */
bool reap_start(struct shim *shim, struct error *err);
void reap_stop(struct shim *shim);
void reap_kill_orphans(struct shim *shim, const struct pod *pod);

/* Function of shim.c. */
/** Runs this shim until it ends. `pod` is the pod of a pod's shim, NULL for the shared shim.
 * Returns the exit code. */
int shim_run(struct shim *shim, struct pod *pod);

/* Functions of pod_shim.c: pods with a shim of their own, seen from the shared shim. */
/** Forks a shim for a pod, which then owns the pod. Returns false when no process could be made;
 * the pod is then left as it was. */
bool pod_shim_start(struct shim *shim, struct pod *pod);
/** Passes a message on to the shim of the pod that it is about. Returns false when that pod has no
 * shim of its own. */
bool pod_shim_forward(struct shim *shim, const struct frame *frame, const char *bytes);
void pod_shim_send_config(struct shim *shim);
void pod_shim_stop_all(struct shim *shim);
/** Returns whether `pid` is the process of a pod's shim, or of one that cleans up after it. */
bool pod_shim_has_process(const struct shim *shim, pid_t pid);
/** Does nothing for other pids. */
void pod_shim_exited(struct shim *shim, pid_t pid, int wait_status);
void pod_shim_put_statuses(const struct shim *shim, struct buf *out);
void pod_shim_free_all(struct shim *shim);
/** Asks the kernel to kill this process when the shared shim ends, because only that one could
 * report how the pod ended. A change of ids or capabilities undoes it. Returns false when the
 * shared shim has ended already. */
bool pod_shim_die_with(pid_t shared_pid);
/** Occupies the descriptors that pods' shims find at fixed numbers (entry.h). */
void pod_shim_reserve_fds(void);

enum { OUTPUT_CHUNK = 64 << 10 };
