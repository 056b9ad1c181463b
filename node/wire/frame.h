#pragma once
/*
 * Frames: how bytes are cut into messages, on the socket between node and shim and in the record
 * file of a shim.
 *
 *   frame = u32 length of the rest | u8 type | fields
 *   field = u8, u32, i64 (host order: both ends are one machine) | text = u32 length, bytes, NUL
 *
 * An absent text has length FRAME_TEXT_ABSENT and no bytes. Reading is total: any bytes give values
 * or set `bad`, and nothing is read past the end. A text is borrowed in place; it ends with a NUL
 * and holds no other.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { FRAME_BYTES_MAX = 64 << 20 };
#define FRAME_TEXT_ABSENT UINT32_MAX

/* Writing: frame_begin returns the position that frame_end needs. */
size_t frame_begin(struct buf *out, uint8_t type);
void frame_end(struct buf *out, size_t begun);
void frame_put_u8(struct buf *out, uint8_t value);
void frame_put_u32(struct buf *out, uint32_t value);
void frame_put_i64(struct buf *out, int64_t value);
void frame_put_text(struct buf *out, const char *text); /* NULL is absent */
void frame_put_bytes(struct buf *out, const void *bytes, size_t len);

/* Reading the fields of one frame. */
struct frame_reader {
    const char *at, *end;
    bool bad; /* sticky: every later read gives zero or NULL */
};

uint8_t frame_get_u8(struct frame_reader *r);
uint32_t frame_get_u32(struct frame_reader *r);
int64_t frame_get_i64(struct frame_reader *r);
const char *frame_get_text(struct frame_reader *r);          /* borrowed; NULL when absent */
const char *frame_get_required_text(struct frame_reader *r); /* absent is bad; never NULL */
const void *frame_get_bytes(struct frame_reader *r, size_t *len);
/** A count of items that take at least `bytes_each` bytes each. More than the rest of the frame can
 * hold is bad, and gives 0. */
uint32_t frame_get_count(struct frame_reader *r, size_t bytes_each);

enum frame_state { FRAME_PARTIAL, FRAME_WHOLE, FRAME_INVALID };

struct frame {
    uint8_t type;
    struct frame_reader fields;
    size_t size; /* of the whole frame */
};

/** Read the frame at the start of `bytes` into `out`. FRAME_PARTIAL: more bytes must arrive first;
 * FRAME_INVALID: no frame has such a length. */
enum frame_state frame_next(const char *bytes, size_t len, struct frame *out);
