#include "base/encoding/protobuf.h"

#include <string.h>

bool pb_broken(struct error *err, const char *why)
{
    return error_set(err, ERR_BAD_REQUEST, "", "the protobuf message is damaged: %s", why);
}

bool pb_take_varint(struct pb_span *rest, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        unsigned char byte = *rest->at++;

        rest->len--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct pb_span *rest, uint64_t len, struct pb_span *out)
{
    if (len > rest->len)
        return false;
    *out = (struct pb_span){rest->at, (size_t)len};
    rest->at += len;
    rest->len -= (size_t)len;
    return true;
}

bool pb_take(struct pb_span *rest, struct pb_item *out, struct error *err)
{
    uint64_t key, len;

    if (!rest->len)
        return false;
    *out = (struct pb_item){0};
    if (!pb_take_varint(rest, &key))
        return pb_broken(err, "it ends within a field");
    out->number = key >> 3;
    out->wire = (enum pb_wire)(key & 7);
    switch (out->wire) {
    case PB_VARINT:
        return pb_take_varint(rest, &out->value) || pb_broken(err, "it ends within a number");
    case PB_FIXED_64:
        return take_bytes(rest, 8, &out->bytes) || pb_broken(err, "it ends within a number");
    case PB_FIXED_32:
        return take_bytes(rest, 4, &out->bytes) || pb_broken(err, "it ends within a number");
    case PB_BYTES:
        return (pb_take_varint(rest, &len) && take_bytes(rest, len, &out->bytes)) ||
               pb_broken(err, "a length goes beyond its end");
    }
    return pb_broken(err, "a field has an unknown wire type");
}

bool pb_take_fields(struct pb_span message, struct pb_item *out, size_t n, struct error *err)
{
    struct pb_item item;

    memset(out, 0, n * sizeof *out);
    while (pb_take(&message, &item, err))
        if (item.number >= 1 && item.number <= n)
            out[item.number - 1] = item;
    return err->code == ERR_NONE;
}

static void put_number(struct buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_char(out, (char)(value | 0x80));
    buf_char(out, (char)value);
}

static void put_key(struct buf *out, unsigned field, enum pb_wire wire)
{
    put_number(out, (uint64_t)field << 3 | wire);
}

void pb_put_varint(struct buf *out, unsigned field, uint64_t value)
{
    put_key(out, field, PB_VARINT);
    put_number(out, value);
}

void pb_put_bytes(struct buf *out, unsigned field, const void *bytes, size_t len)
{
    put_key(out, field, PB_BYTES);
    put_number(out, len);
    buf_add(out, bytes, len);
}

void pb_put_text(struct buf *out, unsigned field, const char *text)
{
    if (text)
        pb_put_bytes(out, field, text, strlen(text));
}

void pb_put_double(struct buf *out, unsigned field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_key(out, field, PB_FIXED_64);
    for (int i = 0; i < 8; i++)
        buf_char(out, (char)(bits >> (8 * i)));
}

void pb_put_message(struct buf *out, unsigned field, const struct buf *message)
{
    pb_put_bytes(out, field, message->data, message->len);
}
