#pragma once
/*
 * A shim: the process that owns pods' programs, so that they outlive the node.
 *
 *   node ──(unix socket)── shim ─┬─ program (leader of a session and process group)
 *                                ├─ program ─── its children
 *                                └─ stray: a child that lost its parent; we are subreaper
 *
 * One turn: take messages, exits and output; write down (records) what was asked and what has come
 * to its end; start what was asked; tell the node. Nothing is started or told before it is written
 * down. A shim with nothing to do and nobody connected ends by itself; it leaves its records.
 */
#include "node/shim/entry.h"
#include "node/shim/holder.h"
#include "node/shim/message.h"
#include "node/shim/pod.h"
#include "node/shim/reactor.h"
#include "node/shim/records.h"

#include <sys/resource.h>

struct stray {
    pid_t pid;
    struct pod *pod; /* NULL: cannot be told */
    bool lost;       /* its pod is not ours: left by the shim of a boxed pod that died */
    UT_hash_handle by_pid;
    unsigned looks; /* for its marker, since it was found without one */
};

struct link {
    struct source source; /* fd -1 = nobody connected */
    struct buf in, out;
    bool writing; /* waits for room in the socket */
};

struct offspring;
struct beside;
struct box;

struct shim {
    bool pool; /* the shared one; else that of a single boxed pod */
    struct reactor reactor;
    struct records records;
    struct shim_config config;
    struct arena *config_arena;
    int null_fd, children_fd;
    struct holder holder; /* of the private network: ours, or that of the shim we come from */
    struct hook hook;     /* for boxed pods; the same */
    struct rlimit files;  /* of programs: what we were started with */

    struct source listener, signals;
    struct link node;
    int waiting_fd; /* a new node's connection while the old one's is not used up; or -1 */
    struct alarm idle, retry;
    struct alarm look_again; /* for strays */

    struct pod *pods;            /* by uid */
    struct container *programs;  /* by pid */
    struct stray *strays;        /* by pid */
    struct offspring *offspring; /* by pid: shims of boxed pods */
    struct beside *besides;      /* by pid: helpers of containers */
    struct box *box;             /* of the only pod; NULL until its first container */
    struct cgroup *group;        /* of programs that are in no box (bound.c); NULL = none */
    bool bound;                  /* it was tried */
    struct pod *due, *fresh;     /* lists by next_due: to step; taken this turn, not written down */
    unsigned live;               /* pods that are not final */
    bool leaving;                /* the last node has ended in order */
    bool released;               /* not the pool: the only pod has been */

    char **env; /* scratch of env_merge */
    size_t cap_env;
    struct buf scratch, children;
    char *chunk; /* scratch of reading output */
};

/* serve.c: the connection */
void serve_take_start(struct shim *shim, const struct wire_frame *frame);
bool serve_start(struct shim *shim, struct error *err);
void serve_tell(struct shim *shim, const struct shim_status *status); /* records and node */
void serve_flush(struct shim *shim);
void serve_stop(struct shim *shim);

/* bound.c: how many processes programs in no box may have */
const struct cgroup *bound_group(struct shim *shim); /* NULL: as many as rlimits allow */
void bound_release(struct shim *shim);               /* all of them have been reaped */

/* reap.c: programs and strays that ended */
bool reap_start(struct shim *shim, struct error *err);
void reap_stop(struct shim *shim);
void reap_kill_strays(struct shim *shim, const struct pod *pod);

/* shim.c */
/** Be this shim until it ends; `start`, if any, is taken first. The exit code. */
int shim_run(struct shim *shim, const struct wire_frame *start);

/* offspring.c: shims of boxed pods */
void offspring_start(struct shim *shim, const char *uid, const struct wire_frame *start);
bool offspring_known(const struct shim *shim, pid_t pid);
void offspring_ended(struct shim *shim, pid_t pid); /* no-op for others */
void offspring_list(struct shim *shim);             /* tell the node of those that live */
void offspring_forget(struct shim *shim);

/* env.c */
/** The environment of a container: marker, base of the config, the box's, then its own; of several
 * values of a name the last one counts. Borrowed until the next call. */
char *const *env_merge(struct shim *shim, const char *marker, const struct shim_container *spec);

enum { OUTPUT_CHUNK = 64 << 10 };
