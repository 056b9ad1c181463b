#pragma once
/*
 * Following the logs of many pods at once, line by line, for `run --logs` and for the last words of
 * a failed step.
 */
#include "api/store/store.h"
#include "node/runtime/runtime.h"

struct podlogs;

/** Called for each complete line; `source` is "pod" or "pod/container" when the pod has several. */
typedef void (*podlogs_line_fn)(void *ctx, const char *source, const char *line, size_t len);

/** Follow every pod of the store from its first byte on. */
struct podlogs *podlogs_follow_all(struct loop *loop, struct store *store, struct runtime *runtime,
                                   podlogs_line_fn line, void *ctx);
/** Read what is there now (the end of a run), then stop. NULL is fine. */
void podlogs_finish(struct podlogs *logs);

/** The last `lines` lines of every failed container of the pods owned by a job. */
void podlogs_tail(struct store *store, struct runtime *runtime, const char *job_uid, int lines,
                  podlogs_line_fn line, void *ctx);
