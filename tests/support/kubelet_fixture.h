#pragma once
/*
 * A kubelet with a runtime that does what the test says, and pods that are bound to it.
 */
#include "tests/support/node_fixture.h"

struct kubelet_options kubelet_fixture_options(int64_t max_pods);
/** A cluster with a kubelet that may mount any path; freed with rig_free. */
struct rig *kubelet_fixture_new(int64_t max_pods);

#define KUBELET_FIXTURE_COMMAND "'command':['true']"

/** A pod that is bound already; `container` and `spec` are further members, NULL: a command, none.
 */
void kubelet_fixture_pod(struct rig *rig, const char *name, const char *container,
                         const char *spec);
