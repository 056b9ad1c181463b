#pragma once
/*
 * Runs one `jobflow controller`: the controllers of a Kubernetes cluster, in one process, until a
 * signal stops it. Ref: spec/cluster.md 1, 4.
 */
#include "cli/client/client.h"
#include "cli/command/command.h"

struct controller_options {
    struct client_endpoint endpoint; /* the server and its credentials */
    const char *mode;                /* the mode, "flows", "jobs" or "kube" */
    const char *scheduler_name;      /* scheduler of pods whose Job names none; NULL: by mode */
    const char *namespaces;          /* names separated by commas; NULL: all */
    const char *controllers;         /* which controllers of the mode run */
    const char *gang;                /* what makes pods start together, one of gang_names */
    const char *compat;              /* the compatibility, "design" or "upstream" */
    int64_t status_window_ms;
    struct flag_list probe_refuse; /* ranges of addresses that probes never reach */
    int64_t max_inflight;
    int64_t
        max_requeue; /* refusals that only a change can mend before a job is given up; -1: all */
    bool leader_elect;
    int64_t lease_ms, deadline_ms, retry_ms;
    const char *lease_name;
    const char *lease_namespace; /* NULL: the namespace of the pod, else jobflow-system */
    const char *volcano_namespace;
    const char *volcano_controllers; /* what Volcano runs; NULL: it is looked up */
    const char *health_listen,
        *metrics_listen; /* addresses of the pages, or "none"; NULL: the usual
                                                 * ports in a pod, else none */
    int64_t start_timeout_ms, drain_timeout_ms;
    const char *log_format;
    bool verbose;
};

/** Checks a range of addresses that probes shall not reach. */
bool controller_check_range(const char *text, struct error *err);

/** Runs the controllers. Returns the exit code: 0 when a signal stopped it, 1 when it could not go
 * on, 2 when it was refused, 4 when the server was not reached in time. */
int controller_run(const struct controller_options *options);
