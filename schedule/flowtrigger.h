#pragma once
/*
 * The FlowTrigger controller: makes flows from a pattern, once for each firing, and keeps status and
 * history of each trigger. Ref: spec/everyday.md 2.4, 2.5, 2.8, 2.9.
 */
#include "api/cluster.h"

struct flowtrigger_controller;
struct flowtrigger_options {
    bool upstream_compat; /* clock changes are treated as Volcano treats them */
};
struct flowtrigger_controller *
flowtrigger_controller_start(struct cluster *cluster, const struct flowtrigger_options *options);
/** Stops reacting at once. Its memory is freed when the last write in flight has been answered. */
void flowtrigger_controller_stop(struct flowtrigger_controller *controller); /* NULL is ignored */
