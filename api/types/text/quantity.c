/*
 * Parses and prints quantities: a sign, digits, and a suffix that is a power of ten, a power of
 * 1024 or an exponent.
 *
 * Values finer than 10^-9 are rounded away from zero, values larger than 2^63-1 are capped. Ref:
 * apimachinery pkg/api/resource quantity.go.
 */
#include "api/types/text/quantity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DIGITS_DECIMAL = 28, /* 19 before and 9 after the point */
    DIGITS_BINARY = 19,  /* times 2^60 still fits into 127 bits */
    NANO_EXPONENT = 9,
};

/* clang-format off */
static const struct suffix {
    const char *text;
    int exponent; /* power of ten; power of two for a binary suffix */
    bool binary;
} suffixes[] = {
    {"n", -9, false}, {"u", -6, false}, {"m", -3, false}, {"", 0, false}, {"k", 3, false}, {"M", 6, false},
    {"G", 9, false}, {"T", 12, false}, {"P", 15, false}, {"E", 18, false},
    {"Ki", 10, true}, {"Mi", 20, true}, {"Gi", 30, true}, {"Ti", 40, true}, {"Pi", 50, true}, {"Ei", 60, true},
};
/* clang-format on */

static quantity_nano cap(void)
{
    return (quantity_nano)INT64_MAX * 1000000000;
}

/* The value mantissa · 10^exponent. `rest`: a non-zero digit after the mantissa was dropped. */
struct digits {
    quantity_nano mantissa;
    int exponent;
    bool rest;
};

/* Reads the digits of `text`, at most `most` significant ones. *end is the end of the digits, NULL
 * when there are none. */
static struct digits scan_digits(const char *text, int most, const char **end)
{
    struct digits d = {0};
    bool point = false, any = false;
    int significant = 0;

    for (;; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)*text))
            break;
        any = true;
        if (significant < most) {
            d.mantissa = d.mantissa * 10 + (*text - '0');
            significant += d.mantissa != 0;
            d.exponent -= point;
        } else {
            d.rest |= *text != '0';
            d.exponent += !point;
        }
    }
    *end = any ? text : NULL;
    return d;
}

static const struct suffix *find_suffix(const char *text)
{
    for (size_t i = 0; i < countof(suffixes); i++)
        if (strcmp(text, suffixes[i].text) == 0)
            return &suffixes[i];
    return NULL;
}

/* Parses "e3" or "E-2". Very large exponents are cut to ±1000. */
static bool parse_exponent(const char *text, int *out)
{
    char *end;

    if (*text != 'e' && *text != 'E')
        return false;
    if (!isdigit((unsigned char)text[1]) && text[1] != '+' && text[1] != '-')
        return false;

    long value = strtol(text + 1, &end, 10);

    if (*end || !isdigit((unsigned char)end[-1]))
        return false;
    *out = value > 1000 ? 1000 : value < -1000 ? -1000 : (int)value;
    return true;
}

/* Returns |mantissa · 10^exponent · 2^shift| in units of 10^-9, rounded up and capped. */
static quantity_nano scale(struct digits d, int exponent, int shift)
{
    quantity_nano value = d.mantissa << shift;

    exponent += d.exponent + NANO_EXPONENT;
    for (; exponent > 0 && value && value < cap(); exponent--)
        value *= 10;
    for (; exponent < 0 && (value || d.rest); exponent++) {
        d.rest |= value % 10 != 0;
        value /= 10;
        if (!value)
            break;
    }
    value += d.rest;
    return value < cap() ? value : cap();
}

/* Says how to write a number of bytes whose unit is that of everyday use, such as "1GB" or "64 mb".
 * Returns false for any other unit. */
