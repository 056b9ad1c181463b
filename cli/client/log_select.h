#pragma once
/*
 * Chooses which logs a request means, among the pods that exist and the kept logs (PodLogs) of pods
 * that are gone.
 *
 * Several pods may have had one name, one after another: in attempts of a step, and within a job
 * that restarted them. Asked for is the newest pod of each name in the newest job that has run, or
 * in the attempt that the caller names; or the log before that one: of the container's earlier run,
 * else of the pod that had the name before. The choice comes in order of time.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/scoped.h"

struct log_container {
    char *name;
    int64_t restarts;
    bool init;
};

struct log_source {
    char *ns, *pod, *uid;
    char *kept; /* name of the PodLog; NULL: the pod exists */
    char *job, *job_uid;
    int64_t attempt; /* attempt of the step; 0: not known */
    int64_t start_ms, revision, rank;
    struct log_container *containers; /* containers that run or have run, [n_containers] */
    size_t n_containers;
};

struct log_select {
    struct log_source *items;
    size_t count, cap;
    json_t *uids;     /* set of the uids of the pods that exist */
    json_t *attempts; /* uid of a job → attempt */
};

void log_select_release(struct log_select *select);
SCOPED_DEFINE(log_select, struct log_select, log_select_release)

/** Tells which attempt an existing Job is. Before its pods are chosen. */
void log_select_add_job(struct log_select *select, const json_t *job);
/** Adds a pod. `rank` orders pods of the same second. Pods come before PodLogs. */
void log_select_add_pod(struct log_select *select, const json_t *pod, int64_t rank);
void log_select_add_kept(struct log_select *select, const json_t *pod_log, int64_t rank);

/** Returns the attempt of a source; 0 when it is not known. */
int64_t log_select_attempt(const struct log_select *select, const struct log_source *source);

/** Calls `each` for every container log chosen, in order. `attempt` 0: the newest. `previous`: the
 * logs before; `each` is then told whether the source's own earlier run is meant. */
void log_select_choose(const struct log_select *select, int64_t attempt, bool previous,
                       void (*each)(void *ctx, const struct log_source *source,
                                    const struct log_container *container, bool earlier_run),
                       void *ctx);
