/*
 * Converts sets to base64 and back. Bytes are written least significant first, so the text does not
 * depend on the byte order of the machine.
 */
#include "flow/graph/step_bitmap.h"

#include <string.h>

#include "base/encoding/base64.h"

static unsigned byte_at(const struct step_set *set, uint32_t at)
{
    return set ? (unsigned)(set->words[at / 8] >> (at % 8 * 8)) & 0xff : 0;
}

void step_bitmap_write(const struct step_set *a, const struct step_set *b, struct buf *out)
{
    scoped(buf) struct buf bytes = {0};
    uint32_t used = a->size / 8 + (a->size % 8 != 0);

    while (used && !(byte_at(a, used - 1) | byte_at(b, used - 1)))
        used--;
    for (uint32_t at = 0; at < used; at++)
        buf_char(&bytes, (char)(byte_at(a, at) | byte_at(b, at)));
    if (used)
        base64_encode(bytes.data, bytes.len, out);
}

uint32_t step_bitmap_room(const char *text)
{
    return (uint32_t)(strlen(text) / 4 + 1) * 3 * 8;
}

bool step_bitmap_read(const char *text, struct step_set *out)
{
    scoped(buf) struct buf bytes = {0};

    if (!base64_decode(text, strlen(text), &bytes))
        return false;
    for (size_t at = 0; at < bytes.len; at++)
        for (uint32_t bit = 0; bit < 8; bit++)
            if ((unsigned char)bytes.data[at] >> bit & 1)
                step_set_add(out, (uint32_t)(at * 8 + bit));
    return true;
}
