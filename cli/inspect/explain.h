#pragma once
/*
 * Why a step is in its state, in one line.
 *
 * From the flow's own record as far as that tells; of jobs that wait or have failed, the gang and
 * the pods are asked, unless very many steps are explained.
 */
#include "cli/client/client.h"
#include "view/flow_view.h"

struct explain {
    struct flow_view *view; /* linked when that is needed */
    struct client *client;  /* NULL: nothing beyond the view is asked */
    int64_t now_ms;
    /* private: found out when it is first asked for */
    uint32_t *failed_before; /* [n_steps] */
    json_t *groups;
};
void explain_release(struct explain *explain);

/** Append one line without newline: what the step waits for, since when it runs and until when,
 * why it was skipped, failed, or will never run. */
void explain_step(struct explain *explain, uint32_t step, struct buf *out);
/** The critical path of a flow that is not over, in lines: what is over, at work and to come, and
 * how long each took or is expected to take. Nothing of a path of one step. */
void explain_path(const struct explain *explain, const char *arrow, struct buf *out);
/** "main ended with 3, other ended with 1" of an entry of attempts; nothing when all ended well. */
void explain_exit_codes(const json_t *attempt, struct buf *out);
/** "in 2m", "2m ago" */
void explain_when(const struct explain *explain, int64_t at_ms, struct buf *out);
