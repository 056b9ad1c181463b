#pragma once
/*
 * Random flows: the seed determines a spec with any feature, and the result of each attempt of each
 * job. A flow is generated as a structure, which the rules (tests/support/flow_rules) read, and
 * written as YAML, which the controller reads.
 *
 * Steps name only earlier steps as targets, and switches list only later steps, so no flow has a
 * cycle. Admission may refuse a flow for other reasons.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/support/dice.h"

enum {
    GEN_STEPS_MAX = 10,
    GEN_ITERATIONS_MAX = 4,
    GEN_RETRIES_MAX = 2,
    /* manual retries may give a loop more iterations, and so more jobs */ GEN_LOOP_JOBS_MAX =
        GEN_ITERATIONS_MAX * (1 + GEN_RETRIES_MAX),
    GEN_TERMS_MAX = 2,
    GEN_NOWHERE = -1
};

/* The kinds of terms in a condition. */
enum gen_about {
    GEN_HAS_FAILED,    /* the target has the phase Failed or Terminated */
    GEN_HAS_COMPLETED, /* the target has the phase Completed */
    GEN_WAS_SKIPPED,   /* the target has the phase Skipped */
    GEN_OUTPUT_ABOVE,  /* the output k of the target is greater than 1 */
    GEN_OUTPUT_AMONG,  /* the output k of the target is 0 or 2 */
    GEN_OUTPUT_THERE,  /* the target has an output k */
    GEN_CODE_AMONG,    /* the exit code of the target is 1 or 2 */
    GEN_POD_FAILED,    /* a pod of the target's task main has failed */
    GEN_PARAMETER,     /* the parameter p is 1; there is no target */
    GEN_ABOUT_N
};
struct gen_term {
    enum gen_about about;
    uint32_t target;
    bool negate;
};
struct gen_condition {
    bool any;
    uint32_t count; /* number of terms; 0 = none */
    struct gen_term terms[GEN_TERMS_MAX];
};

enum gen_probe { GEN_NO_PROBE, GEN_TASK_STATUS, GEN_HTTP, GEN_TCP };

enum gen_loop { GEN_ONCE, GEN_ITEMS, GEN_RANGE, GEN_UNTIL, GEN_ITEMS_FROM };

/* Special values of `items`: the job has no output for the loop, or one that is not a list. */
enum { GEN_NO_ITEMS = -1, GEN_BROKEN_ITEMS = -2 };

struct gen_step {
    uint32_t targets; /* positions of the earlier steps that this one waits for, as bits */
    bool any, ignored, final;
    enum gen_probe probes;
    struct gen_condition condition;
    bool chooses; /* the step is a switch: one case with one step, and another step by default */
    struct gen_condition case_condition;
    uint32_t case_step, default_step;
    int listed_by; /* position of the switch that lists the step, or GEN_NOWHERE */
    enum gen_loop loop;
    uint32_t iterations;  /* number of iterations, the maximum for until and itemsFrom; 0 = no
                           * loop */
    uint32_t items_of;    /* loop with itemsFrom: the target with the output */
    uint32_t parallelism; /* how many iterations run at once: 0 = all, 1 for until */
    int range_start;
    bool retries; /* the step has its own retry policy */
    int max_retry;
    bool not_code_2, not_terminated; /* ends that the policy of the step does not retry */
    bool also_aborted; /* the policy also retries aborted jobs, which is not the default */
    int backoff_s, backoff_factor, most_s; /* retries allowed for the step; delay before a retry */
    bool patched;  /* the patch sets the environment variable W from references */
    int output_of; /* the target whose output k W contains, or GEN_NOWHERE */
    bool other;    /* the step uses template u instead of t */
};

enum gen_policy { GEN_STOP, GEN_ABORT, GEN_CONTINUE };

struct gen_flow {
    struct gen_step steps[GEN_STEPS_MAX];
    uint32_t count;
    enum gen_policy policy;
    int max_retry;
    uint32_t max_running;        /* largest number of jobs that run at once; 0 = no limit */
    bool critical_path, classed; /* the steps are ordered by critical path; a priorityClassName is
                                  * set */
    uint32_t gang;               /* members of the gang, as bits; 0 = none */
    uint32_t gang_least;         /* how many members must start together; 0 = all */
    int deadline_s, ttl_s;       /* deadline, 0 = none; time to live, -1 = none */
    bool handled_succeed;        /* the flow has handledFailures: succeed */
    bool deletes;                /* the flow has jobRetainPolicy: delete */
    bool pinned;                 /* the flow has templatePolicy: pinned */
    int parameter;               /* the value of parameter p */
    bool parameter_given;        /* the value is set in the flow, not taken from the default */
    bool referring;              /* template u sets the environment variable R from references */
    int template_output;         /* the step whose output k R contains, or GEN_NOWHERE */
    bool early;                  /* the outcome depends on which job ends first */
};

/** Generates the flow of that seed; admission may refuse it. */
void gen_flow(uint64_t seed, struct gen_flow *out);
/** Appends a step; returns false when the flow has the maximum of steps. */
bool gen_flow_append(struct gen_flow *flow, struct dice *dice);
/** Returns all steps that a step waits for, directly or through others, as bits. */
uint32_t gen_ancestors(const struct gen_flow *flow, uint32_t step);

/** Returns how many members of the gang start together; members that probe another one start later.
 */
uint32_t gen_gang_least(const struct gen_flow *flow);

/** Writes the spec in YAML flow style. */
void gen_flow_write(const struct gen_flow *flow, bool suspend, struct buf *out);
/** Writes the value of a job's variable W; `k` is the output it refers to, or -1. */
void gen_patch_text(const struct gen_flow *flow, uint32_t step, uint32_t iteration, int k,
                    struct buf *out);

/** Writes the environment variable R of template u, if the template has it. */
void gen_template_variable(const struct gen_flow *flow, struct buf *out);
/** Writes the value of R in a job; `attempt` counts from 1, `k` is the output it refers to, or -1. */
void gen_template_text(const struct gen_flow *flow, uint32_t step, uint32_t iteration,
                       unsigned attempt, int k, struct buf *out);

/* The result of one attempt of a job. */
struct gen_end {
    int code;        /* exit code of the job's pod */
    bool terminated; /* the job is Terminated instead of Failed */
    int k;           /* value of the job's output k, or -1 for none */
    int items;       /* number of items in the job's output l, GEN_NO_ITEMS or GEN_BROKEN_ITEMS */
};
/** Writes the termination message of a job's pod, which contains the outputs. */
void gen_end_message(const struct gen_end *end, struct buf *out);
struct gen_end gen_end_of(const struct gen_flow *flow, uint64_t seed, uint32_t step,
                          const char *job, unsigned attempt);
