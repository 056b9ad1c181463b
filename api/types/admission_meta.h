#pragma once
/*
 * Validation of ObjectMeta, the same for all kinds. Ref: apimachinery
 * pkg/api/validation/objectmeta.go.
 */
#include "api/types/limits.h"
#include "api/types/object.h"

/** Adds every finding about the metadata of an object of `kind` to `errors`. */
void admission_check_meta(const struct kind *kind, const struct meta *meta,
                          const struct limits *limits, struct error_list *errors);
