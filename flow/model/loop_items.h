#pragma once
/*
 * The items of a loop over an output of another step (for.itemsFrom).
 *
 * The output is read when the loop begins, and again after a restart. It is a JSON list, whose
 * elements are taken as text, or words between commas. An output that cannot be read, or has more
 * items than the loop may have iterations, makes the loop fail. A skipped step gives no items. The
 * loop has a vertex for each iteration it may have; those beyond its items stay dormant.
 */
#include "flow/model/flow_model.h"

struct loop_items {
    char **items; /* the items as texts, [count] */
    uint32_t count;
    const char *reason; /* why the loop fails; NULL = it does not */
    char *message;
};

/** Returns the items of a loop that has begun; NULL before. They are kept until it begins again. */
const struct loop_items *loop_items_of(const struct flow_model *m, uint32_t loop);
void loop_items_free(struct loop_items *items); /* NULL is ignored */
