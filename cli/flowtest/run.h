#pragma once
/*
 * Runs one flow test: the manifests in an empty store in memory, processed by the real controllers
 * on a virtual clock, with container outcomes from the test file.
 */
#include "cli/flowtest/file.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

enum flowtest_run_end {
    FLOWTEST_RUN_OVER,
    FLOWTEST_RUN_STUCK,     /* no event is pending and the flow has not ended */
    FLOWTEST_RUN_TIMED_OUT, /* the test's time limit, in virtual time, has passed */
    FLOWTEST_RUN_REFUSED,   /* the manifests were refused; findings have been printed */
};

struct flowtest_run_step {
    int64_t started_ms; /* start of its last job, since the flow's start; -1 = never started */
    int64_t took_ms;    /* duration of its last job; -1 = not ended */
    int32_t attempts;
    const char *phase, *reason; /* phase "Waiting": never started; reason may be NULL */
};

struct flowtest_run {
    enum flowtest_run_end end;
    struct flow_view *view;                    /* view of the flow's final state; owned */
    struct flowtest_run_step *steps;           /* results of the steps, [view->n_steps] */
    struct flowtest_run_iteration *iterations; /* started iterations of loops, hash by name */
    json_t *order;   /* names of steps and iterations in the order of their starts, [name]; owned */
    int64_t took_ms; /* how long the flow took in virtual time */
    json_t *jobs;    /* {name: Job} newest jobs of the steps whose jobs the test compares; owned */
};

/** Runs `test` with the flow named `flow` in `set`, which must have been checked, and fills `out`.
 */
void flowtest_run(const struct test_file *file, const struct test_case *test,
                  const struct manifests *set, const char *flow, struct flowtest_run *out);
/** Returns the record of a step, or of one of its iterations ("shard-2"). */
struct flowtest_run_step flowtest_run_of(const struct flowtest_run *run, const char *name);
void flowtest_run_release(struct flowtest_run *run);
SCOPED_DEFINE(flowtest_run, struct flowtest_run, flowtest_run_release)
