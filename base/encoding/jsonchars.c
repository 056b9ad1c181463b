/*
 * UTF-8. Ref: Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#include "base/encoding/jsonchars.h"

size_t jsonchars_utf8(const unsigned char *text, size_t len)
{
    unsigned char first = text[0], low = 0x80, high = 0xBF;
    size_t need;

    if (first >= 0xC2 && first <= 0xDF) {
        need = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        need = 3;
        low = first == 0xE0 ? 0xA0 : 0x80;
        high = first == 0xED ? 0x9F : 0xBF;
    } else if (first >= 0xF0 && first <= 0xF4) {
        need = 4;
        low = first == 0xF0 ? 0x90 : 0x80;
        high = first == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (len < need || text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    }
    return need;
}
