#pragma once
/*
 * The scripted runtime of node_fixture.h, which makes one for each kubelet.
 */
#include "tests/support/node_fixture.h"

/** A runtime that works on the pods of `fixture` (borrowed); freed by its own ops. */
struct runtime *node_script_new(struct node_fixture *fixture);
