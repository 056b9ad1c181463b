#pragma once
/*
 * The pod runtime: starts pods as processes, watches them, finds them again after a restart. The
 * node's kubelet (node/kubelet/kubelet.c) is its only user.
 *
 * Three implementations share this table: `host` (cheap pods of one shared shim, isolated pods with
 * a shim of their own; which a pod gets is decided by what it asks for, DC-19) and `sim` (virtual
 * clock, nothing executed).
 *
 * The contract (D-09, D-10): the kubelet calls start only after the start intent is durable. The
 * runtime starts a pod at most once per uid. It reports states in order, through `report`, never
 * inside a call. It keeps the final report until `release`, over restarts of the daemon and of
 * itself, and gives it again after `adopt`. An exit nobody saw is reported as failed with its own
 * reason, never as 0.
 */
#include <sys/socket.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/log_query.h"
#include "base/loop.h"

struct runtime;
struct netns_holder; /* shim/netns_holder.h */

/* One file or directory tree the kubelet has resolved for a volume; all memory borrowed for the
 * call. */
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
    bool memory; /* emptyDir medium Memory; secrets */
    bool read_only;
    int64_t size_bytes;    /* emptyDir sizeLimit; 0 = default */
    const char *host_path; /* HOST_PATH, CLAIM: absolute directory or file */
    const char *host_base; /* above it, and no step leads out of it; NULL = wherever it leads */
    const char *host_keep; /* a directory that is never shown; NULL = none */
    const char *host_type; /* hostPath.type; NULL = any */
    const struct runtime_file *files; /* FILES: [n_files] relative paths */
    size_t n_files;
};
struct runtime_env {
    const char *name;
    const char *value;
};
struct runtime_container {
    const struct pod_container *spec; /* command, args, working_dir, mounts, ports */
    const struct runtime_env *env;    /* [n_env] resolved, in order, references expanded */
    size_t n_env;
    const char *const *argv; /* [n_argv] command and args, references expanded */
    size_t n_argv;
    const char *const *sub_paths; /* [spec->mounts] expanded; NULL = those of the spec */
};
struct runtime_pod {
    const char *uid, *ns, *name;
    const struct object *object; /* borrowed for the call */
    const struct pod_spec *spec;
    const char *hostname, *pod_ip; /* pod_ip may be "" */
    const char *hosts;             /* content of the pod's hosts file; NULL = it needs none */
    const uint16_t *ports;         /* [n_ports] on which Services expect it to listen */
    size_t n_ports;
    const struct runtime_container *init, *containers;
    size_t n_init, n_containers;
    const struct runtime_volume *volumes;
    size_t n_volumes;
};

/* What the runtime tells. The pointers inside are borrowed for the call. Container statuses are in
 * spec order. */
struct runtime_report {
    const char *uid;
    struct pod_status status; /* phase, reason, message, container statuses; start_ms when known */
    bool final;               /* no further report follows */
};
typedef void (*runtime_report_fn)(void *ctx, const struct runtime_report *report);

/* A pod found by adopt: running, or finished and not yet released. Reports follow. */
typedef void (*runtime_found_fn)(void *ctx, const char *uid);

/* A program run beside a container's, in its namespaces: an exec probe. Borrowed for the call. */
struct runtime_exec {
    const char *uid;
    uint32_t container; /* index, init containers first */
    uint64_t id;        /* the caller's, for the answer */
    const char *const *argv;
    size_t n_argv;
    int64_t limit_ms;
};
struct runtime_exec_result {
    const char *uid;
    uint64_t id;
    int code;         /* as of a container; -1: it was not run to its end */
    const char *text; /* the begin of what it printed */
};

/* What pods get here, as found by trying it. Texts live as long as the runtime. */
struct runtime_capabilities {
    const char *level;       /* of isolation: plain, mounts, user, full */
    const char *why;         /* one line: what that means, and why it is no higher one */
    bool own_addresses;      /* pods may listen on the same ports: addresses are rewritten, */
    bool private_network;    /* or they have a network of their own */
    bool hosts_as_addresses; /* they are told addresses where others are told names */
    const char *names;       /* one line: how their programs find the names of others */
    const char *rewrites;    /* one line: how that is done */
    bool limits_memory, limits_cpu, limits_processes; /* by the kernel */
};

