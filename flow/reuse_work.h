#pragma once
/*
 * Looks at the files of steps on the thread pool (flow/reuse/look.h), and what is done with them when
 * they come back.
 */
#include "flow/internal.h"
#include "flow/reuse/compare.h"

/* One look, on the pool or on its way back. */
struct reuse_work {
    struct reuse_work *next; /* in its batch, or among those that wait for one */
    /* Look-ups of the same key that wait for this one: the oldest begins first. */
    struct reuse_work *waiting, **waiting_end;
    UT_hash_handle hh; /* by key, of a look-up that does not wait */
    void (*done)(struct reuse_work *work);
    struct flow *flow;
    uint32_t step, build, number;
    struct reuse_look *look;
    /* Of a look-up: */
    struct reuse_draft draft;
    char *newest; /* the newest recorded entry of the key when the look began; NULL: none */
    struct reuse_target *targets; /* [n_targets], in the look's arena */
    size_t n_targets;
    bool may_reuse; /* an entry that holds ends the step */
    /* Of a recording: */
    struct object *job;
    struct job_results *results;
};

/** Makes the work of a step, which is to call `done` on the loop's thread unless the flow was closed
 * or changed meanwhile. The caller adds a look, and submits or frees the work. */
struct reuse_work *reuse_work_new(struct flow *flow, uint32_t step,
                                  void (*done)(struct reuse_work *work));
void reuse_work_free(struct reuse_work *work);
/** Begins the look (consumes `work`). It goes to the pool together with others, at the latest when
 * `most` were collected. A look-up waits for an earlier one of the same key, so that of equal steps
 * the one that asked first runs. */
void reuse_work_submit(struct reuse_work *work, size_t most);
/** Returns true if a result of the same work has been recorded since the look began: the look may have
 * seen the files as they were before that work. */
bool reuse_work_is_outdated(const struct reuse_work *work);
/** Hands the looks that were collected to the pool. */
void reuse_work_hand_over(struct reuse_service *service);
