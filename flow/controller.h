#pragma once
/*
 * The JobFlow controller: creates the jobs of a flow's steps as their dependencies are satisfied,
 * and keeps the flow's status. It works on any cluster (api/cluster.h). Ref: spec/jobflow.md 5.4.
 */
#include "api/cluster.h"

struct flow_controller;
struct flow_options {
    bool upstream_compat;
    /* How long changes are collected before a status is written, in milliseconds; 0 = 100. Flows of
     * more than a hundred steps collect up to ten times as long. */
    int64_t status_window_ms;
    /* "IP:PORT" that probes never connect to (SEC-13): those of the API server itself.
     * NULL-terminated, borrowed; or NULL. */
    const char *const *refused_addresses;
    /* Makes the sockets by which probes reach pods (probes/address.h); borrowed; or NULL. */
    const struct probe_sockets *sockets;
    /* Address at which probes reach pods that have none of their own; NULL: such pods are not
     * probed. */
    const char *host_address;
};
struct flow_controller *flow_controller_start(struct cluster *cluster,
                                              const struct flow_options *options);
/** Stops reacting at once. Its memory is freed when the last write in flight has been answered. */
void flow_controller_stop(struct flow_controller *controller); /* NULL is ignored */
