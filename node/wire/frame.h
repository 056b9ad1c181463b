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

/* Begins to write a frame. Returns its position in `out`, which frame_end needs. */
size_t frame_begin(struct buf *out, uint8_t type);
void frame_end(struct buf *out, size_t begun);
void frame_put_u8(struct buf *out, uint8_t value);
void frame_put_u32(struct buf *out, uint32_t value);
void frame_put_i64(struct buf *out, int64_t value);
void frame_put_text(struct buf *out, const char *text); /* NULL is written as an absent text */
void frame_put_bytes(struct buf *out, const void *bytes, size_t len);

/* The position of a reader in the fields of one frame. */
struct frame_reader {
    const char *at, *end;
    bool bad; /* the bytes are malformed; every later read gives zero or NULL */
};

uint8_t frame_get_u8(struct frame_reader *r);
uint32_t frame_get_u32(struct frame_reader *r);
int64_t frame_get_i64(struct frame_reader *r);
/** Borrowed from the frame; NULL when the text is absent. */
const char *frame_get_text(struct frame_reader *r);
/** Never NULL; an absent text sets `bad`. */
const char *frame_get_required_text(struct frame_reader *r);
const void *frame_get_bytes(struct frame_reader *r, size_t *len);
/** Reads the number of items that follow, each of at least `bytes_each` bytes. A number that the
 * rest of the frame cannot hold sets `bad` and gives 0. */
uint32_t frame_get_count(struct frame_reader *r, size_t bytes_each);

enum frame_state { FRAME_PARTIAL, FRAME_WHOLE, FRAME_INVALID };

struct frame {
    uint8_t type;
    struct frame_reader fields;
    size_t size; /* number of bytes of the whole frame, with its length field */
};

/** Reads the frame at the start of `bytes` into `out`. Returns FRAME_PARTIAL when more bytes must
 * arrive first, and FRAME_INVALID when no frame has such a length. */
enum frame_state frame_next(const char *bytes, size_t len, struct frame *out);
