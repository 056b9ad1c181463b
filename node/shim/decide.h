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

/* The state of one container, as far as the decision depends on it. */
struct decide_container {
    enum container_state state;
    bool sidecar;
    bool in_backoff; /* the container waits before its next run */
    bool starting;   /* the container has a process, but its program does not run yet */
    int32_t exit_code;
    bool startup_pending; /* the container is a sidecar whose startup probe has not passed yet */
};

struct decide_pod {
    const struct decide_container *containers; /* states of the containers, [n_init + n_main] */
    unsigned n_init, n_main;
    enum shim_restart restart;
};

enum decide_what { DECIDE_WAIT, DECIDE_START, DECIDE_END };

struct decide_next {
    enum decide_what what;
    unsigned container; /* START: index of the container to start */
};

/** Returns the next action of a pod. The caller asks again after each START. */
struct decide_next pod_decide(const struct decide_pod *pod);

/** Returns whether a container that ended with `exit_code` runs again. */
bool pod_restarts(enum shim_restart restart, bool sidecar, bool init, int32_t exit_code);

/** Returns whether all init containers have done their part, as the condition Initialized of a pod
 * says. */
bool pod_initialized(const struct decide_pod *pod);

/** Returns the phase of the pod. `final` says that the pod has ended. */
enum pod_phase pod_phase_of(const struct decide_pod *pod, bool final);
