#pragma once
/*
 * A text as what is new of it against the one before, for texts that a program writes again and
 * again, in which some places change, others come and go.
 *
 *   delta = a frame of zstd whose dictionary is the base; of no base, the text compressed
 *
 * A frame says how long its text is and holds a checksum of it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct delta_text {
    const char *bytes;
    size_t len;
};

/** Append to `out` what makes `next` of `base`. O(both), whatever they say; of texts that have
 * nothing in common it is what `next` comes to compressed. Both at most 1 GiB. */
void delta_make(struct delta_text base, struct delta_text next, struct buf *out);

/** Append to `out` what `delta` makes of `base`. False, with `out` as it was, when the delta is
 * damaged or of another base. */
bool delta_apply(struct delta_text base, struct delta_text delta, struct buf *out);
