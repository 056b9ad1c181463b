#pragma once
/*
 * A flow's stored status back into its record: what outlives the jobs.
 *
 * Comes before the jobs are looked at: results, attempts, histories and met targets are taken from
 * the status, everything a job still tells is then taken from the job. A status that people edited
 * is tolerated: what is not of the right form is not there.
 */
#include <jansson.h>

#include "flow/status.h"

/** `status` is the stored document (borrowed), `generation` that of the stored spec. The record is
 * freshly initialised; recount it after the jobs have been seen. */
void flow_restore(struct flow_model *m, struct flow_state *state, struct removed_entries *removed,
                  const json_t *status, int64_t generation);

/** After the jobs: steps that had a job without a result and have none now are to be created again,
 * as a further attempt. */
void flow_restore_missing_jobs(struct flow_model *m);

void flow_state_release(struct flow_state *state);
/** Consumes `json`; beyond REMOVED_ENTRIES_MAX the oldest goes. */
void removed_entries_add(struct removed_entries *entries, char *json);
void removed_entries_release(struct removed_entries *entries);