static bool suggest_unit(const char *text, const char *unit, char *out, size_t room)
{
    static const char letters[] = "kmgtpe";
    size_t number = (size_t)(unit - text);
    const char *letter;
    bool binary;

    unit += strspn(unit, " ");
    letter = *unit ? strchr(letters, tolower((unsigned char)*unit)) : NULL;
    if (!letter)
        return false;
    unit++;
    binary = tolower((unsigned char)*unit) == 'i';
    unit += binary;
    if (strcasecmp(unit, "b") != 0 && strcasecmp(unit, "bytes") != 0 && *unit)
        return false;

    const char large = (char)toupper((unsigned char)*letter);

    if (binary)
        snprintf(out, room, "%.*s%ci", (int)number, text, large);
    else
        snprintf(out, room, "%.*s%c or %.*s%ci", (int)number, text, large == 'K' ? 'k' : large,
                 (int)number, text, large);
    return true;
}

/* Reports a wrong quantity. `unit` is the end of the digits of `text`; NULL: it has none. */
static bool refuse(const char *text, const char *unit, struct error *err)
{
    char instead[128];
    bool clear = unit && unit - text < 32 && suggest_unit(text, unit, instead, sizeof instead);

    return error_set(err, ERR_INVALID, "",
                     "\"%.64s\": quantities must match the regular expression "
                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', %s %s",
                     text, clear ? "write" : "for example", clear ? instead : "500m, 2 or 64Mi");
}

bool quantity_parse(const char *text, quantity_nano *out, struct error *err)
{
    bool negative = *text == '-';
    const char *first = text + (*text == '-' || *text == '+');
    const char *end = NULL;
    struct digits digits = scan_digits(first, DIGITS_DECIMAL, &end);
    const struct suffix *suffix = end ? find_suffix(end) : NULL;
    int exponent = 0, shift = 0;

    if (suffix && suffix->binary) {
        digits = scan_digits(first, DIGITS_BINARY, &end);
        shift = suffix->exponent;
    } else if (suffix) {
        exponent = suffix->exponent;
    } else if (!end || !parse_exponent(end, &exponent)) {
        return refuse(text, end, err);
    }

    quantity_nano value = scale(digits, exponent, shift);

    *out = negative ? -value : value;
    return true;
}

int quantity_compare(quantity_nano a, quantity_nano b)
{
    return (a > b) - (a < b);
}

static int64_t divided_up(quantity_nano value, int64_t unit)
{
    quantity_nano whole = value / unit;

    if (value % unit)
        whole += value > 0 ? 1 : -1;
    return whole > INT64_MAX ? INT64_MAX : whole < INT64_MIN ? INT64_MIN : (int64_t)whole;
}

int64_t quantity_milli(quantity_nano value)
{
    return divided_up(value, 1000000);
}

int64_t quantity_whole(quantity_nano value)
{
    return divided_up(value, 1000000000);
}

/* Prints a whole number of at least 1024 with the largest power of 1024 that divides it. */
static void print_binary(int64_t whole, char out[QUANTITY_TEXT_MAX])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t unit = 0;

    while (unit + 1 < countof(units) && whole % 1024 == 0) {
        whole /= 1024;
        unit++;
    }
    snprintf(out, QUANTITY_TEXT_MAX, "%lld%s", (long long)whole, units[unit]);
}

static void print_decimal(quantity_nano value, char out[QUANTITY_TEXT_MAX])
{
    static const char *const units[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    size_t unit = 0;

    while (unit + 1 < countof(units) && value % 1000 == 0) {
        value /= 1000;
        unit++;
    }

    /* Digits are written from the end of the buffer to the front, because printf takes no 128-bit
     * integer. */
    char digits[QUANTITY_TEXT_MAX];
    char *first = digits + sizeof digits;
    bool negative = value < 0;

    *--first = '\0';
    for (quantity_nano rest = negative ? -value : value; rest; rest /= 10)
        *--first = (char)('0' + (int)(rest % 10));
    snprintf(out, QUANTITY_TEXT_MAX, "%s%s%s", negative ? "-" : "", first, units[unit]);
}

void quantity_print(quantity_nano value, enum quantity_format format, char out[QUANTITY_TEXT_MAX])
{
    int64_t whole = quantity_whole(value);

    if (!value)
        snprintf(out, QUANTITY_TEXT_MAX, "0");
    else if (format == QUANTITY_BINARY && (whole >= 1024 || whole <= -1024))
        print_binary(whole, out);
    else
        print_decimal(value, out);
}
