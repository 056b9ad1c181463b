#pragma once
/*
 * Whether a file of tests speaks of what there is: steps, iterations of loops, tasks, parameters.
 */
#include "cli/flowtest/file.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

/** Print each name in the tests that the flow does not have, with the nearest that it has. True
 * when all are known. `set` has the flow's templates. */
bool testcheck(const struct test_file *file, const struct flow_view *view,
               const struct manifests *set);
