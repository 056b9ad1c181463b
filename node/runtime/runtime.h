#pragma once
/*
 * The pod runtime: starts pods as processes, watches them, finds them again after a restart. The
 * node's kubelet (node/kubelet/kubelet.c) is its only user.
 *
 * There are two implementations. `host` runs processes: plain pods in one shared shim, sandboxed
 * pods with a shim of their own, depending on what a pod asks for (DC-19). `sim` executes nothing
 * and follows a virtual clock.
 *
 * The contract (D-09, D-10): the kubelet calls start only after the start intent is durable. The
 * runtime starts a pod at most once per uid. It reports states in order, through `report`, never
 * inside a call. It keeps the final report until `release`, across restarts of the daemon and of
 * itself, and repeats it after `adopt`. A pod whose exit was not observed is reported as failed
 * with a reason of its own, never with exit code 0.
 */
#include <sys/socket.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/log_query.h"
#include "base/loop/loop.h"

struct runtime;
struct netns_holder; /* see shim/netns_holder.h */

/* One file of a volume, as the kubelet has resolved it. All memory is borrowed for the call. */
struct runtime_file {
    const char *path;
    const void *bytes;
    size_t len;
    int mode;
};
enum runtime_volume_kind { VOLUME_EMPTY_DIR, VOLUME_FILES, VOLUME_HOST_PATH, VOLUME_CLAIM };
struct runtime_volume {
    const char *name;
    enum runtime_volume_kind kind;
    bool memory; /* the volume is in memory: a secret, or an emptyDir with medium Memory */
    bool read_only;
    int64_t size_bytes;    /* sizeLimit of an emptyDir; 0 = default */
    const char *host_path; /* HOST_PATH, CLAIM: absolute path of a directory or file */
    const char *host_base; /* a directory above the path that no link may leave; NULL = no such
                            * limit */
    const char *host_keep; /* a directory that must not be mounted; NULL = none */
    const char *host_type; /* hostPath.type; NULL = any */
    const struct runtime_file *files; /* FILES: [n_files] files with relative paths */
    size_t n_files;
};
struct runtime_env {
    const char *name;
    const char *value;
};
struct runtime_container {
    const struct pod_container *spec; /* command, args, working_dir, mounts, ports of the
                                       * container */
    const struct runtime_env *env;    /* [n_env] variables, resolved, in order, with references
                                       * expanded */
    size_t n_env;
    const char *const *argv; /* [n_argv] command and args, with references expanded */
    size_t n_argv;
    const char *const *sub_paths; /* subPath of each of spec->mounts, expanded; NULL = those of the
                                   * spec */
};
struct runtime_pod {
    const char *uid, *ns, *name;
    bool
        confined; /* the pod's author may not do what the user who runs jobflow may; see `confine` */
    const struct object *object; /* the Pod; borrowed for the call */
    const struct pod_spec *spec;
    const char *hostname, *pod_ip; /* host name and address of the pod; pod_ip may be "" */
    const char *hosts;             /* content of the pod's hosts file; NULL = the pod needs none */
    const uint16_t *ports;         /* [n_ports] target ports of the Services that select the pod */
    size_t n_ports;
    const struct runtime_container *init, *containers;
    size_t n_init, n_containers;
    const struct runtime_volume *volumes;
    size_t n_volumes;
};

/** Returns the number of a pod's containers. Indexes of this interface count init containers first,
 * then main containers. */
static inline size_t runtime_container_count(const struct pod_spec *spec)
{
    return spec->init_containers.count + spec->containers.count;
}
static inline const struct pod_container *runtime_container_at(const struct pod_spec *spec,
                                                               size_t index)
{
    return index < spec->init_containers.count
               ? &spec->init_containers.items[index]
               : &spec->containers.items[index - spec->init_containers.count];
}

/* The state of a pod. Pointers inside are borrowed for the call. Container statuses are in the
 * order of the spec. */
struct runtime_report {
    const char *uid;
    struct pod_status status; /* phase, reason, message and container statuses; start_ms when
                               * known */
    bool final;               /* no further report of this pod follows */
    bool stopped;             /* the pod was asked to stop before it ended by itself */
};
typedef void (*runtime_report_fn)(void *ctx, const struct runtime_report *report);

