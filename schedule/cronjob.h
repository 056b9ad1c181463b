#pragma once
/*
 * The CronJob controller: makes a Job at each time of a schedule, once, and keeps the status and the
 * history of each CronJob. Ref: spec/everyday.md 2.2, 2.3.
 */
#include "api/cluster.h"

struct cronjob_controller;
struct cronjob_options {
    bool upstream_compat; /* clock changes are treated as Volcano treats them */
};
struct cronjob_controller *cronjob_controller_start(struct cluster *cluster,
                                                    const struct cronjob_options *options);
/** Stops reacting at once. Its memory is freed when the last write in flight has been answered. */
void cronjob_controller_stop(struct cronjob_controller *controller); /* NULL is ignored */
