#pragma once
/*
 * The runtime that starts processes, as its own files see it; runtime.h is what others use.
 *
 *   <data>/node/boot             boot id of the machine when a runtime last ran here
 *   <data>/node/logs/            shim/logfile.h
 *   <data>/node/shims/<id>/      lock (held by the shim as long as it lives), ctl (its socket),
 *                                records, log (its own complaints)
 *   <data>/node/pods/            what boxed pods have on disk: <uid>.<volume>; level plain: <uid>/
 *
 * A link is this side of one shim: alive (connected), or dead and known by its records. Every pod
 * hangs on the link of the shim that has it. What is to be told goes through host->verdicts, so a
 * report is never made inside a call.
 */
#include "base/hash.h"
#include "node/runtime/runtime.h"
#include "node/shim/netns_holder.h"
#include "node/shim/shim_dir.h"
#include "node/wire/message.h"

struct link {
    struct host *host;
    struct link *next;
    char id[64]; /* name of its directory */
    int dir_fd;
    int fd; /* -1: the shim is dead */
    uv_poll_t poll;
    int pidfd; /* of a shim that is our child, to be waited for; else -1 */
    uv_poll_t child;
    unsigned handles; /* open ones of the two; freed with the last */
    bool dropped;
    bool writing;  /* waits for room in the socket */
    bool listing;  /* has been asked for its pods and has not finished the answer */
    unsigned pods; /* that hang on it */
    struct buf in, out;
};

struct host_pod {
    UT_hash_handle by_uid;
    char uid[64];
    struct link *link;  /* NULL: it never got to a shim */
    struct buf start;   /* its START, until the shim has told something of it */
    struct buf orders;  /* given meanwhile: nobody has it yet who could take them */
    unsigned tries;     /* shims that died before they took it */
    struct buf verdict; /* a STATUS to be told by the next task */
    struct host_pod *next_verdict;
    bool found, final;
};

struct host {
    struct runtime base;
    struct shim_config config;
    char **config_env;
    int dir_fd, shims_fd, pods_fd, logs_fd;
    char boot_id[64];
    char *directory; /* <data>/node, absolute */
    char *isolation; /* what was asked for */
    char *described; /* NULL until it is known what we can do */
    struct runtime_capabilities capabilities;
    bool isolate_all;
    struct netns_holder holder;  /* of the private network, where that is asked for */
    pid_t holder_pid;            /* if it is our child; else 0 */
    struct id_ranges *id_ranges; /* NULL until the first pod of level full */

    struct link *links, *pool; /* pool: takes new bare pods; NULL: to be started */
    struct host_pod *pods;
    struct host_pod *verdicts; /* list by next_verdict */
    struct task tell;
    struct turn_hook flush;

    runtime_found_fn found; /* while adopting */
    struct task *adopted;
    unsigned listing;          /* links that still answer, or are buried */
    struct clearing *clearing; /* under way */

    struct burial *burials; /* under way */
    struct purge *purge;    /* under way, */
    struct purge *waiting;  /* and what comes next; NULL = nothing */
};

/* pods.c */
struct host_pod *host_pod_find(struct host *host, const char *uid);
struct host_pod *host_pod_new(struct host *host, const char *uid, struct link *link);
void host_pod_forget(struct host *host, struct host_pod *pod);
/** A status from a shim: told at once, or, while adopting, after `done`. */
void host_take_status(struct host *host, struct link *link, const struct shim_status *status);
/** Tell `status` of the pod in a task of its own: host->tell, which runs host_tell_verdicts. */
void host_tell_later(struct host *host, struct host_pod *pod, const struct shim_status *status);
void host_tell_verdicts(struct task *tell);
/** Tell in the same way that the pod has failed. */
void host_fail_later(struct host *host, struct host_pod *pod, const char *reason,
                     const char *message);
void host_start(struct runtime *rt, const struct runtime_pod *pod);
void host_listed(struct host *host, struct link *link);
/** The shim of a link is gone: it is buried. */
void host_link_died(struct host *host, struct link *link);
/** What its records say is told: settle the rest. */
void host_link_buried(struct host *host, struct link *link);

/* shim_link.c */
struct link *link_launch(struct host *host, struct error *err); /* starts a shim */
struct link *link_connect(struct host *host, const char *id, int dir_fd, struct error *err);
struct link *link_dead(struct host *host, const char *id, int dir_fd);
/** Start ourselves as another process, under a name, with at most one argument. -1 with errno. */
pid_t link_spawn(const char *name, const char *arg, const struct shim_dir *dir, int logs_fd);
void link_flush(struct link *link);
void link_free(struct link *link); /* closes; the shim, if alive, goes on */

/* adopt.c */
void host_adopt(struct runtime *rt, runtime_found_fn found, struct task *done);
void host_adoption_leave(struct host *host); /* what is under way goes on without us */

/* reap_lost.c */
/** Read the records of a dead shim and remove what its lost pods left; then its pods are told of,
 * and host_link_buried is called. */
void host_bury(struct host *host, struct link *link);
void host_burials_leave(struct host *host); /* what is under way goes on without us */

/* start.c */
enum shim_pod_kind runtime_choose_way(const struct runtime_pod *pod, bool isolate_all);
void runtime_put_files(struct buf *out, const char *uid, size_t index,
                       const struct runtime_volume *volume);
void runtime_put_program(struct buf *out, const struct runtime_pod *pod, uint32_t index,
                         const struct runtime_container *container);
struct runtime_isolation {
    enum isolation_level level;
    uint32_t ids; /* the first of the range its programs have at level full; 0 = there is none */
};
void runtime_put_start(struct buf *out, const struct runtime_pod *pod, enum shim_pod_kind kind,
                       struct runtime_isolation rights, int64_t now_ms);

/* capabilities.c */
/** Find out, once: fills config and capabilities. False when a level asked for does not work. */
bool host_probe(struct host *host, struct error *err);
/** A level or a network that was asked for must be had. */
bool host_have_what_is_asked(struct host *host, struct error *err);

/* purge.c */
/** The pod object is gone: remove its logs. */
void host_purge(struct runtime *rt, const char *uid);
/** All pods of a dead shim are released: remove its directory. */
void host_drop_link(struct host *host, struct link *link);
void host_purge_leave(struct host *host); /* what is under way goes on without us */

/* network.c */
/** Be connected to the holder of the private network, which is started if there is none. */
bool host_network_open(struct host *host, struct error *err);
/** A TCP socket of that network; -1 when there is none to be had (it is logged). */
int host_network_socket(struct host *host, int type);
/** A connection of its own to the holder. */
struct netns_holder host_network_line(struct host *host);

/* logs.c */
bool logs_read(int logs_fd, const char *uid, const struct log_query *options, int64_t *offset,
               struct buf *out, struct error *err);
void logs_remove(int logs_fd, const char *uid);