/* Receives a pod found by adopt: running, or finished and not yet released. Reports follow. */
typedef void (*runtime_found_fn)(void *ctx, const char *uid);

/* A program to run in the namespaces of a container, for an exec probe. Borrowed for the call. */
struct runtime_exec {
    const char *uid;
    uint32_t container; /* index of the container, init containers first */
    uint64_t id;        /* chosen by the caller, repeated in the result */
    const char *const *argv;
    size_t n_argv;
    int64_t limit_ms;
};
struct runtime_exec_result {
    const char *uid;
    uint64_t id;
    int code;         /* exit code as of a container; -1: the program did not run to its end */
    const char *text; /* the beginning of the program's output */
};

/* What pods get on this machine, as found by trying. Texts live as long as the runtime. */
struct runtime_capabilities {
    const char *level;    /* level of isolation: plain, mounts, user, full */
    const char *why;      /* one line: what the level means, and why a higher one does not work */
    bool own_addresses;   /* pods may listen on the same ports, because their addresses are
                           * rewritten */
    bool private_network; /* pods may listen on the same ports, because they have a network of their
                           * own */
    bool hosts_as_addresses; /* texts for pods contain addresses instead of host names */
    const char *names;       /* one line: how programs look up the names of other pods */
    const char *rewrites;    /* one line: how addresses are rewritten */
    bool limits_memory, limits_cpu, limits_processes; /* limits that the kernel enforces */
};

struct runtime_ops {
    /** Finds the pods of a previous run. Calls `found` for each of them and posts `done` at the
     * end. It is called once, before any start. */
    void (*adopt)(struct runtime *rt, runtime_found_fn found, struct task *done);
    /** Starts a pod. A failure is a report, too: final, with phase Failed and a reason. */
    void (*start)(struct runtime *rt, const struct runtime_pod *pod);
    /** Ends a pod: SIGTERM, and after `grace_ms` SIGKILL for all its processes. A later call with a
     * shorter grace period takes effect. An unknown pod gets a final report with reason
     * NotFound. */
    void (*stop)(struct runtime *rt, const char *uid, int64_t grace_ms);
    /** Forgets a pod whose final report is durable. Its logs stay until `purge`. */
    void (*release)(struct runtime *rt, const char *uid);
    /** Removes logs and everything else of a pod whose object is gone and whose log is not kept. */
    void (*purge)(struct runtime *rt, const char *uid);
    /** Replaces the hosts file of a running pod. */
    void (*set_hosts)(struct runtime *rt, const char *uid, const char *hosts);
    /** Replaces the files of volume `index` (kind FILES) of a running pod. */
    void (*set_files)(struct runtime *rt, const char *uid, size_t index,
                      const struct runtime_volume *volume);
    /** Gives container `index` (init containers first) this command and these variables from its
     * next run on, because their sources have changed. */
    void (*set_program)(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                        const struct runtime_container *container);
    /** Changes the deadline of a pod, counted from its start; 0 = none. */
    void (*set_deadline)(struct runtime *rt, const char *uid, int64_t deadline_ms);
    /** Says that the startup probe of a sidecar has passed, so the containers after it may
     * start. */
    void (*startup_passed)(struct runtime *rt, const char *uid, uint32_t index);
    /** Runs a program in a container. `exec_done` gets the result, unless the pod ends or the
     * daemon is restarted first. */
    void (*exec)(struct runtime *rt, const struct runtime_exec *exec);
    /** Ends one container, as stop ends a pod. The restart policy decides whether it runs again. */
    void (*kill_container)(struct runtime *rt, const char *uid, uint32_t container,
                           int64_t grace_ms, const char *why);
    /** Appends log text to `out`. `*offset` (0 at first) advances, so that a follower can continue.
     * Returns false with NOT_FOUND when there is no such log. */
    bool (*read_log)(struct runtime *rt, const char *uid, const struct log_query *options,
                     int64_t *offset, struct buf *out, struct error *err);
    /** Returns the size of all log files of the pod; 0 when there are none. It costs a few system
     * calls. */
    int64_t (*log_bytes)(struct runtime *rt, const char *uid);
    /** Removes the log files that are older than this call and belong to none of these pods: their
     * objects were deleted while nothing removed the files. `uids` (borrowed) has `len` bytes, each
     * uid ended by a NUL. */
    void (*sweep_logs)(struct runtime *rt, const char *uids, size_t len);
    /** Returns a socket of `type` in the pods' private network, if `to` is reached only there.
     * Returns -1 when any socket reaches it. */
    int (*socket_to)(struct runtime *rt, const struct sockaddr *to, int type);
    /** Opens another connection to the holder of the pods' private network, for a thread that opens
     * sockets there; NETNS_HOLDER_NONE when there is no such network. */
    void (*connect_holder)(struct runtime *rt, struct netns_holder *out);
    /** Returns one line that says how pods run here, and why not at a higher level, for doctor and
     * the Node's status. Borrowed. */
    const char *(*describe)(struct runtime *rt);
    /** Returns what pods get here; borrowed. Returns NULL when this runtime executes nothing. */
    const struct runtime_capabilities *(*capabilities)(struct runtime *rt);
    /** Returns whether pods can be confined here: kept, at a level that holds against their authors,
     * from this program's files and from what its user may do. The level is tried once. NULL: this
     * runtime executes nothing. False: UNAVAILABLE, with the reason. */
    bool (*confine)(struct runtime *rt, struct error *err);
    void (*free)(struct runtime *rt); /* frees the runtime; pods keep running */
};

