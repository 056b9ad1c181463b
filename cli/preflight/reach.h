#pragma once
/*
 * Finds steps that can never run, whatever their jobs do: their condition is always false, their
 * switch case never matches, or none of their targets can run.
 */
#include "api/store/store.h"
#include "base/error.h"

/** Reports each such step of an admitted flow, with the field that prevents it from running.
 * Templates come from `store`. Does nothing for a flow without `if` and `switch`; otherwise takes
 * O(steps + edges + terms). */
void reach_check(const struct object *flow, const struct store *store,
                 void (*found)(void *ctx, const struct error *err), void *ctx);
