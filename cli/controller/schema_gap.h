#pragma once
/*
 * What another definition of a kind lacks. A server drops the members of an object that its
 * definition does not have, and with them what a controller needs after a restart.
 */
#include <jansson.h>

#include "api/types/kind.h"
#include "base/buf.h"

/** Appends the paths that the kind's status has here and the definition (a
 * CustomResourceDefinition document) does not have, separated by ", ": "status.nodes,
 * status.results". No more than `most` are named; the rest is counted ("and 3 more"). Returns how
 * many there are; 0 for a definition that drops nothing. */
size_t schema_gap(const struct kind *kind, const json_t *definition, size_t most, struct buf *out);
