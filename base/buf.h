#pragma once
/*
 * A growing byte buffer. Once something has been appended, a NUL always follows the last byte.
 */
#include <stdint.h>

#include "base/compiler.h"
#include "base/scoped.h"

struct buf {
    char *data;
    size_t len;
    size_t cap;
};

void buf_release(struct buf *buf); /* leaves the buffer empty and usable */
SCOPED_DEFINE(buf, struct buf, buf_release)

void buf_grow(struct buf *buf, size_t extra); /* called by buf_reserve only */

/** Ensures room for `extra` more bytes and the NUL. */
static inline void buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->cap - buf->len <= extra)
        buf_grow(buf, extra);
}
static inline void buf_char(struct buf *buf, char c)
{
    buf_reserve(buf, 1);
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}
void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_str(struct buf *buf, const char *text);
/** Appends a short form for people: at most `max` bytes, cut between characters, followed by "…".
 */
void buf_str_short(struct buf *buf, const char *text, size_t max);
void buf_int(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_clear(struct buf *buf); /* sets the length to 0; the memory stays allocated */

/** Returns the bytes as an owned, NUL-terminated string and leaves the buffer empty. Never NULL. */
char *buf_take(struct buf *buf);
