#pragma once
/*
 * Random flows: a spec with every feature in it, and what becomes of each attempt of each job; all
 * of it a function of the seed.
 */
#include "base/buf.h"
#include "tests/support/dice.h"
#include <stdbool.h>
#include <stdint.h>

enum { GEN_STEPS_MAX = 9, GEN_ITERATIONS_MAX = 4 };

struct gen_step {
    uint32_t targets; /* bits: positions of lower steps */
    bool any, conditional, chooses, listed, ignored, final, until;
    uint32_t iterations; /* 0 = no loop */
    uint32_t parallelism;
    int max_retry; /* that holds for it */
};

struct gen_flow {
    struct gen_step steps[GEN_STEPS_MAX];
    uint32_t count;
    uint32_t max_running; /* 0 = no limit */
    bool goes_on;         /* failurePolicy: continue */
    bool deadline, deletes;
    bool early;      /* who ends first decides: a condition asked early, a loop cut short */
    struct buf spec; /* YAML, flow style, without suspend */
};

/** A flow of that seed; it may be one that admission refuses. */
void gen_flow(uint64_t seed, struct gen_flow *out);
void gen_flow_release(struct gen_flow *flow);

/* What an attempt of a job comes to. */
struct gen_end {
    int code;         /* of its pod */
    bool terminated;  /* instead of Failed */
    char message[32]; /* outputs */
};
struct gen_end gen_end_of(uint64_t seed, const char *job, unsigned attempt);
