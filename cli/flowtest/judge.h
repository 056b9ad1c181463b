#pragma once
/*
 * What a test wanted and what came of it: the differences, one line each way.
 */
#include "cli/flowtest/run.h"

/** Append each difference to `out`, as
 *      steps.deploy.phase
 *        - Skipped         wanted
 *        + Completed       got
 *  Returns how many there are. */
size_t testjudge(const struct test_case *test, const struct testrun *run, struct buf *out);
