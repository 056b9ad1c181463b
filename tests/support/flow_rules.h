#pragma once
/*
 * An independent implementation of the rules of a flow, written from spec/jobflow.md (6, 8.3, 13.3
 * to 13.7) without use of flow/. It is simple and slow: every step is evaluated anew each time.
 * Tests compare the controller with it.
 *
 * The rules use only what a client can see: which jobs were created and how they ended. Where
 * several results are right (a condition that was true at one moment and false at the next, a probe
 * that may have passed unseen), they accept each.
 */
#include "tests/support/flow_gen.h"

enum rule_end {
    RULE_OPEN,
    RULE_COMPLETED,
    RULE_FAILED,
    RULE_TERMINATED,
    RULE_SKIPPED,
    RULE_UNSURE
};
enum rule_sure { RULE_NO, RULE_PERHAPS, RULE_YES };
enum rule_verdict { RULE_WAITS, RULE_RUNS, RULE_SKIPS, RULE_EITHER };
enum rule_phase { RULE_GOES_ON, RULE_SUCCEEDS, RULE_FAILS };
enum rule_loss { RULE_BY_FAILURE, RULE_BY_TERMINATION, RULE_BY_ABORT };

/* The only job of a step, or the job of one iteration. */
struct rule_job {
    bool made;       /* the job was created since the step last began */
    bool kept;       /* the job is an iteration that ended before a manual retry, and that stays */
    bool unfinished; /* the job exists and has not ended */
    bool again;      /* the job failed and will be retried */
    bool stopped; /* the job was not retried because the flow ended; that attempt may have begun */
    enum rule_end end;     /* final result of the job */
    bool known;            /* the results of the job's pod are known, in the next members */
    int code, k, items;    /* results of the pod: exit code; output k, -1: none; items as in struct
                            * gen_end */
    enum rule_sure passed; /* the pod has run, so an HTTP probe may have passed */
    enum rule_sure polled; /* the pod ran long enough for a TCP probe */
};

struct rule_step {
    struct rule_job jobs[GEN_LOOP_JOBS_MAX];
    bool ran_before; /* the step ran before a manual retry */
    bool handled;    /* the failure of the step was handled before a manual retry */
    bool stays;   /* a switch that chose before a manual retry keeps its choice, and a loop that was
                      * at work goes on */
    bool unclear; /* it is unknown whether the step begins again after a manual retry */
    uint32_t more, perhaps_more; /* iterations that manual retries added to a loop, certainly
                                   * and possibly */
    bool was_skipped;            /* the step was skipped before the spec changed */
    bool pinned;                 /* a rerun of other steps keeps the step; `end` does not change */
    bool begun;                  /* a loop over an output has begun, so its number of items is
                                   * known */
    int items;                   /* number of items, as in struct gen_end */
    bool held, held_not; /* the condition was evaluated to true, to false, since it was due */
    bool took_case, took_default; /* choices that a switch made since then */
    /* The members from here on are computed by rules_judge. */
    enum rule_verdict verdict;
    enum rule_end end, before; /* result of the step, and the result computed the last time */
};

struct rules {
    const struct gen_flow *flow;
    struct rule_step steps[GEN_STEPS_MAX];
    bool aborted, late;     /* the flow was aborted; the flow is past its deadline */
    bool seen_late;         /* the deadline may have passed */
    bool partial;           /* the flow runs some of its steps again: others may be pinned */
    enum rule_phase ending; /* the phase in which the flow will end, while only final steps are
                             * still to run */
    bool perhaps_ending;    /* the flow may already be ending */
    /* The members from here on are computed by rules_judge. */
    enum rule_phase phase; /* phase of the flow after the final steps */
    bool closed;           /* no ordinary job may be created any more */
    bool unsure;           /* the phase is not certain */
};

/** Computes the results of all steps and of the flow from the jobs. */
void rules_judge(struct rules *rules);

/** Applies a manual retry: failed steps, steps that never ran, and steps whose conditions are about
 * them begin again. */
void rules_start_again(struct rules *rules);

/** Applies a rerun of the steps `named`, as bits: with `only` of these alone, otherwise with all that
 * depends on them (everyday.md 7.1). The results of all steps are known. */
void rules_run_again(struct rules *rules, uint32_t named, bool only);

/** Returns whether a job with this end is retried after `retries` retries. The function below it
 * returns the delay after the end of that attempt. */
bool rule_retries(const struct gen_step *step, enum rule_loss how, int code, int retries);
int64_t rule_delay_ms(const struct gen_step *step, int retry);

/** Returns whether the loop of the step allows its next job now. */
bool rule_iteration_due(const struct rules *rules, uint32_t step, uint32_t iteration);
/** Returns how many iterations a loop may have. */
uint32_t rule_iterations(const struct rules *rules, uint32_t step);
/** Returns whether the gang of the step allows its next job now. */
bool rule_gang_forms(const struct rules *rules, uint32_t step);
/** Returns the number of jobs that have not ended. */
uint32_t rule_unfinished(const struct rules *rules);
