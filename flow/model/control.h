#pragma once
/*
 * Conditions, switches, loops, handled failures and final steps. Flows that use none of these, and
 * have no probes, have no flow_control: their steps just count completed targets.
 *
 * Each step ends in one way and notifies its dependents once: MET (it completed, or its failure is
 * ignored), LOST (it failed) or SKIPPED. A step whose last target has notified it is evaluated: it
 * runs, or it is skipped and notifies its own dependents. Steps to evaluate form a set that is
 * worked off until it is empty, so nothing recurses, and a chain of n skipped steps costs O(n).
 *
 *   targets (strategy any: one decides)             without `if`    with `if`
 *   ───────────────────────────────────────────     ────────────    ─────────────────────
 *   all met, or some met and the others skipped     runs            condition is evaluated
 *   one lost                                        skipped         condition is evaluated
 *   all skipped                                     skipped         skipped (*)
 *
 *   (*) evaluated if the condition has a term about how a step ended
 *
 * A failure may be handled by steps whose `if` has a term about it. While one of them is undecided
 * the flow goes on. When one of them runs the failure is handled; when all are skipped it fails the
 * flow like any other. Ref: spec/jobflow.md 13.3 to 13.5.
 */
#include "flow/model/flow_model.h"

/* Whether a switch, or the end of the flow, lets a step run. */
enum step_gate {
    GATE_NONE,       /* the step is not listed by a switch and is not final */
    GATE_CLOSED,     /* no switch has decided about the step yet */
    GATE_OPEN,       /* the step may run */
    GATE_NOT_CHOSEN, /* the switch chose others: the step is skipped */
};

/* Which dependents know how a step ended. */
enum notified {
    NOTIFIED_NONE,
    NOTIFIED_CONDITIONS, /* the failure was told only to steps with an `if`, which may handle it */
    NOTIFIED_ALL
};

struct step_control {
    uint32_t met, lost, skipped; /* number of targets by their result */
    uint32_t undecided;          /* steps that may handle its failure and have not decided */
    uint32_t next, active;       /* loop: next iteration to start, and number of those that run */
    uint32_t done, failed;       /* loop: number of iterations that completed, and that failed */
    uint32_t missing;            /* loop: number of iterations that have never run and that a rerun
                                  * has kept; they are counted in `failed`, too */
    uint32_t kept;               /* loop: number of failed ones, or never run, that a rerun has
                                  * kept; they are counted in `failed`, too */
    uint8_t gate;                /* an enum step_gate */
    uint8_t notified;            /* an enum notified */
    bool served;                 /* its dependents were told that it serves them */
    bool decided;                /* the condition has been evaluated */
    bool affected;               /* affected by a step that a manual retry begins again:
                                  * restart.c */
    char *chosen;                /* switch: name of the case taken, "" = default; NULL = none yet */
    struct loop_items *items;    /* items of a loop over an output, once the loop has begun */
};

struct flow_control {
    struct step_control *steps;  /* control of each step, [count] */
    uint32_t count;              /* number of steps, graph->steps */
    struct dag failure_handlers; /* step → steps whose conditions may handle its failure */
    struct dag handled_targets;  /* the edges of failure_handlers, reversed */
    struct dag conditions; /* step → steps whose conditions are about it; once a manual retry
                            * is requested */
    struct step_set to_evaluate;
    struct step_set unannounced; /* skipped steps of which no event has been written yet */
    uint32_t finals;             /* number of final steps */
    bool ended;                  /* ordinary steps are done: final steps may run */
    bool live;                   /* false while the model is being recounted */
    bool draining;               /* to_evaluate is being worked off */
};

void flow_control_init(struct flow_model *m);
void flow_control_free(struct flow_control *control); /* NULL is ignored */
/** Marks the steps to whose outputs, exit codes or task results the spec refers. */
void flow_control_mark_wanted_results(struct flow_model *m);

/** The step's job has a new phase, or the step was skipped. */
void flow_control_step_changed(struct flow_model *m, uint32_t step);
/** A probe of the step has found one more target met. */
void flow_control_target_met(struct flow_model *m, uint32_t step);
/** Skips a step that has waited for its approval in vain. */
void flow_control_skip(struct flow_model *m, uint32_t step);
/** The failure of the step was marked as handled. */
void flow_control_failure_handled(struct flow_model *m, uint32_t step);
/** The step begins another attempt, so it will notify its dependents again. */
void flow_control_new_attempt(struct flow_model *m, uint32_t step);
/** The flow is ending: loops that went on after a failed iteration fail. */
void flow_control_flow_ends(struct flow_model *m);
/** All ordinary steps are done: lets the final steps run. */
void flow_control_run_finals(struct flow_model *m);
/** Returns whether final steps have not ended. */
bool flow_control_finals_open(const struct flow_model *m);
bool flow_control_finals_failed(const struct flow_model *m);

/* Function for flow_model_rebuild.c: resets one step before the recount. The functions below do the
 * recount itself and take over a changed spec. */
void flow_control_reset(struct flow_model *m, uint32_t step);
void flow_control_recount(struct flow_model *m);
void flow_control_take_over(struct flow_model *m, struct flow_model *old);

/* Between control.c and loop.c. */

/** Notifies the dependents of a step that has ended, or the loop of an iteration. */
void flow_control_step_ended(struct flow_model *m, uint32_t step);
/** Starts a loop, or continues it after a restart or a manual retry. */
void flow_loop_start(struct flow_model *m, uint32_t loop);
void flow_loop_iteration_ended(struct flow_model *m, uint32_t iteration);
/** Ends a loop that runs and has a failed iteration. The flow is ending. */
void flow_loop_flow_ends(struct flow_model *m, uint32_t loop);
/** Returns whether a loop whose failures are ignored ended with its flow, before all iterations had
 * run. */
bool flow_loop_was_cut_short(const struct flow_model *m, uint32_t loop);
/** Skips all iterations of a loop that does not run. */
void flow_loop_skip(struct flow_model *m, uint32_t loop);

/** What the status says of a loop that runs or has ended: how far it has come, why it failed, or which
 * failures it tolerated. Returns the reason and appends the message; NULL when there is nothing to
 * say. O(iterations) when it has ended. */
const char *flow_loop_state(const struct flow_model *m, uint32_t loop, struct buf *out);
/** Why a loop has failed, also when that is handled: returns the reason and appends the message;
 * NULL when it has not failed. O(iterations). */
const char *flow_loop_failure(const struct flow_model *m, uint32_t loop, struct buf *out);
