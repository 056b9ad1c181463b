#pragma once
/*
 * The CacheEntries of a data directory, as the flow controller needs them: watched, indexed by key,
 * removed when there are too many.
 */
#include "flow/internal.h"

struct scan_batch;
struct reuse_task;

struct reuse_service {
    const struct flow_reuse_options *options;
    struct file_memory *memory;
    struct reuse_index *index;
    struct cluster_watcher entries;
    struct flow_controller *controller;
    uint32_t numbers;           /* the number of the last task */
    struct reuse_task *lookups; /* look-ups in flight, hash table by key */
    struct scan_batch *batch;   /* scans that go to the pool together; NULL: none yet */
};

/** Starts to watch the entries, if steps may be reused at all. */
void reuse_service_start(struct flow_controller *controller);
void reuse_service_stop(struct flow_controller *controller);
/** Frees the service when no scan is under way. */
void reuse_service_free(struct reuse_service *service);
/** Removes an entry from the store and from the index. */
void reuse_service_remove(struct reuse_service *service, const char *ns, const char *name);
/** Removes entries as long as there are too many after that of `key` was recorded. */
void reuse_service_trim(struct reuse_service *service, const char *ns, const char *key);
/** Returns the job, other than that of `flow`'s step, that does the work of this key and has not
 * ended; borrowed, or NULL. */
const char *reuse_service_same_work(struct reuse_service *service, const char *ns, const char *key);
/** The job is gone, or was never made: its entry, if it is pending, goes as well. */
void reuse_service_job_gone(struct flow_controller *controller, const char *ns,
                            const struct meta *job);
/** The job has ended: steps that wait for the same work are looked up again. */
void reuse_service_job_ended(struct flow_controller *controller, const struct object *job);
