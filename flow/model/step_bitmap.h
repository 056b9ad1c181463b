#pragma once
/*
 * Sets of steps as text in a flow's status: the bitmap in base64, bit i of byte i / 8 for step i,
 * without trailing zero bytes. 100,000 results take 17 KiB.
 */
#include "base/buf.h"
#include "flow/model/step_set.h"

/** Append the union of two sets of one size (`b` may be NULL). */
void step_bitmap_write(const struct step_set *a, const struct step_set *b, struct buf *out);
/** A size that has room for every bit of the text. */
uint32_t step_bitmap_room(const char *text);
/** Add the members to `out`; bits beyond its size are ignored. False when `text` is no base64. */
bool step_bitmap_read(const char *text, struct step_set *out);
