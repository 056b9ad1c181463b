#pragma once
/*
 * Why a step failed, or waits, in a few words, looked up in the store when somebody wants to know.
 */
#include "api/store/store.h"
#include "base/buf.h"

/** How the pods of a failed job ended: "exit code 3", "pod f-train-worker-1: killed by signal 9
 * (Killed); 2 pods failed". Appends nothing when no pod failed. */
void reason_of_failure(const struct store *store, const char *job_uid, struct buf *out);

/** What a pending job waits for: the newest word of the scheduler about its gang. Appends nothing
 * when there is none. */
void reason_to_wait(const struct store *store, const char *job_uid, struct buf *out);

struct container_status;
/** How a container ended: "exit code 3", "killed by signal 9 (Killed)", and the runtime's reason
 * and message where the code alone does not tell. */
void reason_container_ended(const struct container_status *container, struct buf *out);
