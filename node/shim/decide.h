#pragma once
/*
 * What a pod does next, as a pure function of what has happened to its containers.
 *
 * Init containers run one by one, each to exit code 0; those that are sidecars are started in their
 * turn and kept. Then all main containers are started. The pod ends when no main container will run
 * again, or an init container has failed for good. Ref: kubelet computePodActions, getPhase.
 */
#include "api/types/kinds/pod/pod.h"
#include "node/wire/message.h"

/* One container as the decision sees it. */
struct decide_container {
    enum container_state state;
    bool sidecar;
    bool resting;  /* waits for its back-off */
    bool starting; /* waits for its box */
    int32_t exit_code;
    bool awaited; /* a sidecar whose startup probe has not passed yet */
};

struct decide_pod {
    const struct decide_container *containers; /* [n_init + n_main] */
    unsigned n_init, n_main;
    enum shim_restart restart;
};

enum decide_what { DECIDE_WAIT, DECIDE_START, DECIDE_END };

struct decide_next {
    enum decide_what what;
    unsigned container; /* START */
};

/** The next thing to do; asked again after each START. */
struct decide_next pod_decide(const struct decide_pod *pod);

/** Does a container that ended so run again? */
bool pod_restarts(enum shim_restart restart, bool sidecar, bool init, int32_t exit_code);

/** Init containers are done: conditions of the pod. */
bool pod_initialized(const struct decide_pod *pod);

/** Phase of the pod; `final` when it has ended. */
enum pod_phase pod_phase_of(const struct decide_pod *pod, bool final);
