#pragma once
/*
 * Equality of two documents by meaning instead of by text. Update validation uses it to find out
 * whether an immutable field has changed.
 *
 * Ref: Kubernetes apiequality.Semantic.DeepEqual on the Go types.
 */
#include "api/types/schema/schema.h"

/**
 * Returns true if `a` and `b` (either may be NULL) mean the same under `schema`. Absent and empty
 * are equal except for optional numbers and booleans, quantities and durations compare by value,
 * members without a row are ignored.
 */
bool schema_equal(const struct schema *schema, const json_t *a, const json_t *b);
