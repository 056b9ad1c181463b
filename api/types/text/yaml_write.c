/*
 * Writes documents as block-style YAML in the form of kubectl: two spaces per level, lists not
 * indented, the simplest scalar style that the text allows. The output reads back as the same
 * document.
 */
#include <string.h>

#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "api/types/text/yaml_scalar.h"

enum { INDENT = 2, SIMPLE_KEY_MAX = 1000 /* libyaml searches only 1024 characters for the ':' */ };

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

/* Decodes one UTF-8 character: its code point in *out (0xFFFF for an invalid byte). Returns its
 * length. */
static size_t decode_char(const unsigned char *text, size_t len, uint32_t *out)
{
    static const struct {
        unsigned char mask, lead;
        size_t len;
    } forms[] = {{0x80, 0x00, 1}, {0xE0, 0xC0, 2}, {0xF0, 0xE0, 3}, {0xF8, 0xF0, 4}};

    *out = 0xFFFF;
    for (size_t i = 0; i < countof(forms); i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (forms[i].len > len)
            return 1;
        *out = text[0] & (unsigned char)~forms[i].mask;
        for (size_t j = 1; j < forms[i].len; j++)
            *out = *out << 6 | (text[j] & 0x3FU);
        return forms[i].len;
    }
    return 1;
}

/* Returns whether the character may stand unescaped in YAML text. Line separators may not, because
 * a reader would fold them. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c <= 0xD7FF && c != 0x2028 && c != 0x2029) ||
           (c >= 0xE000 && c <= 0xFFFD && c != 0xFEFF) || (c >= 0x10000 && c <= 0x10FFFF);
}

/* Properties of a text that decide its scalar style, found in one pass. */
struct traits {
    bool special; /* has characters that need double quotes */
    bool newline, tab;
    bool space_end; /* a line ends in a blank */
    bool plain;     /* has no indicator that forbids plain style */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || !c;
}

static struct traits traits_of(const char *text, size_t len)
{
    struct traits t = {.plain = true};
    uint32_t c;

    for (size_t i = 0, size; i < len; i += size) {
        size = decode_char((const unsigned char *)text + i, len - i, &c);
        if (c == '\n')
            t.newline = true;
        else if (c == '\t')
            t.tab = true;
        else if (!is_printable(c))
            t.special = true;
        if ((c == ' ' || c == '\t') && (i + 1 == len || text[i + 1] == '\n'))
            t.space_end = true;
        if ((c == ':' && is_blank(text[i + 1])) || (c == '#' && i && is_blank(text[i - 1])))
            t.plain = false;
    }
    if (!len || strchr(" ,[]{}#&*!|>'\"%@`", text[0]) || text[len - 1] == ' ' ||
        (strchr("-?:", text[0]) && is_blank(text[1])) || strncmp(text, "---", 3) == 0 ||
        strncmp(text, "...", 3) == 0)
        t.plain = false;
    return t;
}

/* Returns whether the text is a special key of YAML 1.1, "<<" (merge) or "=" (default). YAML 1.2
 * does not know them, but the text is quoted for readers that do. */
static bool is_key_word(const char *text)
{
    return strcmp(text, "<<") == 0 || strcmp(text, "=") == 0;
}

/* Returns whether YAML 1.1 readers would take the text for a date or time: 2026-01-02[T…]. */
static bool is_time(const char *text)
{
    static const char digits[] = "0123456789";
    size_t month, day;

    if (strspn(text, digits) != 4 || text[4] != '-')
        return false;
    month = strspn(text + 5, digits);
    if (month < 1 || month > 2 || text[5 + month] != '-')
        return false;
    text += 6 + month;
    day = strspn(text, digits);
    return (day == 1 || day == 2) && strchr("Tt ", text[day]);
}

static enum style style_of(const char *text, size_t len, bool key)
{
    struct traits t = traits_of(text, len);

    if (t.special)
        return DOUBLE;
    if (t.newline)
        return !key && !t.space_end && text[0] != '\n' && text[0] != ' ' && text[0] != '\t'
                   ? LITERAL
                   : DOUBLE;
    if (t.tab)
        return DOUBLE;
    if (yaml_resolve(text, len).type != YAML_TEXT || is_time(text) || is_key_word(text))
        return DOUBLE;
    return t.plain ? PLAIN : SINGLE;
}

static void write_spaces(struct buf *out, size_t count)
{
    while (count--)
        buf_char(out, ' ');
}

