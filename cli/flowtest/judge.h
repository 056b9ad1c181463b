#pragma once
/*
 * Compares the expected result of a test with the recorded run.
 */
#include "cli/flowtest/run.h"

/** Appends each difference to `out`, as
 *
 *     steps.deploy.phase
 *       - Skipped         wanted
 *       + Completed       got
 *
 * Returns the number of differences. */
size_t flowtest_judge(const struct test_case *test, const struct flowtest_run *run,
                      struct buf *out);
