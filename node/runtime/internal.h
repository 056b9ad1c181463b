#pragma once
/*
 * The runtime that starts processes: its records, and the functions its files share. Other rooms
 * use runtime.h only.
 *
 *   <data>/node/boot             boot id of the machine when a runtime last ran here
 *   <data>/node/logs/            shim/logfile.h
 *   <data>/node/shims/<id>/      lock (held by the shim as long as it lives), ctl (its socket),
 *                                records, log (its own errors)
 *   <data>/node/pods/            files of sandboxed pods: <uid>.<volume>; level plain: <uid>/
 *
 * A link is the runtime's side of one shim: connected while the shim is alive, or dead and known by
 * its records. Every pod belongs to the link of the shim that has it. Reports that do not come from
 * a shim's socket wait in host->pending_reports, so no report is made inside a call.
 */
#include "base/collections/hash.h"
#include "node/runtime/runtime.h"
#include "node/shim/netns_holder.h"
#include "node/shim/shim_dir.h"
#include "node/wire/message.h"

struct shim_link {
    struct host *host;
    struct shim_link *next;
    char id[64]; /* name of the shim's directory */
    int dir_fd;
    int fd; /* the connection; -1: the shim is dead */
    uv_poll_t poll;
    int pidfd; /* descriptor of a shim that is a child of this process, to be waited for; else -1 */
    uv_poll_t child;
    unsigned handles; /* number of open poll handles; the link is freed with the last one */
    bool dropped;
    bool writing;  /* the socket is full, and the link waits until it is writable */
    bool listing;  /* the shim was asked for its pods and has not named all of them */
    unsigned pods; /* number of pods that belong to the link */
    struct buf in, out;
};

struct host_pod {
    UT_hash_handle by_uid;
    char uid[64];
    struct shim_link *link; /* link of the shim that has the pod; NULL: no shim has it */
    struct buf start;       /* the pod's START message, kept until a shim has reported on the pod */
    struct buf commands;    /* commands that wait until a shim has reported on the pod */
    unsigned tries;         /* number of shims that died before they reported on the pod */
    struct buf pending_report; /* a STATUS message that the next task reports */
    struct host_pod *next_pending;
    bool found, final;
};

struct host {
    struct runtime base;
    struct shim_config config;
    char **config_env;
    int dir_fd, shims_fd, pods_fd, logs_fd;
    char boot_id[64];
    char *directory;   /* absolute path of <data>/node */
    char *isolation;   /* name of the isolation level that the options ask for */
    char *description; /* one line that describes what pods get here; NULL: not found out yet */
    struct runtime_capabilities capabilities;
    bool isolate_all;
    bool confines;               /* the level for confined pods was tried, and works */
    bool own_keyrings;           /* plain pods do not share the session keyring that this process
                                  * has inherited */
    struct netns_holder holder;  /* connection to the holder of the private network, if the options
                                  * ask for one */
    pid_t holder_pid;            /* pid of the holder if it is a child of this process; else 0 */
    struct id_ranges *id_ranges; /* ranges of ids given to namespaces; NULL until the first pod of
                                  * level full */

    struct shim_link *links, *shared; /* all links; `shared` is the one that takes all new pods,
                                       * NULL: not started yet */
    struct host_pod *pods;
    struct host_pod *pending_reports; /* list by next_pending of pods that have a pending report */
    struct task reports;
    struct turn_hook flush;

    runtime_found_fn found; /* callback of adopt, for each pod that is found */
    struct task *adopted;
    unsigned listing;    /* number of links whose pods are not all known yet */
    struct sweep *sweep; /* removal of unknown files that is in progress; NULL = none */

    struct reap *reaps;    /* clean-ups after dead shims that are in progress */
    struct purge *purge;   /* removal of files that is in progress; NULL = none */
    struct purge *waiting; /* the next removal of files; NULL = nothing to remove */
};

/* Functions of pods.c: pods given to shims, and reports on them. */
struct host_pod *host_pod_find(struct host *host, const char *uid);
struct host_pod *host_pod_new(struct host *host, const char *uid, struct shim_link *link);
void host_pod_forget(struct host *host, struct host_pod *pod);
/** Takes a status that arrives from a shim. It is reported at once or, while adopting, once
 * adoption is done. */
void host_status_received(struct host *host, struct shim_link *link,
                          const struct shim_status *status);
