#pragma once
/*
 * The rules of a flow once more, written down from spec/jobflow.md (6, 8.3, 13.3 to 13.7) without a
 * look at flow/: plain, slow, every step judged anew each time. What the engine does is compared
 * with this.
 *
 * The rules know what anybody can see: which jobs were made and how they ended. Where several ends
 * are right (a condition that held at one moment and not at the next, a probe that perhaps nobody
 * saw passing) they say so, and both are accepted.
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

/* A job of a step: the only one, or an iteration's. */
struct rule_job {
    bool made;             /* since the step last began */
    bool unfinished;       /* it exists and has not ended */
    bool again;            /* it failed, and is to be tried again */
    bool stopped;          /* … and was not, for the flow ended: perhaps that attempt had begun */
    enum rule_end end;     /* and it stays so */
    bool known;            /* what its pod left behind: */
    int code, k, items;    /* k -1: no output; items: as of struct gen_end */
    enum rule_sure passed; /* its pod has run */
    enum rule_sure polled; /* … for so long that its port was tried */
};

struct rule_step {
    struct rule_job jobs[GEN_LOOP_JOBS_MAX];
    bool ran_before;              /* before a retry by hand: its condition is not asked again */
    bool handled;                 /* its failure, before a retry by hand */
    bool stays;                   /* a switch that has chosen, before a retry by hand */
    bool unclear;                 /* whether it begins again after a retry by hand */
    uint32_t more, perhaps_more;  /* iterations a loop was given by retries by hand */
    bool was_skipped;             /* before the spec changed */
    bool begun;                   /* a loop over items that a step puts out, which are: */
    int items;                    /* as of struct gen_end */
    bool held, held_not;          /* its condition since it was due */
    bool took_case, took_default; /* a switch since then */
    /* what follows, worked out by rules_judge: */
    enum rule_verdict verdict;
    enum rule_end end, before; /* before: as it was when it was worked out last */
};

struct rules {
    const struct gen_flow *flow;
    struct rule_step steps[GEN_STEPS_MAX];
    bool aborted, late;     /* asked to end; past its deadline */
    bool seen_late;         /* and perhaps past it */
    enum rule_phase ending; /* how it ends: only final steps are still to run */
    bool perhaps_ending;    /* perhaps it ends by now */
    /* what follows: */
    enum rule_phase phase; /* with final steps done */
    bool closed;           /* no ordinary job may be made any more */
    bool unsure;           /* about the phase */
};

/** Work out everything from the jobs. */
void rules_judge(struct rules *rules);

/** A retry by hand: what failed or never ran begins again. */
void rules_start_again(struct rules *rules);

/** Whether a job that ended so is tried again, having been tried again `retries` times; how long
 * after the end of that attempt. */
bool rule_retries(const struct gen_step *step, enum rule_loss how, int code, int retries);
int64_t rule_delay_ms(const struct gen_step *step, int retry);

/** Whether the next job of the step may be made now, as far as its loop goes. */
bool rule_iteration_due(const struct rules *rules, uint32_t step, uint32_t iteration);
/** How many iterations a loop has, perhaps. */
uint32_t rule_iterations(const struct rules *rules, uint32_t step);
/** … and its gang. */
bool rule_gang_forms(const struct rules *rules, uint32_t step);
/** Jobs that have not ended. */
uint32_t rule_unfinished(const struct rules *rules);