struct runtime {
    const struct runtime_ops *ops;
    struct loop *loop;
    runtime_report_fn report;
    void (*exec_done)(void *ctx, const struct runtime_exec_result *executed); /* may be NULL */
    void *ctx;
    bool machine_restarted; /* set by adopt: the machine was restarted since the previous run, so a
                             * pod with an intent that adopt did not find may have been started */
};

struct runtime_host_options {
    const char *directory;   /* path of the data directory */
    const char *isolation;   /* auto | full | user | mounts | plain */
    const char *network;     /* shared | private */
    bool isolate_all;        /* every pod gets a private root and namespaces */
    bool own_keyrings;       /* plain pods, too, get session keyrings of their own; sandboxed pods
                              * always do */
    bool hosts_as_addresses; /* pods get addresses even where programs could look names up */
    int64_t restart_backoff_ms;
    int64_t log_max_bytes;
    int64_t scratch_bytes; /* of the private directories of a container; 0 = half of the memory */
};
struct runtime *runtime_host_new(struct loop *loop, const struct runtime_host_options *options,
                                 runtime_report_fn report, void *ctx, struct error *err);
/** Reads a log as ops->read_log does, but without a runtime, from the files of a data directory. */
bool runtime_log_read(const char *directory, const char *uid, const struct log_query *options,
                      int64_t *offset, struct buf *out, struct error *err);
/** Removes logs as ops->sweep_logs does, but without a runtime and at once. */
void runtime_log_sweep(const char *directory, const char *uids, size_t len);
struct runtime *runtime_sim_new(struct loop *loop, runtime_report_fn report, void *ctx);

/** From now on simulated pods take 1/speed of their time. Pods that run already keep their time. */
void runtime_sim_set_speed(struct runtime *rt, int64_t speed);

/* What one run of a simulated container does. */
struct sim_outcome {
    int64_t duration_ns;
    int exit_code;
    const char *message; /* termination message, or NULL; lives as long as the runtime */
};
/** Sets the outcome of run `run` (from 0) of a container under the name of its pod. Returns false
 * when the pod's annotations decide. It may be called several times for one run. */
typedef bool (*sim_script_fn)(void *ctx, const struct object *pod, const char *container,
                              size_t run, struct sim_outcome *out);
/** Makes `script` decide the outcome of every run from now on (simulated runtimes only). */
void runtime_sim_script(struct runtime *rt, sim_script_fn script, void *ctx);
