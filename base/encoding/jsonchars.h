#pragma once
/*
 * Classes of bytes in JSON strings, shared by the writer (base/jsonw) and the reader
 * (api/types/text/json_read). Eight bytes are examined at a time, because nearly all of them need
 * no escape.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns whether a byte is a control character, a quote, a backslash or not ASCII. */
static inline bool jsonchars_is_special(unsigned char c)
{
    return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

/* Returns whether any of eight bytes is special. The subtractions find zero bytes. They can report
 * a byte wrongly only after a byte that they report rightly, so the result is exact. */
static inline bool jsonchars_any_special(const unsigned char *text)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t word, quote, backslash;

    memcpy(&word, text, sizeof word);
    quote = word ^ ones * '"';
    backslash = word ^ ones * '\\';
    return ((word | ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
             ((backslash - ones) & ~backslash)) &
            tops) != 0;
}

/** Returns the position of the first special byte at or after `at`, or `len`. */
static inline size_t jsonchars_plain(const unsigned char *text, size_t at, size_t len)
{
    while (len - at >= 8 && !jsonchars_any_special(text + at))
        at += 8;
    while (at < len && !jsonchars_is_special(text[at]))
        at++;
    return at;
}

/** Returns the length of the well-formed UTF-8 sequence of two or more bytes at `text`, or 0 if
 * there is none. */
size_t jsonchars_utf8(const unsigned char *text, size_t len);
