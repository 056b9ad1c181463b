#pragma once
/*
 * What follows from what is known; pure. First matching row of a table of facts, for the phase of a
 * flow and for what to do about a step that is ready.
 *
 * Ref: spec/jobflow.md 8.3 [O]; Volcano pkg/controllers/jobflow/state, where the same rules are
 * written once per phase and drift apart.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/* clang-format off */
enum flow_fact {
    FACT_DELETING    = 1 << 0, /* the flow carries a deletion mark */
    FACT_FINISHED    = 1 << 1, /* its phase is Succeed or Failed already */
    FACT_UNUSABLE    = 1 << 2, /* its graph cannot be run (INV-F7) */
    FACT_STEP_FAILED = 1 << 3, /* a step failed finally and nobody waited for that */
    FACT_ALL_DONE    = 1 << 4, /* every step completed, or its failure is handled */
    FACT_STARTED     = 1 << 5, /* the phase was Running, or a job has left Pending */
    FACT_CONTINUES     = 1 << 6, /* failurePolicy: continue, and something is still under way */
    FACT_RETRY       = 1 << 7, /* Failed, a manual retry is asked for and may begin */
    FACT_ABORTED     = 1 << 8, /* somebody asks for its end */
    FACT_DEADLINE    = 1 << 9, /* activeDeadlineSeconds are over */
};

/* About one step whose targets are met. */
enum step_fact {
    FACT_FLOW_CLOSED    = 1 << 0, /* no job may be created any more */
    FACT_JOB_OURS       = 1 << 1, /* its job exists already */
    FACT_JOB_FOREIGN    = 1 << 2, /* a job of that name belongs to somebody else */
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

/** The phase that follows from `facts` (enum flow_fact); `now` is the present one. */
enum flow_phase flow_decide_phase(enum flow_phase now, unsigned facts);

enum step_action flow_decide_step(unsigned facts); /* of enum step_fact */
