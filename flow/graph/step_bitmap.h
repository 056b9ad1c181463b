#pragma once
/*
 * Sets of steps as text in the status of a flow: a bitmap in base64, without trailing zero bytes.
 * Step i is bit i % 8 of byte i / 8. A bitmap of 100,000 steps takes 17 KiB.
 */
#include "base/buf.h"
#include "flow/graph/step_set.h"

/** Appends the union of two sets of the same size; `b` may be NULL. */
void step_bitmap_write(const struct step_set *a, const struct step_set *b, struct buf *out);
/** Returns the size that a set needs to hold every bit of the text. */
uint32_t step_bitmap_room(const char *text);
/** Adds the members to `out`; bits beyond its size are ignored. False when `text` is not base64. */
bool step_bitmap_read(const char *text, struct step_set *out);
