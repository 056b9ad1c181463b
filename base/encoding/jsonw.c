/*
 * A JSON writer without a tree. Strings are scanned once, eight bytes at a time: stretches that
 * need no escape are copied whole, and nearly every string is one such stretch.
 */
#include "base/encoding/jsonw.h"

#include <string.h>

#include "base/encoding/jsonchars.h"
#include "base/timefmt.h"

/* For each byte how it is written: 0 as it is, 'u' as \u00XX, 'm' as the start of a multi-byte
 * sequence or a stray byte, else as \ and the letter. */
/* clang-format off */
static const char escape[256] = {
    [0x00 ... 0x07] = 'u', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [0x0b] = 'u', ['\f'] = 'f', ['\r'] = 'r',
    [0x0e ... 0x1f] = 'u', ['"'] = '"', ['\\'] = '\\', [0x80 ... 0xff] = 'm',
};
/* clang-format on */

struct jsonw jsonw_to(struct buf *out)
{
    return (struct jsonw){.out = out};
}

static void before_value(struct jsonw *w)
{
    if (w->comma)
        buf_char(w->out, ',');
    w->comma = true;
}

void jsonw_open(struct jsonw *w)
{
    before_value(w);
    buf_char(w->out, '{');
    w->comma = false;
}

void jsonw_close(struct jsonw *w)
{
    buf_char(w->out, '}');
    w->comma = true;
}

void jsonw_open_list(struct jsonw *w)
{
    before_value(w);
    buf_char(w->out, '[');
    w->comma = false;
}

void jsonw_close_list(struct jsonw *w)
{
    buf_char(w->out, ']');
    w->comma = true;
}

/* The string from its first special byte on; everything before is written. */
static void write_special(struct buf *out, const char *value, size_t at, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *text = (const unsigned char *)value;
    size_t plain = at; /* start of the stretch not yet copied */

    for (; at < len; at = jsonchars_plain(text, at, len)) {
        char what = escape[text[at]];

        if (what == 'm') {
            size_t wide = jsonchars_utf8(text + at, len - at);

            if (wide) {
                at += wide;
                continue;
            }
        }
        buf_add(out, value + plain, at - plain);
        if (what == 'm') {
            buf_add(out, "\xEF\xBF\xBD", 3);
        } else if (what == 'u') {
            const char code[] = {'\\', 'u', '0', '0', hex[text[at] >> 4], hex[text[at] & 15]};

            buf_add(out, code, sizeof code);
        } else {
            const char pair[] = {'\\', what};

            buf_add(out, pair, sizeof pair);
        }
        plain = ++at;
    }
    buf_add(out, value + plain, len - plain);
}

/* `before` (0 = nothing), the string, `after` (0 = nothing). */
static void write_string(struct buf *out, char before, const char *value, size_t len, char after)
{
    size_t plain = jsonchars_plain((const unsigned char *)value, 0, len);
    char *at;

    buf_reserve(out, len + 4);
    at = out->data + out->len;
    if (before)
        *at++ = before;
    *at++ = '"';
    if (plain)
        memcpy(at, value, plain);
    at += plain;
    if (plain < len) {
        out->len = (size_t)(at - out->data);
        write_special(out, value, plain, len);
        buf_reserve(out, 2);
        at = out->data + out->len;
    }
    *at++ = '"';
    if (after)
        *at++ = after;
    *at = '\0';
    out->len = (size_t)(at - out->data);
}

void jsonw_key(struct jsonw *w, const char *key)
{
    write_string(w->out, w->comma ? ',' : '\0', key, strlen(key), ':');
    w->comma = false;
}

void jsonw_str(struct jsonw *w, const char *value)
{
    if (!value)
        jsonw_raw(w, "null", 4);
    else
        jsonw_strn(w, value, strlen(value));
}

void jsonw_strn(struct jsonw *w, const char *value, size_t len)
{
    write_string(w->out, w->comma ? ',' : '\0', value, len, '\0');
    w->comma = true;
}

void jsonw_int(struct jsonw *w, int64_t value)
{
    before_value(w);
    buf_int(w->out, value);
}

void jsonw_bool(struct jsonw *w, bool value)
{
    before_value(w);
    buf_str(w->out, value ? "true" : "false");
}

void jsonw_raw(struct jsonw *w, const char *json, size_t len)
{
    before_value(w);
    if (len)
        buf_add(w->out, json, len);
    else
        buf_add(w->out, "null", 4);
}

void jsonw_member_open(struct jsonw *w, const char *key)
{
    jsonw_key(w, key);
    jsonw_open(w);
}

void jsonw_member_open_list(struct jsonw *w, const char *key)
{
    jsonw_key(w, key);
    jsonw_open_list(w);
}

void jsonw_member_str(struct jsonw *w, const char *key, const char *value)
{
    jsonw_key(w, key);
    jsonw_str(w, value);
}

void jsonw_member_int(struct jsonw *w, const char *key, int64_t value)
{
    jsonw_key(w, key);
    jsonw_int(w, value);
}

void jsonw_member_bool(struct jsonw *w, const char *key, bool value)
{
    jsonw_key(w, key);
    jsonw_bool(w, value);
}

void jsonw_member_raw(struct jsonw *w, const char *key, const char *json, size_t len)
{
    jsonw_key(w, key);
    jsonw_raw(w, json, len);
}

void jsonw_member_time(struct jsonw *w, const char *key, int64_t at_ms)
{
    char text[TIME_TEXT_MAX];

    time_format(at_ms, text);
    jsonw_key(w, key);
    jsonw_str(w, text);
}

void jsonw_member_str_opt(struct jsonw *w, const char *key, const char *value)
{
    if (value && *value)
        jsonw_member_str(w, key, value);
}

void jsonw_member_int_opt(struct jsonw *w, const char *key, int64_t value)
{
    if (value)
        jsonw_member_int(w, key, value);
}

void jsonw_member_bool_opt(struct jsonw *w, const char *key, bool value)
{
    if (value)
        jsonw_member_bool(w, key, value);
}

void jsonw_member_time_opt(struct jsonw *w, const char *key, int64_t at_ms)
{
    if (at_ms)
        jsonw_member_time(w, key, at_ms);
}
