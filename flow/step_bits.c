/*
 * Bitmaps to base64 and back.
 */
#include "flow/step_bits.h"
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static unsigned byte_at(const struct step_set *set, uint32_t at)
{
    return set ? (unsigned)(set->words[at / 8] >> (at % 8 * 8)) & 0xff : 0;
}

static uint32_t used_bytes(const struct step_set *a, const struct step_set *b)
{
    uint32_t bytes = a->size / 8 + (a->size % 8 != 0);

    while (bytes && !(byte_at(a, bytes - 1) | byte_at(b, bytes - 1)))
        bytes--;
    return bytes;
}

void step_bits_write(const struct step_set *a, const struct step_set *b, struct buf *out)
{
    uint32_t bytes = used_bytes(a, b);

    buf_reserve(out, (size_t)bytes / 3 * 4 + 5);
    for (uint32_t at = 0; at < bytes; at += 3) {
        uint32_t have = bytes - at < 3 ? bytes - at : 3;
        uint32_t triple = 0;

        for (uint32_t i = 0; i < have; i++)
            triple |= (byte_at(a, at + i) | byte_at(b, at + i)) << (16 - 8 * i);
        for (uint32_t i = 0; i < 4; i++)
            buf_char(out, i <= have ? digits[triple >> (18 - 6 * i) & 63] : '=');
    }
}

bool step_bits_read(const char *text, struct step_set *out)
{
    uint32_t at = 0, bits = 0, held = 0;

    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);

        if (!digit)
            return false;
        held = held << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        for (uint32_t i = 0; i < 8; i++)
            if (held >> bits >> i & 1)
                step_set_add(out, at * 8 + i);
        at++;
        held &= (1u << bits) - 1;
    }
    return true;
}