/** Reports `status` from a task of its own (host->reports), not from inside this call. */
void host_report_later(struct host *host, struct host_pod *pod, const struct shim_status *status);
void host_send_reports(struct task *reports);
/** Reports from a task of its own that the pod has failed. */
void host_fail_later(struct host *host, struct host_pod *pod, const char *reason,
                     const char *message);
void host_start(struct runtime *rt, const struct runtime_pod *pod);
void host_list_ended(struct host *host, struct shim_link *link);
/** Reaps the pods of a link whose shim has died. */
void host_link_died(struct host *host, struct shim_link *link);
/** Handles the other pods of a dead shim once those in its records are reported: gives them to
 * another shim, or fails them. */
void host_link_reaped(struct host *host, struct shim_link *link);

/* Functions of shim_link.c: connections to shims. */
struct shim_link *shim_link_launch(struct host *host, struct error *err); /* starts a shim */
struct shim_link *shim_link_connect(struct host *host, const char *id, int dir_fd,
                                    struct error *err);
struct shim_link *shim_link_to_dead(struct host *host, const char *id, int dir_fd);
/** Starts the shim program under `name`, with at most one argument. Returns its pid, or -1 with
 * errno. */
pid_t shim_link_spawn(const char *name, const char *arg, const struct shim_dir *dir, int logs_fd);
void shim_link_flush(struct shim_link *link);
void shim_link_free(struct shim_link *link); /* closes the connection; a live shim goes on */

/* Functions of adopt.c: pods of a previous run. */
void host_adopt(struct runtime *rt, runtime_found_fn found, struct task *done);
void host_adoption_detach(struct host *host); /* lets the work on the pool go on without the host */

/* Functions of reap_lost.c: pods of dead shims. */
/** Reads the records of a dead shim, kills and removes what its lost pods left, reports on its
 * pods, and calls host_link_reaped. */
void host_reap_lost(struct host *host, struct shim_link *link);
void host_reap_detach(struct host *host); /* lets the work on the pool go on without the host */

/* Functions of start.c: the messages by which shims start pods. */
enum shim_pod_kind runtime_choose_way(const struct runtime_pod *pod, bool isolate_all);
void runtime_put_files(struct buf *out, const char *uid, size_t index,
                       const struct runtime_volume *volume);
void runtime_put_program(struct buf *out, const struct runtime_pod *pod, uint32_t index,
                         const struct runtime_container *container);
struct runtime_isolation {
    enum isolation_level level;
    uint32_t ids; /* first id of the range that programs get at level full; 0 = none */
};
void runtime_put_start(struct buf *out, const struct runtime_pod *pod, enum shim_pod_kind kind,
                       struct runtime_isolation isolation, int64_t now_ms);

/* Functions of capabilities.c: what pods can get on this machine. */
/** Finds out once what pods can get here, and fills config and capabilities. Returns false when the
 * requested level does not work. */
bool host_probe_capabilities(struct host *host, struct error *err);
/** Tries the level for confined pods, once. Returns false with `err` when it does not work here. */
bool host_can_confine(struct host *host, struct error *err);
/** Returns false with `err` when the options name a level or the private network and it does not
 * work. */
bool host_require_isolation(struct host *host, struct error *err);

/* Functions of purge.c: removing files that are no longer needed. */
/** Removes the logs of a pod whose object is gone. */
void host_purge(struct runtime *rt, const char *uid);
/** Removes the directory of a dead shim whose pods are all released. */
void host_drop_link(struct host *host, struct shim_link *link);
void host_purge_detach(struct host *host); /* lets the work on the pool go on without the host */

/* Functions of network.c: the private network of pods. */
/** Connects to the holder of the private network; starts it if none runs. */
bool host_network_open(struct host *host, struct error *err);
/** Returns a socket of `type` in the private network, or -1 on failure, which is logged. */
int host_network_socket(struct host *host, int type);
/** Returns another connection to the holder, owned by the caller. */
struct netns_holder host_network_connect_holder(struct host *host);

/* Functions of logs.c: reading and removing the logs of pods. */
bool logs_read(int logs_fd, const char *uid, const struct log_query *options, int64_t *offset,
               struct buf *out, struct error *err);
int64_t logs_bytes(int logs_fd, const char *uid); /* size of all log files of the pod */
/* Removes files of pods that are not among `uids`, unless they were written after `before_ms`. */
void logs_sweep(int logs_fd, const char *uids, size_t len, int64_t before_ms);
void host_sweep_logs(struct runtime *rt, const char *uids, size_t len);
void logs_remove(int logs_fd, const char *uid);
