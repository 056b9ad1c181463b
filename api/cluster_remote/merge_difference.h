#pragma once
/*
 * Differences of objects as JSON merge patches (RFC 7386), so that a write changes only what its
 * controller changed, and fields of other writers survive. Ref: spec/cluster.md 2.6, DCL-05.
 */
#include "api/types/object.h"

/** Returns the merge patch that makes `object` of `base`, or NULL if they are equal; owned. It
 * covers labels, annotations, finalizers, owners (the whole list) and the members of the body.
 * `base` NULL: the patch has all of these. */
json_t *merge_difference(const struct object *base, const struct object *object);

/** Returns whether `doc` is as the merge patch leaves it. Members of the patch's metadata that only
 * identify the object (uid, resourceVersion) are not compared. */
bool merge_difference_applied(const json_t *patch, const json_t *doc);
