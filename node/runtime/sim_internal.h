#pragma once
/*
 * The simulated runtime from inside: sim.c has the pods and the operations of a runtime,
 * sim_pod.c has the life of one pod, sim_outcome.c says what its runs do.
 */
#include "base/collections/hash.h"
#include "node/runtime/runtime.h"

struct sim_container {
    struct sim_pod *pod;
    const struct pod_container *spec;
    struct container_status *status;
    struct timer timer; /* the end of the run, or the next start */
    int64_t backoff_ms;
    bool done; /* the container will not run again */
};

/* The states of a simulated pod. NEW: not begun. FINAL: its last report is made. RELEASED: freed
 * once it is no longer due. */
enum sim_state { SIM_NEW, SIM_RUNNING, SIM_FINAL, SIM_RELEASED };

/* A simulated pod. It is in sim.due while `due` is set. */
struct sim_pod {
    UT_hash_handle hh;
    struct sim *sim;
    struct sim_pod *next_due;
    const char *uid;
    const struct object *object; /* the Pod; NULL: the pod was asked to stop but never started
                                  * here */
    const struct pod_spec *spec;
    size_t n_init, n_containers;
    size_t init_at; /* number of init containers that are done or, for sidecars, started */
    struct timer deadline;
    int64_t begun_ns, deadline_ms; /* times of the loop's clock; deadline_ms 0 = none */
    enum sim_state state;
    bool due, stop_asked;
    bool failed;        /* the pod has failed, regardless of the exit codes */
    const char *reason; /* reason of the pod's failure, or NULL */
    struct container_status *statuses;
    struct sim_container containers[]; /* the pod's containers, init containers first */
};

/* The number of ended runs of a container, by "namespace/pod/container". It outlives the pod,
 * because the exit code of the next pod of this name may depend on it. */
struct sim_attempts {
    UT_hash_handle hh;
    size_t count;
    char key[];
};

struct sim {
    struct runtime rt;
    struct sim_pod *pods;
    struct sim_attempts *attempts;
    sim_script_fn script;
    void *script_ctx;
    int64_t speed; /* 1: pods take the time that they say; 2: half of it */
    struct task task;
    struct sim_pod *due, **due_tail;
};

/* Defined in sim_pod.c. */

/** Sets the function that the timer of the container calls. */
void sim_container_init(struct sim_container *container);
/** Starts the containers that may start first, and reports the result. */
void sim_pod_begin(struct sim_pod *pod);
/** Stops a pod: running containers die of SIGTERM, and a pod with containers that were still waiting
 * has failed. The report may release and free the pod. */
void sim_pod_stop(struct sim_pod *pod);
/** Sets the timer for the deadline. `deadline_ms` counts from the start of the pod; 0 = none. */
void sim_pod_set_deadline(struct sim_pod *pod, int64_t deadline_ms);
/** Returns whether the last report of the pod is made. */
bool sim_pod_is_final(const struct sim_pod *pod);

/* Defined in sim_outcome.c. */

/** Returns how long the run takes that begins now, by the clock of the pod. */
int64_t sim_run_ns(struct sim_container *container);
/** Returns the message of the run that ends now; NULL = none. */
const char *sim_termination_message(struct sim_container *container);
/** Returns the exit code of the run that ends now, and counts the run. */
int sim_take_exit_code(struct sim_container *container);