struct runtime_ops {
    /** Find pods of earlier lives of this daemon; `found` for each, `done` posted at the end.
     * Called once, before any start. */
    void (*adopt)(struct runtime *rt, runtime_found_fn found, struct task *done);
    /** Start a pod. Failures are reports too (final, phase Failed, with a reason). */
    void (*start)(struct runtime *rt, const struct runtime_pod *pod);
    /** Ask it to end: SIGTERM, after `grace_ms` SIGKILL of everything. A pod not known: a final
     * report says so. Again with a shorter grace: takes effect. */
    void (*stop)(struct runtime *rt, const char *uid, int64_t grace_ms);
    /** The final report is durable: forget the pod. Its logs stay until `purge`. */
    void (*release)(struct runtime *rt, const char *uid);
    /** The pod object is gone: remove logs and everything else. */
    void (*purge)(struct runtime *rt, const char *uid);
    /** Replace the hosts file of a running pod. */
    void (*set_hosts)(struct runtime *rt, const char *uid, const char *hosts);
    /** The files of volume `index` of a running pod have changed (kind FILES). */
    void (*set_files)(struct runtime *rt, const char *uid, size_t index,
                      const struct runtime_volume *volume);
    /** From its next run on, container `index` (init containers first) has this command and these
     * variables: what they come from has changed. */
    void (*set_program)(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                        const struct runtime_container *container);
    /** Counted from its start; 0: it has none any more. */
    void (*set_deadline)(struct runtime *rt, const char *uid, int64_t deadline_ms);
    /** The startup probe of a sidecar has passed: the containers behind it may start. */
    void (*startup_passed)(struct runtime *rt, const char *uid, uint32_t index);
    /** Run a program beside a container's; `executed` tells what came of it, or nobody does, when
     * the pod ends or we are restarted meanwhile. */
    void (*exec)(struct runtime *rt, const struct runtime_exec *exec);
    /** End one container, as stop does a pod; its pod's policy says whether it runs again. */
    void (*kill_container)(struct runtime *rt, const char *uid, uint32_t container,
                           int64_t grace_ms, const char *why);
    /** Append log text to `out`; `*offset` (0 at first) moves on, for followers. False with
     * NOT_FOUND. */
    bool (*read_log)(struct runtime *rt, const char *uid, const struct log_query *options,
                     int64_t *offset, struct buf *out, struct error *err);
    /** A socket of `type` that leads to `to`, when ours do not: pods have a network of their own.
     * -1: any socket will do. */
    int (*socket_to)(struct runtime *rt, const struct sockaddr *to, int type);
    /** A connection of its own to the holder of the pods' network, for a thread that needs sockets
     * there; NETNS_HOLDER_NONE when any socket will do. */
    void (*connect_holder)(struct runtime *rt, struct netns_holder *out);
    /** One line on how pods run here: level and why not a higher one (doctor, Node status).
     * Borrowed. */
    const char *(*describe)(struct runtime *rt);
    /** What pods get here; borrowed. NULL: nothing is executed. */
    const struct runtime_capabilities *(*capabilities)(struct runtime *rt);
    void (*free)(struct runtime *rt); /* pods go on */
};

struct runtime {
    const struct runtime_ops *ops;
    struct loop *loop;
    runtime_report_fn report;
    void (*exec_done)(void *ctx, const struct runtime_exec_result *executed); /* may be NULL */
    void *ctx;
    bool machine_restarted; /* set by adopt: the machine was restarted since the last life here, so
                               an intent that adopt did not find counts as started and lost */
};

struct runtime_host_options {
    const char *directory;   /* the data directory */
    const char *isolation;   /* auto | full | user | mounts | plain */
    const char *network;     /* shared | private */
    bool isolate_all;        /* every pod gets a private root and namespaces */
    bool hosts_as_addresses; /* never names */
    int64_t restart_backoff_ms;
    int64_t log_max_bytes;
};
struct runtime *runtime_host_new(struct loop *loop, const struct runtime_host_options *options,
                                 runtime_report_fn report, void *ctx, struct error *err);
/** ops->read_log without a runtime: from the files of a data directory. */
bool runtime_log_read(const char *directory, const char *uid, const struct log_query *options,
                      int64_t *offset, struct buf *out, struct error *err);
struct runtime *runtime_sim_new(struct loop *loop, runtime_report_fn report, void *ctx);

/* What one run of a simulated container does. */
struct sim_outcome {
    int64_t duration_ns;
    int exit_code;
    const char *message; /* its termination message; lives as long as the runtime; NULL */
};
/** Decide over run `run` (from 0) of a container under the name of its pod. False leaves it to the
 * annotations. May be asked several times about one run. */
typedef bool (*sim_script_fn)(void *ctx, const struct object *pod, const char *container,
                              size_t run, struct sim_outcome *out);
/** Ask `script` about every container from now on (simulated runtimes only). */
void runtime_sim_script(struct runtime *rt, sim_script_fn script, void *ctx);
