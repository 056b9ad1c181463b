#pragma once
/*
 * Restores the model of a flow from its stored status: everything that outlives the jobs.
 *
 * It runs before the jobs are looked at: results, attempts, histories and satisfied targets come
 * from the status; what a job still shows is then taken from the job. Members that people have
 * edited into an unexpected form are ignored.
 */
#include <jansson.h>

#include "flow/status/status.h"

/** Fills `m`, which is freshly initialised, and `state` and `removed`. `status` is the stored
 * document (borrowed), `generation` that of the stored spec. The model must be recounted once the
 * jobs have been seen. */
void flow_restore(struct flow_model *m, struct flow_state *state, struct removed_entries *removed,
                  const json_t *status, int64_t generation);

/** After the jobs have been seen: a step that had a job without a result, and has none now, is to
 * be created again as a further attempt. */
void flow_restore_missing_jobs(struct flow_model *m);

void flow_state_release(struct flow_state *state);
/** Adds an entry (consumed); drops the oldest beyond REMOVED_ENTRIES_MAX. */
void removed_entries_add(struct removed_entries *entries, char *json);
void removed_entries_release(struct removed_entries *entries);
