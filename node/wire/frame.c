/*
 * Writes and reads the fields of frames, and cuts frames out of a stream of bytes.
 */
#include "node/wire/frame.h"

#include <assert.h>
#include <string.h>

enum { LENGTH_BYTES = 4 };

size_t frame_begin(struct buf *out, uint8_t type)
{
    size_t begun = out->len;

    frame_put_u32(out, 0);
    frame_put_u8(out, type);
    return begun;
}

void frame_end(struct buf *out, size_t begun)
{
    uint32_t length = (uint32_t)(out->len - begun - LENGTH_BYTES);

    assert(out->len - begun <= FRAME_BYTES_MAX);
    memcpy(out->data + begun, &length, sizeof length);
}

void frame_put_u8(struct buf *out, uint8_t value)
{
    buf_add(out, &value, sizeof value);
}

void frame_put_u32(struct buf *out, uint32_t value)
{
    buf_add(out, &value, sizeof value);
}

void frame_put_i64(struct buf *out, int64_t value)
{
    buf_add(out, &value, sizeof value);
}

void frame_put_bytes(struct buf *out, const void *bytes, size_t len)
{
    frame_put_u32(out, (uint32_t)len);
    buf_add(out, bytes, len);
    frame_put_u8(out, 0);
}

void frame_put_text(struct buf *out, const char *text)
{
    if (text)
        frame_put_bytes(out, text, strlen(text));
    else
        frame_put_u32(out, FRAME_TEXT_ABSENT);
}

static const char *take_bytes(struct frame_reader *r, size_t len)
{
    const char *at = r->at;

    if (r->bad || (size_t)(r->end - at) < len) {
        r->bad = true;
        return NULL;
    }
    r->at += len;
    return at;
}

uint8_t frame_get_u8(struct frame_reader *r)
{
    const char *at = take_bytes(r, 1);

    return at ? (uint8_t)*at : 0;
}

uint32_t frame_get_u32(struct frame_reader *r)
{
    uint32_t value = 0;
    const char *at = take_bytes(r, sizeof value);

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

int64_t frame_get_i64(struct frame_reader *r)
{
    int64_t value = 0;
    const char *at = take_bytes(r, sizeof value);

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

const void *frame_get_bytes(struct frame_reader *r, size_t *len)
{
    uint32_t length = frame_get_u32(r);

    *len = 0;
    if (r->bad || length == FRAME_TEXT_ABSENT)
        return NULL;

    const char *at = take_bytes(r, (size_t)length + 1);

    if (!at)
        return NULL;
    if (at[length]) {
        r->bad = true;
        return NULL;
    }
    *len = length;
    return at;
}

const char *frame_get_text(struct frame_reader *r)
{
    size_t len;
    const char *text = frame_get_bytes(r, &len);

    if (text && memchr(text, 0, len)) {
        r->bad = true;
        return NULL;
    }
    return text;
}

const char *frame_get_required_text(struct frame_reader *r)
{
    const char *text = frame_get_text(r);

    if (!text)
        r->bad = true;
    return text ? text : "";
}

uint32_t frame_get_count(struct frame_reader *r, size_t bytes_each)
{
    uint32_t count = frame_get_u32(r);

    if (!r->bad && count > (size_t)(r->end - r->at) / bytes_each)
        r->bad = true;
    return r->bad ? 0 : count;
}

enum frame_state frame_next(const char *bytes, size_t len, struct frame *out)
{
    uint32_t length;

    if (len < LENGTH_BYTES)
        return FRAME_PARTIAL;
    memcpy(&length, bytes, sizeof length);
    if (length < 1 || length > FRAME_BYTES_MAX)
        return FRAME_INVALID;
    if (len - LENGTH_BYTES < length)
        return FRAME_PARTIAL;
    out->type = (uint8_t)bytes[LENGTH_BYTES];
    out->fields =
        (struct frame_reader){bytes + LENGTH_BYTES + 1, bytes + LENGTH_BYTES + length, false};
    out->size = LENGTH_BYTES + length;
    return FRAME_WHOLE;
}
