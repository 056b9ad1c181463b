#pragma once
/*
 * A step's patch merged into a template's spec. Ref: spec/jobflow.md 6.4.
 *
 * What the user wrote counts, not its value: 0, false, "" and [] are applied, null is not there. A
 * table names the members that merge (maps by key, lists by the keys of their elements); everything
 * else is replaced. Neither input is changed: the result shares unchanged parts with both.
 */
#include "api/types/kinds/job/job.h"
#include "base/error.h"

/** The merged JobSpec (owned), or NULL with INVALID at the member below `path` that cannot be
 * matched. O(size of the patch + lists it touches). */
json_t *template_merge(const json_t *spec, const json_t *patch, const char *path,
                       struct error *err);
