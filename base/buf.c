/*
 * A growing byte buffer. Capacity doubles; one byte is always kept for the terminator.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { BUF_FIRST = 64 };

void buf_release(struct buf *buf)
{
    if (!buf)
        return;
    mem_free(buf->data);
    *buf = (struct buf){0};
}

void buf_grow(struct buf *buf, size_t extra)
{
    size_t need;

    if (__builtin_add_overflow(buf->len, extra, &need) || need > SIZE_MAX / 4)
        mem_fatal("a buffer would not fit into memory");
    need++;

    size_t cap = buf->cap ? buf->cap * 2 : BUF_FIRST;

    if (cap < need)
        cap = need;
    buf->data = mem_resize(buf->data, cap);
    buf->cap = cap;
    buf->data[buf->len] = '\0';
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    buf_reserve(buf, len);
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_str(struct buf *buf, const char *text)
{
    if (text)
        buf_add(buf, text, strlen(text));
}

void buf_str_short(struct buf *buf, const char *text, size_t max)
{
    size_t len = strlen(text), cut = len;

    if (len > max)
        for (cut = max; cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80;)
            cut--;
    buf_add(buf, text, cut);
    if (cut < len)
        buf_str(buf, "…");
}

void buf_int(struct buf *buf, int64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char text[20]; /* digits of the 64-bit magnitude */
    char *at = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    while (rest >= 100) {
        const char *pair = pairs + 2 * (rest % 100);

        rest /= 100;
        *--at = pair[1];
        *--at = pair[0];
    }
    if (rest >= 10) {
        *--at = pairs[2 * rest + 1];
        *--at = pairs[2 * rest];
    } else {
        *--at = (char)('0' + rest);
    }
    if (value < 0)
        buf_char(buf, '-');
    buf_add(buf, at, (size_t)(text + sizeof text - at));
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;

    buf_reserve(buf, 64);
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
    va_end(args);
    if (len < 0)
        mem_fatal("a format string of ours is wrong");
    if ((size_t)len >= buf->cap - buf->len) {
        buf_reserve(buf, (size_t)len);
        vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, again);
    }
    va_end(again);
    buf->len += (size_t)len;
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

char *buf_take(struct buf *buf)
{
    char *text = buf->data ? buf->data : mem_alloc(1);

    *buf = (struct buf){0};
    return text;
}
