#pragma once
/*
 * Objects for tests from manifests in YAML, as text or admitted.
 */
#include "api/types/object.h"

/** The object as written: no defaults, no checks; owned. Fails the test when it cannot be read. */
struct object *manifest_raw(const char *yaml);
/** The same through admission in a cluster with the queue "default"; owned. Uid and times are given
 * where the manifest has none. */
struct object *manifest_admitted(const char *yaml);
