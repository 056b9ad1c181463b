#pragma once
/*
 * Checks that the names in a test file exist in the flow: steps, iterations of loops, tasks,
 * parameters.
 */
#include "cli/flowtest/file.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

/** Prints each name in the tests that the flow lacks, with the nearest existing one. Returns true
 * when all names exist. `set` has the flow's templates. */
bool flowtest_check(const struct test_file *file, const struct flow_view *view,
                    const struct manifests *set);
