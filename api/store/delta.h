#pragma once
/*
 * What makes one text of another that it has most in common with: where to copy from the old one,
 * and what is new between the copies.
 *
 *   delta = length of the new text, then as often as needed
 *           (gap, copied, added, the bytes added)
 *
 * All numbers are varints; a gap is signed and counts from the end of the copy before. For texts
 * that a program writes again and again, in which some places change, others come and go.
 */
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

struct delta_text {
    const char *bytes;
    size_t len;
};

/** Append to `out` what makes `next` of `base`. O(both), whatever they say; a text that has nothing
 * in common with its base gives a delta a little longer than itself. Both below 2 GiB. */
void delta_make(struct delta_text base, struct delta_text next, struct buf *out);

/** Append to `out` what `delta` makes of `base`. False, with `out` as far as it went, when the
 * delta is damaged or of another base. */
bool delta_apply(struct delta_text base, struct delta_text delta, struct buf *out);
