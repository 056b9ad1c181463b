#pragma once
/*
 * Steps that can never run, whatever their jobs do: a condition that cannot hold, a case that is
 * never chosen, targets that are all never run.
 */
#include "api/store/store.h"
#include "base/error.h"

/** Tell of each such step of an admitted flow, with the field that keeps it from running. Templates
 * come from `store`. Costs nothing without `if` and `switch`; else O(steps + edges + terms). */
void reach_check(const struct object *flow, const struct store *store,
                 void (*found)(void *ctx, const struct error *err), void *ctx);