static void write_single(const char *text, struct buf *out)
{
    buf_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_char(out, '\'');
        buf_char(out, *text);
    }
    buf_char(out, '\'');
}

static void write_double(const char *text, size_t len, struct buf *out)
{
    static const char from[] = "\"\\\n\t\r\b\f\v\a\033", to[] = "\"\\ntrbfvae";
    uint32_t c;

    buf_char(out, '"');
    for (size_t i = 0, size; i < len; i += size) {
        const char *named;

        size = decode_char((const unsigned char *)text + i, len - i, &c);
        named = c && c < 0x80 ? strchr(from, (int)c) : NULL;
        if (named)
            buf_printf(out, "\\%c", to[named - from]);
        else if (is_printable(c))
            buf_add(out, text + i, size);
        else
            buf_printf(out,
                       c < 0x100     ? "\\x%02x"
                       : c < 0x10000 ? "\\u%04x"
                                     : "\\U%08x",
                       (unsigned)c);
    }
    buf_char(out, '"');
}

/* Writes a literal block: "|", "|-" or "|+" depending on how the text ends, then its lines. */
static void write_literal(const char *text, size_t len, size_t indent, struct buf *out)
{
    const char *end = text + len;

    buf_char(out, '|');
    if (end[-1] != '\n')
        buf_char(out, '-');
    else if (len > 1 && end[-2] == '\n')
        buf_char(out, '+');
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        buf_char(out, '\n');
        if (stop > text)
            write_spaces(out, indent);
        buf_add(out, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

static void write_text(const char *text, size_t len, size_t indent, bool key, struct buf *out)
{
    switch (style_of(text, len, key)) {
    case PLAIN:
        buf_add(out, text, len);
        break;
    case SINGLE:
        write_single(text, out);
        break;
    case DOUBLE:
        write_double(text, len, out);
        break;
    case LITERAL:
        write_literal(text, len, indent, out);
        break;
    }
}

static bool is_filled(const json_t *value)
{
    return json_object_size(value) || json_array_size(value);
}

static void write_inline(const json_t *value, size_t indent, struct buf *out)
{
    if (json_is_string(value))
        write_text(json_string_value(value), json_string_length(value), indent, false, out);
    else /* null, a boolean, a number, {} and [] are written as in JSON */
        json_text(value, out);
}

static void write_block(const json_t *value, size_t indent, struct buf *out);

/* Writes the value after "- ", "? " or ": ". Its first line continues the current one; the others
 * are indented. */
static void write_behind_mark(const json_t *value, size_t indent, struct buf *out)
{
    if (is_filled(value)) {
        write_block(value, indent + INDENT, out);
    } else {
        write_inline(value, indent + INDENT, out);
        buf_char(out, '\n');
    }
}

static void write_member(const char *key, const json_t *value, size_t indent, struct buf *out)
{
    size_t len = strlen(key), start = out->len;

    write_text(key, len, indent, true, out);
    /* Quotes and escapes count, too: a key of 300 tabs takes 602 characters. */
    if (out->len - start > SIMPLE_KEY_MAX) {
        out->len = start;
        buf_str(out, "? ");
        write_double(key, len, out);
        buf_char(out, '\n');
        write_spaces(out, indent);
        buf_str(out, ": ");
        write_behind_mark(value, indent, out);
        return;
    }
    buf_char(out, ':');
    if (is_filled(value)) {
        size_t inner = json_is_array(value) ? indent : indent + INDENT;

        buf_char(out, '\n');
        write_spaces(out, inner);
        write_block(value, inner, out);
    } else {
        buf_char(out, ' ');
        write_inline(value, indent + INDENT, out);
        buf_char(out, '\n');
    }
}

/* Writes a non-empty container. Its first line is already indented. */
static void write_block(const json_t *value, size_t indent, struct buf *out)
{
    const char *key;
    json_t *member;
    size_t i;
    bool first = true;

    json_array_foreach(value, i, member)
    {
        if (i)
            write_spaces(out, indent);
        buf_str(out, "- ");
        write_behind_mark(member, indent, out);
    }
    json_object_foreach((json_t *)value, key, member)
    {
        if (!first)
            write_spaces(out, indent);
        first = false;
        write_member(key, member, indent, out);
    }
}

void yaml_write(const json_t *doc, struct buf *out)
{
    if (is_filled(doc)) {
        write_block(doc, 0, out);
    } else {
        write_inline(doc, INDENT, out);
        buf_char(out, '\n');
    }
}
