#pragma once
/*
 * The table of what each action does in each phase: spec/job.md 8.2 with the changes of 8.4. Pure.
 *
 * A kill of the whole job is only a change of phase and version. Which pods must go follows from
 * the stored state (job/model/model.h), so a repetition or a restart of the process completes the
 * same kill.
 */
#include "job/state/verdicts.h"

enum job_verb {
    DO_SYNC,        /* bring pods and PodGroup in line, then the phase's own verdict */
    DO_KILL,        /* full kill: enter `to`; without `to`, repeat the kill of the current phase */
    DO_KILL_TARGET, /* pods of one task, pod or partition */
    DO_NOTHING,     /* the action has no effect in this phase, and an event says so */
};

struct job_rule {
    enum job_verb verb;
    enum job_phase to; /* next phase; JOB_NONE: the rule alone does not change it */
    bool version;      /* the version of the job grows, which begins a new kill epoch */
    bool retry;        /* the action counts against maxRetry */
    bool resume;       /* the retry is no failure (O-34), and succeeded pods stay (O-35) */
};

/** Returns the row of (phase, action). Never fails: every cell is defined. */
struct job_rule job_rule_of(enum job_phase phase, enum job_action action);

/** Returns whether the action is internal: it only reconciles, and no event announces it. */
bool job_action_internal(enum job_action action);
