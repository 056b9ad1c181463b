#pragma once
/*
 * Frames: how bytes are cut into messages, on the socket between node and shim and in a shim's
 * record file.
 *
 *   frame = u32 length of what follows | u8 type | fields
 *   field = u8, u32, i64 (host order: both ends are one machine) | text = u32 length, bytes, NUL
 *
 * An absent text has length WIRE_NULL and no bytes. Reading is total: any bytes give values or
 * `bad`, never a read past the end, and a text that is read is NUL-terminated in place without an
 * inner NUL.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { WIRE_FRAME_MAX = 64 << 20 };
#define WIRE_NULL UINT32_MAX

size_t wire_begin(struct buf *out, uint8_t type); /* returns what wire_end needs */
void wire_end(struct buf *out, size_t begun);
void wire_put_u8(struct buf *out, uint8_t value);
void wire_put_u32(struct buf *out, uint32_t value);
void wire_put_i64(struct buf *out, int64_t value);
void wire_put_text(struct buf *out, const char *text); /* NULL is absent */
void wire_put_bytes(struct buf *out, const void *bytes, size_t len);

struct wire_reader {
    const char *at, *end;
    bool bad; /* sticky: everything read from then on is zero or NULL */
};

uint8_t wire_u8(struct wire_reader *r);
uint32_t wire_u32(struct wire_reader *r);
int64_t wire_i64(struct wire_reader *r);
const char *wire_text(struct wire_reader *r);      /* borrowed; NULL when absent */
const char *wire_must_text(struct wire_reader *r); /* absent is bad; never NULL */
const void *wire_bytes(struct wire_reader *r, size_t *len);
/** A count of things of which each takes at least `bytes_each` bytes: bounded by what is left. */
uint32_t wire_count(struct wire_reader *r, size_t bytes_each);

enum wire_next { WIRE_MORE, WIRE_FRAME, WIRE_BAD };

struct wire_frame {
    uint8_t type;
    struct wire_reader fields;
    size_t size; /* of the whole frame */
};

/** The frame at the start of `bytes`: WIRE_MORE when it is not all there yet. */
enum wire_next wire_next_frame(const char *bytes, size_t len, struct wire_frame *out);
