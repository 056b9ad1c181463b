/*
 * Resolves plain YAML scalars. The first byte decides which rules are tried, so most words are
 * recognised as text at once.
 */
#include "api/types/text/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { WORD = 1, NUMBER, DOT };

/* clang-format off */
static const unsigned char hints[256] = {
    ['y'] = WORD, ['Y'] = WORD, ['n'] = WORD, ['N'] = WORD, ['t'] = WORD, ['T'] = WORD, ['f'] = WORD, ['F'] = WORD,
    ['o'] = WORD, ['O'] = WORD, ['~'] = WORD, ['<'] = WORD, ['.'] = DOT, ['+'] = NUMBER, ['-'] = NUMBER,
    ['0' ... '9'] = NUMBER,
};

static const struct {
    const char *text;
    struct yaml_scalar means;
} words[] = {
    {"true", {YAML_BOOL, true}}, {"True", {YAML_BOOL, true}}, {"TRUE", {YAML_BOOL, true}},
    {"yes", {YAML_BOOL, true}}, {"Yes", {YAML_BOOL, true}}, {"YES", {YAML_BOOL, true}},
    {"on", {YAML_BOOL, true}}, {"On", {YAML_BOOL, true}}, {"ON", {YAML_BOOL, true}},
    {"y", {YAML_BOOL, true}}, {"Y", {YAML_BOOL, true}},
    {"false", {YAML_BOOL, false}}, {"False", {YAML_BOOL, false}}, {"FALSE", {YAML_BOOL, false}},
    {"no", {YAML_BOOL, false}}, {"No", {YAML_BOOL, false}}, {"NO", {YAML_BOOL, false}},
    {"off", {YAML_BOOL, false}}, {"Off", {YAML_BOOL, false}}, {"OFF", {YAML_BOOL, false}},
    {"n", {YAML_BOOL, false}}, {"N", {YAML_BOOL, false}},
    {"~", {YAML_NULL}}, {"null", {YAML_NULL}}, {"Null", {YAML_NULL}}, {"NULL", {YAML_NULL}},
    {"<<", {YAML_MERGE}},
    {".nan", {YAML_NOT_FINITE}}, {".NaN", {YAML_NOT_FINITE}}, {".NAN", {YAML_NOT_FINITE}},
    {".inf", {YAML_NOT_FINITE}}, {".Inf", {YAML_NOT_FINITE}}, {".INF", {YAML_NOT_FINITE}},
    {"+.inf", {YAML_NOT_FINITE}}, {"+.Inf", {YAML_NOT_FINITE}}, {"+.INF", {YAML_NOT_FINITE}},
    {"-.inf", {YAML_NOT_FINITE}}, {"-.Inf", {YAML_NOT_FINITE}}, {"-.INF", {YAML_NOT_FINITE}},
};
/* clang-format on */

enum { WORD_MAX = 5, NUMBER_MAX = 400 };

static bool find_word(const char *text, size_t len, struct yaml_scalar *out)
{
    if (len > WORD_MAX)
        return false;
    for (size_t i = 0; i < countof(words); i++)
        if (words[i].text[0] == text[0] && strlen(words[i].text) == len &&
            memcmp(words[i].text, text, len) == 0) {
            *out = words[i].means;
            return true;
        }
    return false;
}

/* Returns whether the text matches [-+]?(.d+|d+(.d*)?)([eE][-+]?d+)? */
static bool is_float(const char *text)
{
    text += *text == '-' || *text == '+';

    size_t whole = strspn(text, "0123456789");

    text += whole;
    if (*text == '.') {
        size_t fraction = strspn(++text, "0123456789");

        if (!whole && !fraction)
            return false;
        text += fraction;
    } else if (!whole) {
        return false;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';

        size_t digits = strspn(text, "0123456789");

        if (!digits)
            return false;
        text += digits;
    }
    return !*text;
}

/* Returns the base that the number's prefix gives and moves *digits behind the prefix, like Go's
 * ParseInt with base 0. */
static int base_of(const char **digits)
{
    const char *text = *digits;

    if (text[0] != '0' || !text[1])
        return 10;
    switch (text[1]) {
    case 'x':
    case 'X':
        *digits += 2;
        return 16;
    case 'o':
    case 'O':
        *digits += 2;
        return 8;
    case 'b':
    case 'B':
        *digits += 2;
        return 2;
    default:
        *digits += 1;
        return 8;
    }
}

static bool parse_integer(const char *text, struct yaml_scalar *out)
{
    bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    int base = base_of(&digits);
    char *end;

    if (!*digits || digits[strspn(digits, "0123456789abcdefABCDEF")])
        return false;
    errno = 0;

    unsigned long long value = strtoull(digits, &end, base);

    if (*end)
        return false;
    if (errno == ERANGE || value > (unsigned long long)INT64_MAX + negative) {
        out->type = YAML_TOO_BIG;
        return true;
    }
    out->type = YAML_INT;
    out->integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Parses a float. A whole number becomes an integer, because JSON does not distinguish them. */
static void parse_real(const char *text, struct yaml_scalar *out)
{
    out->real = strtod(text, NULL);
    if (!isfinite(out->real)) {
        out->type = YAML_NOT_FINITE;
    } else if (fabs(out->real) < 0x1p53 && out->real == trunc(out->real)) {
        out->type = YAML_INT;
        out->integer = (int64_t)out->real;
    } else {
        out->type = YAML_REAL;
    }
}

static void resolve_number(const char *text, size_t len, struct yaml_scalar *out)
{
    char plain[NUMBER_MAX + 1];
    size_t used = 0;

    if (len > NUMBER_MAX)
        return;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '_')
            plain[used++] = text[i];
    plain[used] = '\0';
    if (!parse_integer(plain, out) && is_float(plain))
        parse_real(plain, out);
}

struct yaml_scalar yaml_resolve(const char *text, size_t len)
{
    struct yaml_scalar scalar = {YAML_TEXT};

    if (!len)
        return (struct yaml_scalar){YAML_NULL};

    unsigned char hint = hints[(unsigned char)*text];

    if (!hint || find_word(text, len, &scalar))
        return scalar;
    if (hint == NUMBER || (hint == DOT && !memchr(text, '_', len)))
        resolve_number(text, len, &scalar);
    return scalar;
}
