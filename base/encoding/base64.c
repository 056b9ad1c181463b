/*
 * The decoder processes four characters at a time and accepts padding only at the end, as Go's
 * encoding/base64 does.
 */
#include "base/encoding/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NO_DIGIT = -1, PADDING = -2, LINE_BREAK = -3 };

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '=')
        return PADDING;
    if (c == '\r' || c == '\n')
        return LINE_BREAK;
    return c == '+' ? 62 : c == '/' ? 63 : NO_DIGIT;
}

bool base64_valid(const char *text, size_t len)
{
    size_t n = 0, padding = 0;

    for (size_t i = 0; i < len; i++) {
        int value = digit_value(text[i]);

        if (value == LINE_BREAK)
            continue;
        if (value == NO_DIGIT || (value >= 0 && padding))
            return false;
        n++;
        padding += value == PADDING;
    }
    return n % 4 == 0 && padding <= 2;
}

/* Bits of digits that do not make a whole byte yet. */
struct pending {
    unsigned held, bits;
};

/* Adds the six bits of a digit. A byte that is whole then goes to `out`. */
static void add_digit(struct pending *pending, int value, struct buf *out)
{
    pending->held = pending->held << 6 | (unsigned)value;
    pending->bits += 6;
    if (pending->bits >= 8) {
        pending->bits -= 8;
        buf_char(out, (char)(pending->held >> pending->bits & 0xff));
    }
}

bool base64_decode(const char *text, size_t len, struct buf *out)
{
    struct pending pending = {0};

    if (!base64_valid(text, len))
        return false;
    buf_reserve(out, len / 4 * 3 + 1);
    for (size_t i = 0; i < len; i++) {
        int value = digit_value(text[i]);

        if (value < 0)
            continue;
        add_digit(&pending, value, out);
    }
    return true;
}

void base64_encode(const void *bytes, size_t len, struct buf *out)
{
    const unsigned char *in = bytes;

    buf_reserve(out, (len + 2) / 3 * 4 + 1);
    for (size_t i = 0; i < len; i += 3) {
        unsigned group = (unsigned)in[i] << 16;

        group |= i + 1 < len ? (unsigned)in[i + 1] << 8 : 0;
        group |= i + 2 < len ? in[i + 2] : 0;
        buf_char(out, digits[group >> 18]);
        buf_char(out, digits[group >> 12 & 63]);
        buf_char(out, i + 1 < len ? digits[group >> 6 & 63] : '=');
        buf_char(out, i + 2 < len ? digits[group & 63] : '=');
    }
}

void base64url_encode(const void *bytes, size_t len, struct buf *out)
{
    size_t start = out->len;

    base64_encode(bytes, len, out);
    while (out->len > start && out->data[out->len - 1] == '=')
        out->data[--out->len] = '\0';
    for (size_t i = start; i < out->len; i++)
        out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
}

bool base64url_decode(const char *text, struct buf *out)
{
    struct pending pending = {0};

    for (; *text; text++) {
        int value = *text == '-' ? 62 : *text == '_' ? 63 : digit_value(*text);

        if (value < 0 || *text == '+' || *text == '/')
            return false;
        add_digit(&pending, value, out);
    }
    return true;
}
