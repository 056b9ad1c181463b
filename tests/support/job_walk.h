#pragma once
/*
 * A random walk through the life of a job: a random spec, then things that happen to it (pods run,
 * end, restart, are evicted; Commands, scaling, time, restarts of the controller, its deletion and
 * re-creation), and after each of them everything that must hold (reliability.md INV-J1…J10), told
 * by the rules of tests/support/job_rules.
 *
 * Without faults each step is predicted: which policy answers, where the job goes, what it counts.
 * With faults (writes refused, lost or late) only what must hold whatever happens is asked during
 * the walk, and everything at its end, when the faults are over.
 */
#include "tests/support/job_gen.h"

enum { WALK_TEXT = 512 };

struct walk_options {
    bool trace; /* print what happens */
};

/** True when nothing was violated; otherwise `violation` says what, and at which step. */
bool walk_job(uint64_t seed, const struct walk_options *options, char violation[WALK_TEXT]);
