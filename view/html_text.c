/*
 * Escapes text for HTML, for content and for attributes in double quotes.
 */
#include "view/html_text.h"

#include <stdint.h>
#include <string.h>

#include "base/encoding/jsonchars.h"

/* Returns the code point of a well-formed UTF-8 sequence of two to four bytes. */
static uint32_t decode(const unsigned char *text, size_t len)
{
    uint32_t code = text[0] & (0xffu >> (len + 1));

    for (size_t i = 1; i < len; i++)
        code = code << 6 | (text[i] & 0x3f);
    return code;
}

static bool is_hidden(uint32_t code)
{
    return (code < ' ' && code != '\n' && code != '\t') || (code >= 0x7f && code <= 0x9f) ||
           code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void add_ascii(unsigned char c, struct buf *out)
{
    static const char special[] = "<>&\"'";
    static const char *const escaped[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    const char *found = c ? strchr(special, c) : NULL;

    if (found)
        buf_str(out, escaped[found - special]);
    else
        buf_char(out, (char)c);
}

void html_text(const char *text, size_t len, struct buf *out)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t at = 0, n; at < len; at += n) {
        uint32_t code;

        n = bytes[at] < 0x80 ? 1 : jsonchars_utf8(bytes + at, len - at);
        code = n == 0 ? 0xfffd : n == 1 ? bytes[at] : decode(bytes + at, n);
        if (n == 0) {
            buf_str(out, "\xef\xbf\xbd");
            n = 1;
        } else if (is_hidden(code)) {
            buf_printf(out, "[U+%04X]", code);
        } else if (n == 1) {
            add_ascii(bytes[at], out);
        } else {
            buf_add(out, bytes + at, n);
        }
    }
}
