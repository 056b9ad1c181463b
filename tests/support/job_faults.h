#pragma once
/*
 * Every test of the job core once more under faults: with each write of the controller in turn
 * refused by a conflict, refused by an error, carried out with its answer lost, and late. What the
 * test asserts must hold all the same: a single fault is repaired before the test looks.
 */
#include "tests/unit.h"

/** Run the tests as they are, then once for every fault at every write they make. `spared` (ends
 * with NULL, or is NULL): tests that count writes or plan faults of their own. Returns what main
 * does. */
int job_tests_with_faults(const struct CMUnitTest *tests, size_t n_tests,
                          void (*const spared[])(void **state));
