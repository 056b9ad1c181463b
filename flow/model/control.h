#pragma once
/*
 * What a flow with conditions, switches, loops or probes decides beyond "the targets completed".
 *
 * Each step ends in one way and tells its dependents once: MET (it completed, or its failure is
 * ignored), LOST (it failed), or SKIPPED. A step whose last target has told is judged: it runs, or
 * it is skipped and tells its own dependents. What is to be judged is a set, worked off until it is
 * empty, so nothing recurses and a chain of n skipped steps costs n.
 *
 *   all targets (strategy any: one) are needed      no condition              with `if`
 *   ───────────────────────────────────────────     ────────────              ─────────
 *   all met, or some met and the others skipped     runs                      is asked
 *   one lost                                        skipped                   is asked
 *   all skipped                                     skipped                   skipped (*)
 *
 *   (*) asked when it speaks of how steps ended
 *
 * A failure that steps with `if` speak of is judged by them: while one of them is undecided the
 * flow goes on; when one of them runs the failure is handled; when none does it is a failure like
 * any other. Ref: spec/jobflow.md 13.3 to 13.5.
 */
#include "flow/model/flow_model.h"

enum step_gate { GATE_NONE, GATE_CLOSED, GATE_OPEN, GATE_REFUSED };
enum notified { NOTIFIED_NONE, NOTIFIED_CONDITIONS, NOTIFIED_ALL };

struct step_control {
    uint32_t met, lost, skipped; /* targets, by how they ended */
    uint32_t undecided;          /* those who may handle its failure and have not decided */
    uint32_t next, active, done; /* of a loop: to start next, under way, completed */
    uint8_t gate;                /* enum step_gate: of a switch, or the end of the flow */
    uint8_t notified;            /* enum notified */
    bool decided;                /* its condition has been asked */
    bool lost_one;               /* of a loop: an iteration failed */
    char *chosen;                /* of a switch: the case taken, "" = default; NULL = not yet */
    struct loop_items *items;    /* of a loop over what another step put out, once it has begun */
};

struct flow_control {
    struct step_control *steps; /* [graph->steps] */
    uint32_t count;
    struct dag failure_handlers; /* step → steps whose conditions may handle its failure */
    struct dag handled_targets;  /* the other way */
    struct step_set to_evaluate;
    struct step_set unannounced; /* skipped, and nobody was told so yet */
    uint32_t finals;
    bool ended; /* final steps may run */
    bool live, draining;
};

void flow_control_init(struct flow_model *m);
void flow_control_free(struct flow_control *control); /* NULL is fine */
/** Mark the steps whose results somebody asks for. */
void flow_control_mark_wanted_results(struct flow_model *m);

/** A step's job came to a new phase, or it was skipped. */
void flow_control_step_changed(struct flow_model *m, uint32_t step);
/** A probe of the step found a target met. */
void flow_control_target_met(struct flow_model *m, uint32_t step);
/** Somebody waited for the step's failure. */
void flow_control_failure_handled(struct flow_model *m, uint32_t step);
/** The step has another attempt: it tells its end anew. */
void flow_control_new_attempt(struct flow_model *m, uint32_t step);
/** Nothing else is left to do: the final steps run. */
void flow_control_run_finals(struct flow_model *m);
/** Final steps that have not ended. */
bool flow_control_finals_open(const struct flow_model *m);
bool flow_control_finals_failed(const struct flow_model *m);

/* For the record's recount. */
void flow_control_reset(struct flow_model *m, uint32_t step);
void flow_control_recount(struct flow_model *m);
void flow_control_take_over(struct flow_model *m, struct flow_model *old);

/* Between control.c and loop.c. */
void flow_control_step_ended(struct flow_model *m, uint32_t step);
void flow_loop_start(struct flow_model *m, uint32_t loop);
void flow_loop_iteration_ended(struct flow_model *m, uint32_t child);
void flow_loop_skip(struct flow_model *m, uint32_t loop);

/** Why a loop has failed, as a reason and words for people; NULL when it has not. */
const char *flow_loop_failure(const struct flow_model *m, uint32_t loop, struct buf *out);
