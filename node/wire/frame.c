/*
 * Frames. See frame.h.
 */
#include "node/wire/frame.h"

#include <assert.h>
#include <string.h>

enum { LENGTH_BYTES = 4 };

size_t wire_begin(struct buf *out, uint8_t type)
{
    size_t begun = out->len;

    wire_put_u32(out, 0);
    wire_put_u8(out, type);
    return begun;
}

void wire_end(struct buf *out, size_t begun)
{
    uint32_t length = (uint32_t)(out->len - begun - LENGTH_BYTES);

    assert(out->len - begun <= WIRE_FRAME_MAX);
    memcpy(out->data + begun, &length, sizeof length);
}

void wire_put_u8(struct buf *out, uint8_t value)
{
    buf_add(out, &value, sizeof value);
}

void wire_put_u32(struct buf *out, uint32_t value)
{
    buf_add(out, &value, sizeof value);
}

void wire_put_i64(struct buf *out, int64_t value)
{
    buf_add(out, &value, sizeof value);
}

void wire_put_bytes(struct buf *out, const void *bytes, size_t len)
{
    wire_put_u32(out, (uint32_t)len);
    buf_add(out, bytes, len);
    wire_put_u8(out, 0);
}

void wire_put_text(struct buf *out, const char *text)
{
    if (text)
        wire_put_bytes(out, text, strlen(text));
    else
        wire_put_u32(out, WIRE_NULL);
}

static const char *next(struct wire_reader *r, size_t len)
{
    const char *at = r->at;

    if (r->bad || (size_t)(r->end - at) < len) {
        r->bad = true;
        return NULL;
    }
    r->at += len;
    return at;
}

uint8_t wire_u8(struct wire_reader *r)
{
    const char *at = next(r, 1);

    return at ? (uint8_t)*at : 0;
}

uint32_t wire_u32(struct wire_reader *r)
{
    uint32_t value = 0;
    const char *at = next(r, sizeof value);

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

int64_t wire_i64(struct wire_reader *r)
{
    int64_t value = 0;
    const char *at = next(r, sizeof value);

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

const void *wire_bytes(struct wire_reader *r, size_t *len)
{
    uint32_t length = wire_u32(r);

    *len = 0;
    if (r->bad || length == WIRE_NULL)
        return NULL;

    const char *at = next(r, (size_t)length + 1);

    if (!at)
        return NULL;
    if (at[length]) {
        r->bad = true;
        return NULL;
    }
    *len = length;
    return at;
}

const char *wire_text(struct wire_reader *r)
{
    size_t len;
    const char *text = wire_bytes(r, &len);

    if (text && memchr(text, 0, len)) {
        r->bad = true;
        return NULL;
    }
    return text;
}

const char *wire_must_text(struct wire_reader *r)
{
    const char *text = wire_text(r);

    if (!text)
        r->bad = true;
    return text ? text : "";
}

uint32_t wire_count(struct wire_reader *r, size_t bytes_each)
{
    uint32_t count = wire_u32(r);

    if (!r->bad && count > (size_t)(r->end - r->at) / bytes_each)
        r->bad = true;
    return r->bad ? 0 : count;
}

enum wire_next wire_next_frame(const char *bytes, size_t len, struct wire_frame *out)
{
    uint32_t length;

    if (len < LENGTH_BYTES)
        return WIRE_MORE;
    memcpy(&length, bytes, sizeof length);
    if (length < 1 || length > WIRE_FRAME_MAX)
        return WIRE_BAD;
    if (len - LENGTH_BYTES < length)
        return WIRE_MORE;
    out->type = (uint8_t)bytes[LENGTH_BYTES];
    out->fields =
        (struct wire_reader){bytes + LENGTH_BYTES + 1, bytes + LENGTH_BYTES + length, false};
    out->size = LENGTH_BYTES + length;
    return WIRE_FRAME;
}
