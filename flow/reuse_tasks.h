#pragma once
/*
 * Scans at the files of steps on the thread pool (flow/reuse/scan.h), and what is done with them when
 * they come back.
 */
#include "flow/internal.h"
#include "flow/reuse/compare.h"

/* One scan, on the pool or on its way back. */
struct reuse_task {
    struct reuse_task *next; /* in its batch, or among those that wait for one */
    /* Look-ups of the same key that wait for this one: the oldest begins first. */
    struct reuse_task *waiting, **waiting_end;
    UT_hash_handle hh; /* by key, of a look-up that does not wait */
    void (*done)(struct reuse_task *task);
    struct flow *flow;
    uint32_t step, build, number;
    struct reuse_scan *scan;
    /* Of a look-up: */
    struct reuse_draft draft;
    char *newest; /* the newest recorded entry of the key when the scan began; NULL: none */
    struct reuse_target *targets; /* [n_targets], in the scan's arena */
    size_t n_targets;
    bool may_reuse; /* an entry that holds ends the step */
    /* Of a recording: */
    struct object *job;
    struct job_results *results;
};

/** Makes the task of a step, which is to call `done` on the loop's thread unless the flow was closed
 * or changed meanwhile. The caller adds a scan, and submits or frees the task. */
struct reuse_task *reuse_task_new(struct flow *flow, uint32_t step,
                                  void (*done)(struct reuse_task *task));
void reuse_task_free(struct reuse_task *task);
/** Begins the scan (consumes `task`). It goes to the pool together with others, at the latest when
 * `most` were collected. A look-up waits for an earlier one of the same key, so that of equal steps
 * the one that asked first runs. */
void reuse_task_submit(struct reuse_task *task, size_t most);
/** Returns true if a result of the same work has been recorded since the scan began: the scan may have
 * seen the files as they were before that work. */
bool reuse_task_is_outdated(const struct reuse_task *task);
/** Hands the scans that were collected to the pool. */
void reuse_task_hand_over(struct reuse_service *service);
