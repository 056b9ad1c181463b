#pragma once
/*
 * A random test of one job: a random spec, then random events (pods run, end, restart, are evicted;
 * Commands, scaling, time, restarts of the controller, deletion and re-creation of the job). After
 * each event it checks every invariant (reliability.md INV-J1…J10) with the rules of
 * tests/support/job_rules.
 *
 * Without faults each step is predicted: which policy applies, which phase follows, which counters
 * change. With faults (writes refused, lost or delayed) only the invariants that hold in any case
 * are checked during the test, and everything at its end, when no more faults occur.
 */
#include "tests/support/job_gen.h"

enum { WALK_TEXT = 512 };

struct walk_options {
    bool trace; /* print each event */
};

/** Returns true when nothing was violated; otherwise `violation` says what, and at which step. */
bool walk_job(uint64_t seed, const struct walk_options *options, char violation[WALK_TEXT]);
