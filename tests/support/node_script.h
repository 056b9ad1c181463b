#pragma once
/*
 * The scripted runtime of node_fixture.h: a runtime without processes, controlled by the test. The
 * fixture makes one for each kubelet.
 */
#include "tests/support/node_fixture.h"

/** Creates a runtime that works on the pods of `fixture` (borrowed); it is freed through its own
 * ops. */
struct runtime *node_script_new(struct node_fixture *fixture);
