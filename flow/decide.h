#pragma once
/*
 * Pure decisions of the flow controller: the next phase of a flow, and what to do about a step
 * whose dependencies are satisfied.
 *
 * The caller gathers facts as bits. Each decision is a table of rows; a row names the facts that
 * must hold and those that must not, and the first row that matches gives the result.
 *
 * Ref: spec/jobflow.md 8.3 [O]; Volcano pkg/controllers/jobflow/state, which writes the same rules
 * once per phase.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/* clang-format off */
enum flow_fact {
    FACT_DELETING          = 1 << 0,  /* the flow has a deletion timestamp */
    FACT_FINISHED          = 1 << 1,  /* the phase of the flow is Succeed or Failed already */
    FACT_UNUSABLE          = 1 << 2,  /* the graph of the flow cannot be run (INV-F7) */
    FACT_STEP_FAILED       = 1 << 3,  /* a step failed finally, and no other step handles that */
    FACT_ALL_DONE          = 1 << 4,  /* every step completed, or its failure is handled */
    FACT_STARTED           = 1 << 5,  /* the phase was Running, or a job has left Pending */
    FACT_CONTINUES         = 1 << 6,  /* failurePolicy is continue, and some step is still active */
    FACT_RETRY             = 1 << 7,  /* Failed, and a requested manual retry may begin */
    FACT_ABORTED           = 1 << 8,  /* the abort annotation is set */
    FACT_DEADLINE          = 1 << 9,  /* the time of activeDeadlineSeconds has passed */
    FACT_RUNNING_UNWRITTEN = 1 << 10, /* a job has run, and Running was never stored */
    FACT_FINALS_OPEN       = 1 << 11, /* final steps have still to run or to end */
    FACT_FINALS_FAILED     = 1 << 12, /* a final step failed */
    FACT_HANDLED_FAILURE   = 1 << 13, /* other steps handle failures, and these fail the flow all the same */
};

/* Facts about one step whose dependencies are satisfied. */
enum step_fact {
    FACT_FLOW_CLOSED    = 1 << 0, /* no further job of the flow may be created */
    FACT_JOB_OURS       = 1 << 1, /* the job of the step exists already */
    FACT_JOB_FOREIGN    = 1 << 2, /* a job of that name has another owner */
    FACT_TEMPLATE_KNOWN = 1 << 3,
};
/* clang-format on */

enum step_action {
    STEP_DO_NOTHING,
    STEP_DO_ADOPT,
    STEP_DO_WAIT_FOR_NAME,
    STEP_DO_WAIT_FOR_TEMPLATE,
    STEP_DO_CREATE
};

/** Returns the phase that follows from `facts` (enum flow_fact); `now` is the present one. */
enum flow_phase flow_decide_phase(enum flow_phase now, unsigned facts);

/** Returns the phase of a flow that is to end as `end` (Succeed or Failed): `end` itself, or the
 * phase that the flow has until its final steps have ended and Running has been stored. */
enum flow_phase flow_decide_end(enum flow_phase end, unsigned facts);

enum step_action flow_decide_step(unsigned facts); /* `facts` are bits of enum step_fact */
