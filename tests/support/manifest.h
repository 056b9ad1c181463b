#pragma once
/*
 * Reads objects for tests from YAML manifests, with or without admission.
 */
#include "api/types/object.h"

/** Returns the object as written, without defaults or checks; owned. Fails the test when the
 * manifest cannot be read. */
struct object *manifest_raw(const char *yaml);
/** Returns the object after admission in a cluster with the queue "default"; owned. Uid and times
 * are set where the manifest has none. */
struct object *manifest_admitted(const char *yaml);
