#pragma once
/*
 * Items of a loop that a step before it put out (for.itemsFrom).
 *
 * The output is read when the loop begins, and again after a restart: a JSON list, whose elements
 * are taken as text, or words between commas. What cannot be read, and more items than the loop may
 * have iterations, make the loop fail; of a skipped step there are none. A loop has as many
 * vertices as it may have iterations; those beyond its items stay dormant, as with until.
 */
#include "flow/model/flow_model.h"

struct loop_items {
    char **items; /* [count] */
    uint32_t count;
    const char *reason; /* why the loop fails; NULL: it does not */
    char *message;
};

/** Of a loop that has begun; NULL before. Kept until it begins anew. */
const struct loop_items *loop_items_of(const struct flow_model *m, uint32_t loop);
void loop_items_free(struct loop_items *items); /* NULL is fine */
