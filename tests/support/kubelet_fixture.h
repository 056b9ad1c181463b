#pragma once
/*
 * A kubelet with a scripted runtime, and pods that are bound to its node.
 */
#include "tests/support/node_fixture.h"

struct kubelet_options kubelet_fixture_options(int64_t max_pods);
/** Creates a cluster with a kubelet that may mount any path; free it with node_fixture_free. */
struct node_fixture *kubelet_fixture_new(int64_t max_pods);

#define KUBELET_FIXTURE_COMMAND "'command':['true']"

/** Creates a bound pod. `container` and `spec` are further members of its container (NULL: a
 * command) and of its spec (NULL: none) as JSON; each begins with a comma. */
void kubelet_fixture_pod(struct node_fixture *fixture, const char *name, const char *container,
                         const char *spec);
