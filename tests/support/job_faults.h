#pragma once
/*
 * Runs every test of the job controller again under faults: each write of the controller in turn is
 * refused with a conflict, refused with an error, executed with its response lost, and delayed. The
 * assertions of the test must still hold: the controller repairs a single fault before the test
 * looks.
 */
#include "tests/unit.h"

/** Runs the tests without faults, then once for every fault at every write they make. `spared`
 * (ends with NULL, or is NULL) lists tests that count writes or plan faults of their own; they run
 * without faults only. Returns the exit code for main. */
int job_tests_with_faults(const struct CMUnitTest *tests, size_t n_tests,
                          void (*const spared[])(void **state));
