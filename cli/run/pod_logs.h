#pragma once
/*
 * Follows the logs of many pods at once, line by line, for `run --logs`, and prints the last lines
 * of a failed step.
 */
#include "api/store/store.h"
#include "cli/client/log_print.h"
#include "node/runtime/runtime.h"

struct pod_logs;

/* Receives what pods write. The label of a line is "pod", or "pod/container" when the pod has
 * several. */
struct pod_logs_sink {
    void (*whole)(void *ctx, struct log_line *line, const char *text, size_t len);
    /** A line that has no newline yet, each time it has grown; `whole` follows. */
    void (*growing)(void *ctx, struct log_line *line, const char *text, size_t len);
    void *ctx;
};

/** Follow every pod of the store from its first byte on. */
struct pod_logs *pod_logs_follow_all(struct loop *loop, struct store *store,
                                     struct runtime *runtime, const struct pod_logs_sink *sink);
/** Reads the rest of all logs at the end of a run, then stops. NULL is fine. */
void pod_logs_finish(struct pod_logs *logs);

/** Passes on the last `lines` lines of every failed container of the pods owned by a job, each as a
 * whole. */
void pod_logs_tail(struct store *store, struct runtime *runtime, const char *job_uid, int lines,
                   const struct pod_logs_sink *sink);
