#pragma once
/*
 * The JobFlow controller: turns flows into jobs. Ref: spec/jobflow.md 5.4.
 */
#include "api/cluster.h"

struct flow_controller;
struct flow_options {
    bool upstream_compat;
    int64_t status_window_ms; /* how long status writes are gathered; default 100 */
};
struct flow_controller *flow_controller_start(struct cluster *cluster,
                                              const struct flow_options *options);
void flow_controller_stop(struct flow_controller *controller); /* NULL is fine */
