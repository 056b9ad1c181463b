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

/* Special values of `items`: the job has no output for the loop, or one that is not a list. */
enum { GEN_NO_ITEMS = -1, GEN_BROKEN_ITEMS = -2 };

struct gen_step {
    uint32_t targets; /* bits: positions of lower steps */
    bool any, ignored, final;
    enum gen_probe probes;
    struct gen_condition condition;
    bool chooses; /* a switch: one case with one step, and another step by default */
    struct gen_condition case_condition;
    uint32_t case_step, default_step;
    int listed_by; /* position of the switch that lists it, or GEN_NOWHERE */
    enum gen_loop loop;
    uint32_t iterations;  /* 0 = no loop; the maximum for until and itemsFrom */
    uint32_t items_of;    /* for itemsFrom: the target with the output */
    uint32_t parallelism; /* 0 = all at once; 1 for until */
    int range_start;
    bool retries; /* the step has its own retry policy */
    int max_retry;
    bool not_code_2, not_terminated;       /* ends that its policy does not retry */
    bool also_aborted;                     /* its policy also retries aborted jobs, which is not
                                            * the default */
    int backoff_s, backoff_factor, most_s; /* retries allowed for the step */
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
    uint32_t max_running;        /* 0 = no limit */
    bool critical_path, classed; /* step order by critical path; a priorityClassName is set */
    uint32_t gang;               /* bits: members; 0 = none */
    uint32_t gang_least;         /* how many members must start together; 0 = all */
    int deadline_s, ttl_s;       /* 0 = no deadline; -1 = no TTL */
    bool handled_succeed;        /* handledFailures: succeed */
    bool deletes;                /* jobRetainPolicy: delete */
    bool pinned;                 /* templatePolicy: pinned */
    int parameter;               /* the value of parameter p */
    bool parameter_given;        /* the value is set in the flow, not taken from the default */
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

/* The result of one attempt of a job. */
struct gen_end {
    int code;        /* exit code of its pod */
    bool terminated; /* the job is Terminated instead of Failed */
    int k;           /* value of its output k, or -1 for none */
    int items;       /* number of items in its output l, GEN_NO_ITEMS or GEN_BROKEN_ITEMS */
};
/** Writes the termination message of its pod, which contains the outputs. */
void gen_end_message(const struct gen_end *end, struct buf *out);
struct gen_end gen_end_of(const struct gen_flow *flow, uint64_t seed, uint32_t step,
                          const char *job, unsigned attempt);
