#pragma once
/*
 * Random flows: a spec with any feature, and the end of each attempt of each job, all of it a
 * function of the seed. A flow is generated as a structure, which the rules
 * (tests/support/flow_rules) read, and written as YAML, which the controller reads.
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
    /* a manual retry may give a loop more iterations */ GEN_LOOP_JOBS_MAX =
        GEN_ITERATIONS_MAX * (1 + GEN_RETRIES_MAX),
    GEN_TERMS_MAX = 2,
    GEN_NOWHERE = -1
};

/* What a term of a condition is about. */
enum gen_about {
    GEN_HAS_FAILED,    /* phases: [Failed, Terminated] */
    GEN_HAS_COMPLETED, /* phases: [Completed] */
    GEN_WAS_SKIPPED,   /* phases: [Skipped] */
    GEN_OUTPUT_ABOVE,  /* output k Gt 1 */
    GEN_OUTPUT_AMONG,  /* output k In 0, 2 */
    GEN_OUTPUT_THERE,  /* output k Exists */
    GEN_CODE_AMONG,    /* exitCode In 1, 2 */
    GEN_POD_FAILED,    /* taskStatus main Failed */
    GEN_PARAMETER,     /* parameter p In 1; no target */
    GEN_ABOUT_N
};
struct gen_term {
    enum gen_about about;
    uint32_t target;
    bool negate;
};
struct gen_condition {
    bool any;
    uint32_t count; /* 0 = none */
    struct gen_term terms[GEN_TERMS_MAX];
};

enum gen_probe { GEN_NO_PROBE, GEN_TASK_STATUS, GEN_HTTP, GEN_TCP };

enum gen_loop { GEN_ONCE, GEN_ITEMS, GEN_RANGE, GEN_UNTIL, GEN_ITEMS_FROM };

/* Outputs for a loop that are not a number of items. */
enum { GEN_NO_ITEMS = -1, GEN_BROKEN_ITEMS = -2 };

struct gen_step {
    uint32_t targets; /* bits: positions of lower steps */
    bool any, ignored, final;
    enum gen_probe probes;
    struct gen_condition condition;
    bool chooses; /* one case with one step, and another by default */
    struct gen_condition case_condition;
    uint32_t case_step, default_step;
    int listed_by; /* position of the switch that lists it, or GEN_NOWHERE */
    enum gen_loop loop;
    uint32_t iterations;  /* 0 = no loop; the maximum for until and itemsFrom */
    uint32_t items_of;    /* for itemsFrom: the target with the output */
    uint32_t parallelism; /* 0 = all at once; 1 for until */
    int range_start;
    bool retries; /* the step has its own policy */
    int max_retry;
    bool not_code_2, not_terminated;       /* what its policy does not retry */
    bool also_aborted;                     /* what it retries although other policies do not */
    int backoff_s, backoff_factor, most_s; /* retries allowed for the step */
    bool patched;  /* the patch sets the environment variable W from references */
    int output_of; /* the target whose output k W contains, or GEN_NOWHERE */
    bool other;    /* of the template u */
};

enum gen_policy { GEN_STOP, GEN_ABORT, GEN_CONTINUE };

struct gen_flow {
    struct gen_step steps[GEN_STEPS_MAX];
    uint32_t count;
    enum gen_policy policy;
    int max_retry;
    uint32_t max_running;        /* 0 = no limit */
    bool critical_path, classed; /* order, priorityClassName */
    uint32_t gang;               /* bits: members; 0 = none */
    uint32_t gang_least;         /* 0 = all */
    int deadline_s, ttl_s;       /* 0, -1 = none */
    bool deletes;                /* jobRetainPolicy */
    bool pinned;                 /* templatePolicy */
    int parameter;               /* the value of parameter p */
    bool parameter_given;        /* it is set, not just the default */
    bool early;                  /* the outcome depends on which job ends first */
};

/** Generates the flow of that seed; admission may refuse it. */
void gen_flow(uint64_t seed, struct gen_flow *out);
/** Appends a step; false when there is no room. */
bool gen_flow_append(struct gen_flow *flow, struct dice *dice);
/** All steps that a step waits for, directly or through others, as bits. */
uint32_t gen_ancestors(const struct gen_flow *flow, uint32_t step);

/** How many members of its gang start together; those that probe another start later. */
uint32_t gen_gang_least(const struct gen_flow *flow);

/** Writes the spec in YAML flow style. */
void gen_flow_write(const struct gen_flow *flow, bool suspend, struct buf *out);
/** The value of a job's variable W; `k` is the output it refers to, or -1. */
void gen_patch_text(const struct gen_flow *flow, uint32_t step, uint32_t iteration, int k,
                    struct buf *out);

/* How an attempt of a job ends. */
struct gen_end {
    int code;        /* of its pod */
    bool terminated; /* instead of Failed */
    int k;           /* its output, or -1 */
    int items;       /* number of items in its output l, GEN_NO_ITEMS or GEN_BROKEN_ITEMS */
};
/** The termination message of its pod: the outputs. */
void gen_end_message(const struct gen_end *end, struct buf *out);
struct gen_end gen_end_of(const struct gen_flow *flow, uint64_t seed, uint32_t step,
                          const char *job, unsigned attempt);
