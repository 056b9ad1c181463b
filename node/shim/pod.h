#pragma once
/*
 * One pod in its shim: programs of its containers, restarts, deadlines, and its end.
 *
 *   START is recorded
 *     ► ACTIVE   containers run, and run again
 *     ► ENDING   no container will run again; or STOP, deadline, limit: TERM, after the grace KILL
 *     ► FINAL    no program, orphan, exec helper or open output is left
 *     ► freed    RELEASE
 *
 * pod_decide (decide.h) says purely what to do next; this module asks it after every event and
 * carries the answer out.
 */
#include <sys/resource.h>

#include "base/hash.h"
#include "base/reactor.h"
#include "node/sandbox/sockaddr_notify.h"
#include "node/shim/decide.h"
#include "node/shim/logfile.h"
#include "node/shim/states.h"
#include "node/wire/message.h"

struct shim;
struct spawn_plan;
struct init_report;

struct container {
    struct pod *pod;
    const struct shim_container *spec;
    struct arena *renewed; /* holds the spec after a PROGRAM message; NULL = the pod's arena does */
    unsigned index;
    struct container_status *status; /* its reasons are literals; its message is `message` */
    char *message;                   /* owned */

    enum container_run run;
    pid_t pid;            /* of the program; sandboxed: of its init (sandbox/init.h); 0 = none */
    bool startup_passed;  /* its startup probe, at any time */
    struct source report; /* sandboxed: reports of its init; fd -1 */
    struct notify_listener *notify_listeners; /* address requests of its programs */
    struct init_report *final_report;         /* sandboxed: how its program ended; owned */
    UT_hash_handle by_pid;
    struct buf tail;      /* end of its output, where that may become its message */
    struct source output; /* read end of its pipe; fd -1 when closed */
    struct log_writer log;
    struct alarm restart;      /* back-off before the next run */
    struct alarm memory_check; /* where no control group limits its memory */
    bool over_memory;          /* and it was killed for it */
    struct alarm kill;         /* of this container alone */
    struct port_failures port_failures;
    char *stop_reason;           /* owned: its message, if it leaves none; NULL = none */
    struct alarm output_timeout; /* the program is gone and its output still open */
    int64_t backoff_ms;          /* of the next restart */
    int64_t started_ns;          /* monotonic */
};

struct pod {
    struct shim *shim;
    UT_hash_handle by_uid;
    struct arena *arena; /* holds the spec and the bytes it points into */
    struct shim_pod spec;

    enum pod_life life;
    enum pod_listing listing;
    bool stopped;        /* the node asked for its end before it ended by itself */
    bool status_changed; /* its status is to be reported this turn */
    struct pod *next_due;
    const char *reason, *message; /* literals: why it ends, if not by itself */
    char *owned_message;          /* takes the place of `message`; NULL = none */
    unsigned n_running;           /* programs */
    unsigned n_outputs;           /* open ones */
    unsigned n_orphans;           /* processes that its programs left behind, alive */
    unsigned n_exec_helpers;
    struct alarm status_delay; /* joins the first status with that of a quick end */
    struct alarm deadline, kill;
    struct alarm volume_check; /* size of its volumes on disk */
    struct pod_status status;

    unsigned n_containers;
    struct container containers[]; /* init containers first */
};

/** Make a pod from the fields of a START frame (copied). NULL when they are not well-formed. It
 * does nothing until it is stepped. */
struct pod *pod_new(struct shim *shim, const struct frame *frame);
void pod_free(struct pod *pod);

/** In a forked pod's shim: take over a pod that the shared shim made. */
void pod_adopt(struct pod *pod, struct shim *shim);

void pod_wake(struct pod *pod); /* something has happened: step it at the end of the turn */
void pod_step(struct pod *pod);
/** End a pod that never ran. The texts are literals. */
void pod_refuse(struct pod *pod, const char *reason, const char *message);
void pod_stop(struct pod *pod, int64_t grace_ms);
void pod_set_deadline(struct pod *pod, int64_t deadline_ms); /* as in shim_pod */
/** Bring pod->status up to date and return it; texts are borrowed from the pod. */
struct shim_status pod_status_now(struct pod *pod);

/* container.c: runs of a container, plain or sandboxed */
void container_init(struct pod *pod, unsigned index);
void container_release(struct container *container);
void container_start(struct container *container);
/** Run the preStop hook, or send TERM. Nothing kills the container later. */
void container_terminate(struct container *container, int64_t grace_ms);
/** End one run: preStop hook or TERM, after the grace KILL. The restart policy says whether it runs
 * again. `why` is text for people (copied); NULL = the pod ends. */
void container_stop(struct container *container, int64_t grace_ms, const char *why);
/** Signal the process group of the program; sandboxed: its init, which passes the signal on. Only
 * before it is reaped. */
void container_signal(const struct container *container, int number);
/** The program was reaped. */
void container_exited(struct container *container, int wait_status, const struct rusage *used);
/** Add the resources that a reaped process of the container has used. */
void container_add_usage(struct container *container, const struct rusage *used);
/** A run is over, or a start failed. `reason` is a literal, `message` is consumed. */
void container_ended(struct container *container, int code, int number, const char *reason,
                     char *message);
/** Why a run ended with `code`; `oom`: the kernel killed it for its memory. A literal. */
const char *container_reason(struct container *container, int code, bool oom);
void container_set_process(struct container *container, pid_t pid); /* of a run that begins */
void container_program_started(struct container *container);
/** Take a new command and environment for later runs: the fields of a PROGRAM frame (copied). */
void container_update_program(struct container *container, struct frame_reader fields);
void container_startup_passed(struct container *container);

/** How its program is started, except for output_fd. `marker` takes the variable SHIM_MARKER=uid,
 * which the plan borrows, as it borrows scratch memory of the shim. */
enum { MARKER_MAX = 128 };
void container_spawn_plan(struct container *container, char marker[MARKER_MAX],
                          struct spawn_plan *out);

/* container_env.c */
/** The environment of a container's program: the marker, the config's variables, the sandbox's,
 * its own. Of several values of a name the last one counts; the marker always does. Borrowed until
 * the next call. */
char *const *container_env(const struct container *container, const char *marker);

/* container_sandboxed.c: containers of a sandboxed pod */
bool sandboxed_open(struct pod *pod); /* make its sandbox; false: the pod was refused */
void sandboxed_start(struct container *container, const struct spawn_plan *program);
void sandboxed_exited(struct container *container, int wait_status);
/** Answer the address requests that arrive on a seccomp listener (consumed). */
void notify_listener_open(struct container *container, int fd);
void notify_listeners_close(struct container *container); /* all of them */

/* container_output.c: output of a container's program */
void output_open(struct container *container, int fd); /* consumes the read end of its pipe */
void output_drain(struct container *container);        /* the program is gone: read the rest */
void output_close(struct container *container);        /* no-op when closed */
char *output_tail(struct container *container);        /* its last lines, owned; NULL = none */
