#pragma once
/*
 * One flow test: the manifests in an empty store in memory, run by the real controllers on the
 * virtual clock, with the outcomes of containers as the test says.
 */
#include "cli/flowtest/file.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

enum testrun_end {
    TESTRUN_OVER,
    TESTRUN_STUCK,     /* nothing could happen any more */
    TESTRUN_TIMED_OUT, /* in virtual time */
    TESTRUN_REFUSED,   /* the manifests; findings have been printed */
};

struct testrun_step {
    int64_t started_ms; /* of its last job, since the start of the flow; -1 = not */
    int64_t took_ms;    /* its duration; -1 = it has not ended */
    int32_t attempts;
    const char *phase, *reason; /* phase "Waiting": it never began; reason NULL */
};

struct testrun {
    enum testrun_end end;
    struct flow_view *view;               /* of the flow as it is in the end; owned */
    struct testrun_step *steps;           /* [view->n_steps] */
    struct testrun_iteration *iterations; /* hash by name, of loops, those that began */
    json_t *order;   /* [name] of steps and iterations in the order in which they began; owned */
    int64_t took_ms; /* virtual */
    json_t *jobs;    /* {name: Job} of those the test asks about, as last made; owned */
};

/** Run `test` with the flow `flow` of `set` (checked before). */
void testrun(const struct test_file *file, const struct test_case *test,
             const struct manifests *set, const char *flow, struct testrun *out);
/** What became of a step, or of an iteration of one ("shard-2"). */
struct testrun_step testrun_of(const struct testrun *run, const char *name);
void testrun_release(struct testrun *run);
SCOPED_DEFINE(testrun, struct testrun, testrun_release)
