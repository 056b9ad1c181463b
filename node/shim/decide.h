#pragma once
/*
 * The next action of a pod, as a pure function of the states of its containers.
 *
 * Init containers run one by one, each to exit code 0; sidecars among them start in their turn and
 * keep running. Then all main containers start. The pod ends when no main container will run again,
 * or when an init container has failed for good. Ref: kubelet computePodActions, getPhase.
 */
#include "api/types/kinds/pod/pod.h"
#include "node/wire/message.h"

/* One container as the decision sees it. */
struct decide_container {
    enum container_state state;
    bool sidecar;
    bool in_backoff; /* waits before its next run */
    bool starting;   /* its process exists, its program does not run yet */
    int32_t exit_code;
    bool startup_pending; /* a sidecar whose startup probe has not passed yet */
};

struct decide_pod {
    const struct decide_container *containers; /* [n_init + n_main] */
    unsigned n_init, n_main;
    enum shim_restart restart;
};

enum decide_what { DECIDE_WAIT, DECIDE_START, DECIDE_END };

struct decide_next {
    enum decide_what what;
    unsigned container; /* START: index */
};

/** The next action. Asked again after each START. */
struct decide_next pod_decide(const struct decide_pod *pod);

/** Does a container that ended with `exit_code` run again? */
bool pod_restarts(enum shim_restart restart, bool sidecar, bool init, int32_t exit_code);

/** Have all init containers done their part? The condition Initialized. */
bool pod_initialized(const struct decide_pod *pod);

/** Phase of the pod; `final` when it has ended. */
enum pod_phase pod_phase_of(const struct decide_pod *pod, bool final);
