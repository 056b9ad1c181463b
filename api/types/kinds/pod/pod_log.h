#pragma once
/*
 * The kind PodLog: the kept log of a pod that is gone.
 *
 * A pod that is deleted while the job or flow that it ran for still exists leaves a PodLog behind.
 * It names the pod, the attempt of the step, and the log files, which stay as long as the PodLog
 * does. Its owners are the flow and the job, so it goes with the last of them. The node makes it
 * (node/log_keeper.c); everything it says is in its status.
 */
#include "api/types/object.h"

struct pod_log_container {
    const char *name;
    int32_t restarts;
    bool init;
    bool has_code; /* the container has ended */
    int32_t exit_code;
};

struct pod_log {
    const char *pod, *uid; /* the pod's; the uid names the log files */
    const char *node, *phase, *reason;
    const char *job, *job_uid;
    const char *flow, *step; /* flow and step of the job; NULL: the job was not made by a flow */
    int32_t attempt;         /* attempt of the step, from 1; 0 without a flow */
    const char *task;        /* task of the pod; NULL: not known */
    int32_t index;           /* index of the pod in its task */
    int64_t start_ms, end_ms;
    bool complete; /* the pod is gone, so nothing is written to the log any more */
    int64_t bytes; /* size of the log files; 0 until the log is complete */
    struct {
        struct pod_log_container *items;
        size_t count;
    } containers; /* containers of the pod, init containers first */
};

/** Returns the decoded status, borrowed while the object exists. */
const struct pod_log *pod_log_of(const struct object *log);
/** Writes a status and attaches a decoded copy. Owned. */
struct blob *pod_log_blob(const struct pod_log *log);
/** Returns the name of the PodLog of a pod. Owned. */
char *pod_log_name(const char *pod, const char *uid);
