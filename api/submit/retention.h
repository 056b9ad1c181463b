#pragma once
/*
 * The life of Submissions: each notes how its job ended, and is deleted when that is longer ago
 * than the retention. Ref: armada-submit.md B.7.
 */
#include "api/registry/registry.h"

struct submit_retention;

enum { SUBMIT_RETENTION_MS = 7 * 24 * 3600 * 1000 };

/** Starts to follow the jobs of the registry. */
struct submit_retention *submit_retention_start(struct loop *loop, struct registry *registry,
                                                int64_t retention_ms);
/** Changes the retention. Submissions that are over by then go within a second. */
void submit_retention_set(struct submit_retention *retention, int64_t retention_ms);
void submit_retention_stop(struct submit_retention *retention); /* NULL is ignored */
