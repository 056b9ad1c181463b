#pragma once
/*
 * The encoding of protobuf messages: a list of fields, each with a number and a wire type.
 *
 * The reader takes untrusted bytes: every length is compared with the bytes that are left.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED_64 = 1, PB_BYTES = 2, PB_FIXED_32 = 5 };

struct pb_span {
    const unsigned char *at; /* first byte; NULL when len is 0 */
    size_t len;
};

/* One field of a message, as encoded. */
struct pb_item {
    uint64_t number;
    enum pb_wire wire;
    uint64_t value;       /* value of a PB_VARINT */
    struct pb_span bytes; /* the bytes of a field of any other type */
};

/** Reports BAD_REQUEST "the protobuf message is damaged: WHY". Returns false. */
bool pb_broken(struct error *err, const char *why);
/** Takes the next field; false at the end and, with `err` set, when the bytes are malformed. */
bool pb_take(struct pb_span *rest, struct pb_item *out, struct error *err);
/** Takes the next number of a packed list; false at the end and when the bytes are malformed. */
bool pb_take_varint(struct pb_span *rest, uint64_t *out);
/** Takes the fields 1 to n of a small message; of a repeated field the last one counts. */
bool pb_take_fields(struct pb_span message, struct pb_item *out, size_t n, struct error *err);

void pb_put_varint(struct buf *out, unsigned field, uint64_t value);
void pb_put_bytes(struct buf *out, unsigned field, const void *bytes, size_t len);
/** A text that is NULL is not written. */
void pb_put_text(struct buf *out, unsigned field, const char *text);
void pb_put_double(struct buf *out, unsigned field, double value);
void pb_put_message(struct buf *out, unsigned field, const struct buf *message);
