#pragma once
/*
 * The simulated runtime, as its own files see it; runtime.h is what others use.
 */
#include "base/hash.h"
#include "node/runtime/runtime.h"

struct sim_container {
    struct sim_pod *pod;
    const struct pod_container *spec;
    struct container_status *status;
    struct timer timer; /* the end of the run, or the next start */
    int64_t backoff_ms;
    bool done; /* will not run again */
};

/* One entry of the list of what is due at once. */
struct sim_pod {
    UT_hash_handle hh;
    struct sim *sim;
    struct sim_pod *next_due;
    const char *uid;
    const struct object *object; /* NULL: a pod this runtime never knew, asked to stop */
    const struct pod_spec *spec;
    size_t n_init, n_containers;
    size_t init_at; /* init containers done or, for sidecars, started */
    struct timer deadline;
    int64_t begun_ns, deadline_ms; /* 0 = none */
    bool due, begun, stop_asked, final, released;
    bool failed;        /* whatever the containers say */
    const char *reason; /* of the pod, or NULL */
    struct container_status *statuses;
    struct sim_container containers[]; /* init first */
};

/* How often a container of this name has run, kept for pods whose exit code depends on it. */
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
    struct task task;
    struct sim_pod *due, **due_tail;
};

/* sim_script.c: what a container does, by the script or the annotations of its pod */
int64_t sim_run_ns(struct sim_container *container);
const char *sim_last_words(struct sim_container *container);
/** The code of the run that ends now, which is counted. */
int sim_exit_code(struct sim_container *container);
