#pragma once
/*
 * What a PodLog says of a pod and its job, and to which flow or job a log belongs.
 */
#include "api/cluster.h"
#include "api/types/kinds/pod/pod_log.h"

/* The flow and the job that a pod ran for. Both are borrowed from the cluster. */
struct log_owners {
    const struct object *job;  /* NULL: the job is gone */
    const struct object *flow; /* NULL: the job has no flow, or the flow is gone or being deleted */
};

/** Finds the owners of a pod's log while its job exists. Returns false when the job is gone (`out`
 * has no owner), or when nothing keeps the log. */
bool log_owners_of_pod(struct cluster *cluster, const struct object *pod, struct log_owners *out);
/** Finds the owners of the logs of a job that has just been deleted: its flow. Returns false when
 * the job has no flow. */
bool log_owners_of_removed(struct cluster *cluster, const struct object *job,
                           struct log_owners *out);

/** Returns whether programs of the pod have run, so that there may be a log. */
bool log_pod_has_run(const struct object *pod);

/** Returns a draft of the PodLog of a pod of `job`. Owned by the caller. */
struct object *log_facts_draft(const struct object *pod, const struct object *job,
                               const struct log_owners *owners, bool complete, int64_t bytes,
                               int64_t now_ms);
/** Returns the status of a PodLog whose pod is gone now. Owned by the caller. */
struct blob *log_facts_complete(const struct pod_log *before, const struct object *pod,
                                int64_t bytes, int64_t now_ms);
