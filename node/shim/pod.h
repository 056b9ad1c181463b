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

#include "base/collections/hash.h"
#include "base/loop/reactor.h"
#include "node/sandbox/filter/sockaddr_notify.h"
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
    struct arena *renewed; /* memory of the spec after a PROGRAM message; NULL = the spec is in the
                            * pod's arena */
    unsigned index;
    struct container_status *status; /* status of the container; its reasons are literals, and its
                                      * message is the member `message` */
    char *message;                   /* owned; NULL = none */

    enum container_run run;
    pid_t pid;            /* process of the program or, in a sandboxed pod, of its init
                           * (sandbox/init.h); 0 = none */
    bool startup_passed;  /* the container's startup probe has passed, in this run or in an earlier
                           * one */
    struct source report; /* sandboxed: socket on which the container's init reports; fd -1 =
                           * none */
    struct notify_listener *notify_listeners; /* listeners for the address requests of the
                                               * container's programs */
    struct init_report *final_report; /* sandboxed: how the container's program ended; owned */
    UT_hash_handle by_pid;
    struct buf tail; /* end of the program's output, where it may become the container's message */
    struct source output; /* read end of the program's output pipe; fd -1 when closed */
    struct log_writer log;
    struct alarm restart;      /* back-off before the next run */
    struct alarm memory_check; /* next check of the container's memory, where no control group
                                * limits it */
    bool over_memory;          /* the container used more memory than its limit and was killed */
    struct alarm kill;         /* when the container is killed, if it alone is to stop */
    struct port_failures port_failures;
    char *stop_reason; /* message of the container if it leaves none itself; owned; NULL = none */
    struct alarm output_timeout; /* when output that is still open after the program's end is
                                  * closed */
    int64_t backoff_ms;          /* delay before the next restart */
    int64_t started_ns;          /* monotonic time at which the run began */
};

struct pod {
    struct shim *shim;
    UT_hash_handle by_uid;
    struct arena *arena; /* memory of the spec and of the bytes that it points into */
    struct shim_pod spec;

    enum pod_life life;
    enum pod_listing listing;
    bool stopped;        /* the node asked the pod to stop before it ended by itself */
    bool status_changed; /* the status of the pod is to be reported this turn */
    struct pod *next_due;
    const char *reason, *message; /* literals: why the pod ends, if not by itself; NULL = it ends by
                                   * itself */
    char *owned_message;          /* message that replaces `message`; owned; NULL = none */
    unsigned n_running;           /* number of programs that run */
    unsigned n_outputs;           /* number of outputs that are open */
    unsigned n_orphans; /* number of living processes that the pod's programs left behind */
    unsigned n_exec_helpers;
    struct alarm status_delay; /* delay of the first status, which may then include a quick end */
    struct alarm deadline, kill;
    struct alarm volume_check; /* next measurement of the pod's volumes on disk */
    struct alarm memory_check; /* next measurement of the memory of all containers, where no control
                                * group limits it */
    struct pod_status status;

    unsigned n_containers;
    struct container containers[]; /* the pod's containers, init containers first */
};

/** Makes a pod from the fields of a START frame (copied). Returns NULL when they are not
 * well-formed. The pod does nothing until it is stepped. */
struct pod *pod_new(struct shim *shim, const struct frame *frame);
void pod_free(struct pod *pod);

/** Takes over a pod that the shared shim made. It is called in the forked shim of that pod. */
void pod_adopt(struct pod *pod, struct shim *shim);

/** Asks for a step of the pod at the end of the turn, because something has happened. */
void pod_wake(struct pod *pod);
void pod_step(struct pod *pod);
/** Ends a pod that never ran. `reason` and `message` are literals. */
void pod_refuse(struct pod *pod, const char *reason, const char *message);
void pod_stop(struct pod *pod, int64_t grace_ms);
/** Changes the deadline; `deadline_ms` is as in struct shim_pod. */
void pod_set_deadline(struct pod *pod, int64_t deadline_ms);
/** Measures the memory of all containers each second, if the pod has a limit of its own that no
 * control group enforces. */
void pod_watch_memory(struct pod *pod);
enum { MEMORY_CHECK_MS = 1000 };
/** Brings pod->status up to date and returns it. Its texts are borrowed from the pod. */
struct shim_status pod_status_now(struct pod *pod);

/* Functions of container.c: runs of a container, plain or sandboxed. */
void container_init(struct pod *pod, unsigned index);
void container_release(struct container *container);
void container_start(struct container *container);
/** Runs the preStop hook of a container, or sends TERM to its program. Nothing kills the container
 * later. */
void container_terminate(struct container *container, int64_t grace_ms);
/** Ends one run of a container: preStop hook or TERM, and after the grace period KILL. The restart
 * policy says whether it runs again. `why` is text for people (copied); NULL = the pod ends. */
void container_stop(struct container *container, int64_t grace_ms, const char *why);
/** Signals the process group of a container's program. In a sandboxed pod it signals the
 * container's init, which passes the signal on. It must be called before the process is reaped. */
void container_signal(const struct container *container, int number);
/** Handles the end of a container's program, which was reaped. */
void container_exited(struct container *container, int wait_status, const struct rusage *used);
/** Adds the resources that a reaped process of the container has used. */
void container_add_usage(struct container *container, const struct rusage *used);
/** Handles the end of a run, or a start that failed. `reason` is a literal; `message` is freed
 * here. */
void container_ended(struct container *container, int code, int number, const char *reason,
                     char *message);
/** Returns the reason, a literal, for a run that ended with `code`. `oom`: the kernel killed the
 * program because it used too much memory. */
const char *container_reason(struct container *container, int code, bool oom);
/** Sets the process of a run that begins. */
void container_set_process(struct container *container, pid_t pid);
void container_program_started(struct container *container);
/** Takes a new command and new variables for later runs, from the fields of a PROGRAM frame
 * (copied). */
void container_update_program(struct container *container, struct frame_reader fields);
void container_startup_passed(struct container *container);

/** Says how the container's program is started, except for output_fd. `marker` takes the variable
 * SHIM_MARKER=uid. The plan borrows `marker` and scratch memory of the shim. */
enum { MARKER_MAX = 128 };
void container_spawn_plan(struct container *container, char marker[MARKER_MAX],
                          struct spawn_plan *out);

/* Function of container_env.c. */
/** Returns the environment of a container's program: the marker, the variables of the config, those
 * of the sandbox and its own. Of several values of a name the last one counts; the marker always
 * does. Borrowed until the next call. */
char *const *container_env(const struct container *container, const char *marker);

/* Functions of container_sandboxed.c: containers of a sandboxed pod. */
bool sandboxed_open(struct pod *pod); /* makes the pod's sandbox; false: the pod was refused */
void sandboxed_start(struct container *container, const struct spawn_plan *program);
void sandboxed_exited(struct container *container, int wait_status);
/** Answers the address requests that arrive on a seccomp listener, and closes `fd` at the end. */
void notify_listener_open(struct container *container, int fd);
/** Closes all listeners of the container. */
void notify_listeners_close(struct container *container);

/* Functions of container_output.c: the output of a container's program. */
/** Takes the read end of the output pipe, and closes it at the end. */
void output_open(struct container *container, int fd);
/** Reads the rest of the output, once the program has ended. */
void output_drain(struct container *container);
void output_close(struct container *container); /* does nothing when the output is closed */
/** Returns the last lines of the output, owned; NULL = none. */
char *output_tail(struct container *container);
