#pragma once
/*
 * Adds to the status what kept logs tell of attempts that the stored status does not know to the
 * end.
 *
 * An interrupt deletes unfinished jobs after the controllers have stopped, and a crash may come
 * before the status was written. The kept logs then say which attempts there were, when they ended,
 * and which logs they left.
 */
#include "api/cluster.h"
#include "flow/model/flow_model.h"

/** Completes the attempts of steps whose job is missing. After the jobs were read, before
 * flow_restore_missing_jobs. O(kept logs of the flow). */
void flow_restore_logs(struct cluster *cluster, const char *flow_uid, struct flow_model *m);
