#pragma once
/*
 * Merges a step's patch into a template's spec. Ref: spec/jobflow.md 6.4.
 *
 * Every member that the user wrote is applied, also 0, false, "" and []; null counts as absent. A
 * table names the members that merge (maps by key, lists by the keys of their elements); all other
 * members are replaced. Neither input is changed: the result shares unchanged parts with both.
 */
#include "api/types/kinds/job/job.h"
#include "base/error.h"

/** Returns the merged JobSpec (owned), or NULL with INVALID at the member below `path` that cannot
 * be matched. O(size of the patch + lists it touches). */
json_t *template_merge(const json_t *spec, const json_t *patch, const char *path,
                       struct error *err);
