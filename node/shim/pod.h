#pragma once
/*
 * One pod in the hands of its shim: its containers' programs, restarts, deadlines, the way to its
 * end.
 *
 *             START            a program ends: again, or next, or …
 *   (record) ───────► ACTIVE ──────────────────────────────────────► ENDING ─────► FINAL ── RELEASE
 * ► gone └── STOP, deadline: TERM, after the grace KILL ──┘   nothing left of it
 *
 * What to do next is decided purely (decide.h) whenever something has happened, and carried out
 * here. The pod is final once no program, no orphan child and no open output is left.
 */
#include <sys/resource.h>

#include "base/hash.h"
#include "base/reactor.h"
#include "node/sandbox/sockaddr_notify.h"
#include "node/shim/decide.h"
#include "node/shim/logfile.h"
#include "node/wire/message.h"

struct shim;
struct spawn_plan;
struct init_report;

struct container {
    struct pod *pod;
    const struct shim_container *spec;
    struct arena *renewed; /* holds a spec that is newer than the pod's; NULL = none is */
    unsigned index;
    struct container_status *status; /* its reasons are literals; message is `message` */
    char *message;                   /* owned */

    pid_t pid;            /* 0 = no program runs; of a boxed one, its init (sandbox/init.h) */
    bool starting;        /* boxed: its program has not been started yet */
    bool passed;          /* its startup probe, once */
    struct source report; /* boxed: what its init tells; fd -1 */
    struct notify_listener *notify_listeners; /* where its programs ask about addresses */
    struct init_report *ended;                /* boxed: its last word; owned */
    UT_hash_handle by_pid;
    struct buf tail;      /* the last it printed, where that may be its message */
    struct source output; /* read end of its pipe; fd -1 when closed */
    struct log_writer log;
    struct alarm restart; /* back-off */
    struct alarm watch;   /* of its memory, where no control group does it */
    bool over_memory;     /* and was killed for it */
    bool stopping;        /* asked to end: its hook runs, or it has had its TERM */
    struct alarm kill;    /* of this container alone */
    struct port_failures trouble;
    char *stop_reason;    /* owned: why it was made to end; its message, if it leaves none */
    struct alarm hang_up; /* the program is gone and its output still open */
    int64_t backoff_ms;   /* of the next restart */
    int64_t started_ns;   /* monotonic */
};

struct pod {
    struct shim *shim;
    UT_hash_handle by_uid;
    struct arena *arena; /* holds the spec and the bytes it points into */
    struct shim_pod spec;

    bool ending, final;
    bool due;  /* has to be stepped this turn */
    bool tell; /* its status has to be told this turn */
    struct pod *next_due;
    const char *reason, *note; /* literals: why it ends, if not by itself */
    char *own_note;            /* owned; instead of note */
    unsigned running;          /* programs */
    unsigned open;             /* outputs */
    unsigned orphans;          /* processes its programs left behind, ours now, still alive */
    unsigned exec_helpers;     /* helpers (exec_helper.h) */
    struct alarm announce, deadline, kill;
    struct alarm measure; /* of its volumes on disk */
    struct pod_status status;

    unsigned n_containers;
    struct container containers[]; /* init containers first */
};

/** Take a START frame's fields (copied). NULL when it is not well-formed. Not yet started. */
struct pod *pod_new(struct shim *shim, const struct frame *frame);
void pod_free(struct pod *pod);

/** Into the hands of another shim, in whose process we are: a fork of the one that took it. */
void pod_adopt(struct pod *pod, struct shim *shim);

void pod_wake(struct pod *pod); /* something has happened: step it this turn */
void pod_step(struct pod *pod);
void pod_refuse(struct pod *pod, const char *reason,
                const char *note); /* literals; final at once */
void pod_stop(struct pod *pod, int64_t grace_ms);
void pod_set_deadline(struct pod *pod, int64_t deadline_ms); /* as in its spec */

/* container.c */
void container_init(struct pod *pod, unsigned index);
void container_release(struct container *container);
void container_start(struct container *container);
/** Its hook, TERM; nothing more. */
void container_terminate(struct container *container, int64_t grace_ms);
/** The program of a container has ended and was reaped. */
void container_exited(struct container *container, int wait_status, const struct rusage *used);
/** What it has used, or a process of it that outlived its parent. */
void container_add_usage(struct container *container, const struct rusage *used);
/** To the program's process group; boxed: to its init, which passes it on. Only while it is not
 * reaped. */
void container_signal(const struct container *container, int number);
/** A start that came to nothing, or a run that is over. `message` is consumed. */
void container_ended(struct container *container, int code, int number, const char *reason,
                     char *message);

/** How it is started, but for the output's descriptor. `marker` has room for SHIM_MARKER=uid. */
enum { MARKER_MAX = 128 };
void container_spawn_plan(struct container *container, char marker[MARKER_MAX],
                          struct spawn_plan *out);
/** What it runs from its next run on: the fields of a PROGRAM frame (copied). */
void container_update_program(struct container *container, struct frame_reader fields);
/** Its startup probe has passed. */
void container_startup_passed(struct container *container);
/** Ask it to end: its hook, TERM; after the grace KILL. Whether it runs again is up to the policy.
 * `why` is for people; NULL = its pod ends. */
void container_stop(struct container *container, int64_t grace_ms, const char *why);
void container_set_process(struct container *container, pid_t pid); /* there is a process */
void container_program_started(struct container *container);        /* and it is the program */
const char *container_reason(struct container *container, int code, bool oom); /* literal */

/* container_sandboxed.c: the same for a boxed container */
bool sandboxed_open(struct pod *pod); /* its box; false: the pod was refused */
void sandboxed_start(struct container *container, const struct spawn_plan *program);
void notify_listener_open(struct container *container, int fd); /* takes the descriptor */
void notify_listeners_close(struct container *container);       /* all of them */
void sandboxed_exited(struct container *container, int wait_status);

/* container_output.c: what a container's program prints */
void output_open(struct container *container, int fd); /* takes the read end of its pipe */
void output_drain(struct container *container);        /* the program is gone: take the rest */
void output_close(struct container *container);        /* no-op when closed */
char *output_tail(struct container *container); /* the last lines it printed, owned; NULL = none */

/** Bring pod->status up to date and give it; texts borrowed from the pod. */
struct shim_status pod_status_now(struct pod *pod);
