#pragma once
/*
 * Equality of two documents by meaning instead of by text, as update rules need it.
 *
 * Ref: Kubernetes apiequality.Semantic.DeepEqual on the Go types.
 */
#include "api/types/schema/schema.h"

/**
 * Whether `a` and `b` (either may be NULL) mean the same to `schema`: absent and empty are equal
 * except for optional numbers and booleans, quantities and durations compare by value, members
 * without a row are not looked at.
 */
bool schema_equal(const struct schema *schema, const json_t *a, const json_t *b);
