#pragma once
/*
 * Encodes a text as its difference to an earlier one, for texts that change a little with each
 * write.
 *
 *   delta = a zstd frame whose dictionary is the base; without a base, the text compressed
 *
 * A frame contains the length and a checksum of its text.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct delta_text {
    const char *bytes;
    size_t len;
};

/** Appends the delta from `base` to `next` to `out`. O(length of both). When the texts have nothing
 * in common, the delta is as large as `next` compressed. Both are at most 1 GiB. */
void delta_make(struct delta_text base, struct delta_text next, struct buf *out);

/** Appends the text that `delta` makes of `base` to `out`. False, with `out` unchanged, when the
 * delta is damaged or belongs to another base. */
bool delta_apply(struct delta_text base, struct delta_text delta, struct buf *out);
