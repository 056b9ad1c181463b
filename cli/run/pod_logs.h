#pragma once
/*
 * Follows the logs of many pods at once, line by line, for `run --logs`, and prints the last lines
 * of a failed step.
 */
#include "api/store/store.h"
#include "node/runtime/runtime.h"

struct pod_logs;

/** Called for each complete line; `source` is "pod" or "pod/container" when the pod has several. */
typedef void (*pod_logs_line_fn)(void *ctx, const char *source, const char *line, size_t len);

/** Follow every pod of the store from its first byte on. */
struct pod_logs *pod_logs_follow_all(struct loop *loop, struct store *store,
                                     struct runtime *runtime, pod_logs_line_fn line, void *ctx);
/** Read the rest of all logs at the end of a run, then stop. NULL is fine. */
void pod_logs_finish(struct pod_logs *logs);

/** Pass on the last `lines` lines of every failed container of the pods owned by a job. */
void pod_logs_tail(struct store *store, struct runtime *runtime, const char *job_uid, int lines,
                   pod_logs_line_fn line, void *ctx);
