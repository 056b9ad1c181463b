#pragma once
/*
 * Explains in one line why a step is in its state.
 *
 * The explanation comes from the flow's status. For jobs that wait or have failed, the PodGroup and
 * the pods are read as well, unless the flow is so large that this would take long.
 */
#include "cli/client/client.h"
#include "cli/inspect/resource_holders.h"
#include "view/flow_view.h"

struct explain {
    struct flow_view *view; /* linked when that is needed */
    struct client *client;  /* client that reads more; NULL: only the view is used */
    int64_t now_ms;
    bool hides_specs; /* sentences do not tell the values of parameters and conditions */
    /* The members from here on are private and computed on first use. */
    uint32_t *failed_before; /* for each step the failed step before it, [n_steps] */
    json_t *groups;
    struct resource_holders holders;
};
void explain_release(struct explain *explain);

/** Appends one line without newline: what the step waits for, since when it runs and until when,
 * why it was skipped, failed, or will never run. */
void explain_step(struct explain *explain, uint32_t step, struct buf *out);
/** Appends the critical path of a flow that is not over, in three lines (steps that are over, at
 * work and to come) with durations; nothing for a path of one step. */
void explain_path(const struct explain *explain, const char *arrow, struct buf *out);
/** Appends "main ended with 3, other ended with 1" for an attempt; nothing when all exit codes are
 * 0. */
void explain_exit_codes(const json_t *attempt, struct buf *out);
/** Appends "in 2m" or "2m ago". */
void explain_when(const struct explain *explain, int64_t at_ms, struct buf *out);
