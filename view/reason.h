#pragma once
/*
 * The reason why a job failed or waits, in a few words. It is looked up in the store on demand, so
 * jobs for which no reason is shown cost nothing.
 */
#include "api/store/store.h"
#include "base/buf.h"

/* How the pods of a failed job ended. Starts with zeros. */
struct reason_pods {
    struct buf first; /* why the first failed pod failed */
    char name[256];   /* name of the first failed pod */
    unsigned n_pods, n_failed;
};
void reason_pods_add(struct reason_pods *pods, const struct object *pod);
/** Appends "exit code 3", "pod f-train-worker-1: killed by signal 9 (Killed); 2 pods failed".
 * Nothing when no pod failed. */
void reason_pods_write(const struct reason_pods *pods, struct buf *out);
void reason_pods_release(struct reason_pods *pods);

/** Takes the pods of a job in the store. */
void reason_pods_of(const struct store *store, const char *job_uid, struct reason_pods *pods);

/** Returns whether a message of a job's state says no more than how many pods succeeded and failed.
 * NULL says no more, either. */
bool reason_only_counts(const char *message);
/** Appends why a job has failed, from the reason and message of its state (NULL: none): the
 * message, or, if that only counts pods, how they ended. */
void reason_of_failure(const char *reason, const char *message, const struct reason_pods *pods,
                       struct buf *out);

/** Appends what a pending job waits for: the scheduler's newest message about its PodGroup. Nothing
 * when there is none. */
void reason_to_wait(const struct store *store, const char *job_uid, struct buf *out);

struct container_status;
/** Appends how a container ended: "exit code 3" or "killed by signal 9 (Killed)", followed by the
 * runtime's reason and message unless the reason is the general "Error". */
void reason_container_ended(const struct container_status *container, struct buf *out);
