#pragma once
/*
 * The reason why a job failed or waits, in a few words. It is looked up in the store on demand, so
 * jobs for which no reason is shown cost nothing.
 */
#include "api/store/store.h"
#include "base/buf.h"

/** Append how the pods of a failed job ended: "exit code 3", "pod f-train-worker-1: killed by
 * signal 9 (Killed); 2 pods failed". Nothing when no pod failed. */
void reason_of_failure(const struct store *store, const char *job_uid, struct buf *out);

/** Append what a pending job waits for: the scheduler's newest message about its PodGroup. Nothing
 * when there is none. */
void reason_to_wait(const struct store *store, const char *job_uid, struct buf *out);

struct container_status;
/** Append how a container ended: "exit code 3" or "killed by signal 9 (Killed)", followed by the
 * runtime's reason and message unless the reason is the general "Error". */
void reason_container_ended(const struct container_status *container, struct buf *out);
