#pragma once
/*
 * Foresees what a retry or a rerun does to each step of a stored flow. The model of the flow
 * controller (flow/model) computes it from the stored status, so that plan and run agree.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/object.h"
#include "base/buf.h"
#include "base/error.h"

enum step_fate {
    FATE_KEPT,         /* the result stays */
    FATE_STAYS_FAILED, /* the failure stays, and the flow fails again */
    FATE_STAYS_SKIPPED,
    FATE_RUNS_AGAIN, /* the step has a result, and begins again */
    FATE_MAY_RUN,    /* the step has no result, and starts if its targets and conditions let it */
    FATE_LEFT_OUT,   /* the step has no result and does not start */
    FATE_N
};

struct foresight {
    enum step_fate *fates; /* fates of the steps of the spec, [count] */
    uint32_t *again;       /* number of iterations that begin again, of a loop; [count] */
    size_t count;
    size_t with[FATE_N]; /* number of steps with each fate */
};

/** `stored`: the flow with its status. `now`: the flow as it will be, perhaps edited; may be
 * `stored`. False with `err` when the flow has not ended, or a name is not that of a step. */
bool foresee(const struct object *stored, const struct object *now, const struct flow_rerun *rerun,
             struct foresight *out, struct error *err);
void foresight_release(struct foresight *foresight);
SCOPED_DEFINE(foresight, struct foresight, foresight_release)

/** Returns the text for a plan of what happens to a step of the spec: "runs again", "kept", "2
 * iterations run again". Owned. */
char *foresight_text(const struct foresight *foresight, size_t step);
/** Appends "2 of 5 steps run again, 1 may run, 2 are kept". */
void foresight_write(const struct foresight *foresight, struct buf *out);
/** Appends "step load stays Failed: it is not among those that run again"; nothing when no failure
 * stays. `flow` is the one that was foreseen. */
void foresight_write_failures(const struct foresight *foresight, const struct object *flow,
                              struct buf *out);
