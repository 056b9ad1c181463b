#pragma once
/*
 * The JobFlow controller: turns flows into jobs. Ref: spec/jobflow.md 5.4.
 */
#include "api/cluster.h"

struct flow_controller;
struct flow_options {
    bool upstream_compat;
    int64_t status_window_ms; /* how long status writes are gathered; 0 = 100; flows beyond a
                                 hundred steps gather up to ten times as long */
    const char *const *refused_addresses; /* "IP:PORT" that probes never connect to (SEC-13): the
                                             API's own; NULL-terminated, borrowed; or NULL */
    const struct probe_sockets
        *sockets;             /* that lead to pods (probes/address.h); borrowed; or NULL */
    const char *host_address; /* where probes ask pods that have no address of their own; NULL: not
                                 at all (a cluster gives every pod one) */
};
struct flow_controller *flow_controller_start(struct cluster *cluster,
                                              const struct flow_options *options);
/** Stops reacting at once; memory goes when the last write under way has been answered. */
void flow_controller_stop(struct flow_controller *controller); /* NULL is fine */
