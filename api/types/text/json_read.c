/*
 * Reads JSON text into a jansson document: one pass that checks, counts and builds.
 *
 * jansson's own reader takes the text byte by byte, which is most of the cost of creating an
 * object; this reader is faster and builds the same tree. It checks the limits while it reads, so a
 * hostile text never builds a tree beyond them. It scans strings eight bytes at a time and copies
 * only those with escapes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "base/encoding/hex.h"
#include "base/encoding/jsonchars.h"
#include "base/mem.h"

#define MIB ((size_t)1 << 20)

enum { PATH_BYTES_MAX = 200 }; /* longest path shown for a duplicate member */

const struct json_limits json_limits_body = {3 * MIB, 128, 200000};
const struct json_limits json_limits_flow = {64 * MIB, 128, 16000000};

/* The position of a value in the tree: a chain through its objects and lists up to the root. */
struct position {
    const struct position *up;
    const char *name; /* name of the member, [len]; NULL: an entry of a list */
    size_t len, index;
};

struct reader {
    const char *text, *at, *end;
    const struct json_limits *limits;
    const struct position *place;
    struct error_list *duplicates; /* duplicate members are reported here; NULL: they are errors */
    size_t depth, values;
    struct buf scratch; /* strings with escapes, numbers with fractions */
    struct error *err;
    bool failed; /* the error is set */
};

static json_t *read_value(struct reader *r);

static json_t *read_at(struct reader *r, const struct position *here)
{
    json_t *value;

    r->place = here;
    value = read_value(r);
    r->place = here->up;
    return value;
}

static void *fail_at(struct reader *r, const char *at, const char *why)
{
    size_t line = 1;
    const char *begin = r->text;

    if (r->failed)
        return NULL;
    r->failed = true;
    for (const char *end; (end = memchr(begin, '\n', (size_t)(at - begin))); begin = end + 1)
        line++;
    error_set(r->err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s", line,
              (size_t)(at - begin) + 1, why);
    return NULL;
}

static void *fail(struct reader *r, const char *why)
{
    return fail_at(r, r->at, r->at < r->end ? why : "the text ends too early");
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

static bool take_char(struct reader *r, char c)
{
    if (r->at >= r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool is_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* Returns the value of the four hex digits at r->at; -1 if they are not hex digits. */
static int32_t hex_unit(struct reader *r)
{
    int32_t unit = 0;

    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(r->at[i]);

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    r->at += 4;
    return unit;
}

static void add_utf8(struct buf *out, uint32_t code)
{
    if (code < 0x80) {
        buf_char(out, (char)code);
    } else if (code < 0x800) {
        buf_char(out, (char)(0xC0 | code >> 6));
        buf_char(out, (char)(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) {
        buf_char(out, (char)(0xE0 | code >> 12));
        buf_char(out, (char)(0x80 | (code >> 6 & 0x3F)));
        buf_char(out, (char)(0x80 | (code & 0x3F)));
    } else {
        buf_char(out, (char)(0xF0 | code >> 18));
        buf_char(out, (char)(0x80 | (code >> 12 & 0x3F)));
        buf_char(out, (char)(0x80 | (code >> 6 & 0x3F)));
        buf_char(out, (char)(0x80 | (code & 0x3F)));
    }
}

/* Reads what follows "\u": one character, or a surrogate pair that forms one. */
static bool read_unicode(struct reader *r)
{
    const char *begin = r->at;
    int32_t high = hex_unit(r), low = 0;
    uint32_t code = (uint32_t)high;

    if (high < 0)
        return fail_at(r, begin, "\\u without four hexadecimal digits");
    if (high == 0)
        return fail_at(r, begin, "\\u0000 is not allowed");
    if (high >= 0xD800 && high < 0xE000) {
        if (high < 0xDC00 && take_char(r, '\\') && take_char(r, 'u'))
            low = hex_unit(r);
        if (low < 0xDC00 || low >= 0xE000)
            return fail_at(r, begin, "half a character (an unpaired surrogate)");
        code = 0x10000 + (((uint32_t)high - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    }
    add_utf8(&r->scratch, code);
    return true;
}

static bool read_escape(struct reader *r)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *known;

    if (r->at >= r->end)
        return fail(r, "");
    if (*r->at == 'u') {
        r->at++;
        return read_unicode(r);
    }
    known = *r->at ? strchr(letters, *r->at) : NULL;
    if (!known)
        return fail(r, "an unknown escape");
    buf_char(&r->scratch, means[known - letters]);
    r->at++;
    return true;
}

/* Reads the escape or multi-byte character at `r->at` within a string. Returns false with an error
 * for a control character and for invalid UTF-8. */
static bool pass_special(struct reader *r, const char **plain)
{
    size_t wide;

    if (*r->at == '\\') {
        buf_add(&r->scratch, *plain, (size_t)(r->at - *plain));
        r->at++;
        if (!read_escape(r))
            return false;
        *plain = r->at;
        return true;
    }
    if ((unsigned char)*r->at < 0x20)
        return fail(r, "a control character in a string");
    wide = jsonchars_utf8((const unsigned char *)r->at, (size_t)(r->end - r->at));
    if (!wide)
        return fail(r, "bytes that are no UTF-8");
    r->at += wide;
    return true;
}

/* Reads the string after an opening quote. Returns it in place in the text or, if it has escapes,
 * in the scratch buffer; borrowed until the next call. NULL with an error if it is not a string. */
static const char *read_string(struct reader *r, size_t *out_len)
{
    const char *begin = r->at, *plain = begin;

    buf_clear(&r->scratch);
    for (;;) {
        r->at += jsonchars_plain((const unsigned char *)r->at, 0, (size_t)(r->end - r->at));
        if (r->at >= r->end)
            return fail(r, "");
        if (*r->at == '"')
            break;
        if (!pass_special(r, &plain))
            return NULL;
    }
    if (plain != begin) {
        buf_add(&r->scratch, plain, (size_t)(r->at - plain));
        begin = r->scratch.data;
        *out_len = r->scratch.len;
    } else {
        *out_len = (size_t)(r->at - begin);
    }
    r->at++;
    return begin;
}

static json_t *read_real(struct reader *r, const char *begin)
{
    double value;

    buf_clear(&r->scratch);
    buf_add(&r->scratch, begin, (size_t)(r->at - begin));
    value = strtod(r->scratch.data, NULL);
    return isfinite(value) ? json_real(value) : fail_at(r, begin, "a number that is too large");
}

static bool pass_digits(struct reader *r)
{
    if (!is_digit(r))
        return false;
    while (is_digit(r))
        r->at++;
    return true;
}

/* Reads the optional fraction and exponent of a number. Returns false if one is malformed. */
static bool pass_fraction(struct reader *r, bool *out_real)
{
    *out_real = false;
    if (take_char(r, '.')) {
        *out_real = true;
        if (!pass_digits(r))
            return false;
    }
    if (take_char(r, 'e') || take_char(r, 'E')) {
        *out_real = true;
        if (!take_char(r, '-'))
            take_char(r, '+');
        return pass_digits(r);
    }
    return true;
}

static json_t *read_number(struct reader *r)
{
    const char *begin = r->at;
    bool negative = take_char(r, '-'), overflow = false, zero = is_digit(r) && *r->at == '0', real;
    int64_t value = 0;

    if (!is_digit(r))
        return fail(r, "a value was expected");
    for (; is_digit(r); r->at++) {
        int digit = *r->at - '0';

        overflow |= __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, negative ? -digit : digit, &value);
        if (zero && r->at > begin + negative)
            return fail(r, "a number that begins with 0");
    }
    if (!pass_fraction(r, &real))
        return fail(r, "digits were expected");
    if (real)
        return read_real(r, begin);
    return overflow ? fail_at(r, begin, "an integer beyond 64 bits") : json_integer(value);
}

static bool enter(struct reader *r)
{
    if (++r->depth > r->limits->max_depth) {
        r->failed = true;
        return error_set(r->err, ERR_BAD_REQUEST, "",
                         "the JSON text is nested deeper than %zu levels", r->limits->max_depth);
    }
    r->at++;
    skip_space(r);
    return true;
}

/* Reads the separator after an entry. Returns true when another entry follows. */
static bool has_next(struct reader *r, char close, const char *why)
{
    skip_space(r);
    if (take_char(r, ',')) {
        skip_space(r);
        return true;
    }
    if (!take_char(r, close))
        fail(r, why);
    return false;
}

static json_t *read_list(struct reader *r)
{
    scoped(json) json_t *list = NULL;

    if (!enter(r))
        return NULL;
    list = json_array();
    if (!take_char(r, ']'))
        do {
            const struct position here = {.up = r->place, .index = json_array_size(list)};
            json_t *entry = read_at(r, &here);

            if (!entry)
                return NULL;
            json_array_append_new(list, entry);
        } while (has_next(r, ']', "',' or ']' was expected"));
    r->depth--;
    return r->failed ? NULL : take(list);
}

static void add_path(const struct position *place, struct buf *out)
{
    if (!place)
        return;
    add_path(place->up, out);
    if (out->len > PATH_BYTES_MAX)
        return;
    if (place->name)
        buf_printf(out, "%s%.*s", out->len ? "." : "",
                   (int)(place->len < PATH_BYTES_MAX ? place->len : PATH_BYTES_MAX), place->name);
    else
        buf_printf(out, "[%zu]", place->index);
}

/* Reports a duplicate member; its later value has replaced the earlier one. */
static bool report_duplicate(struct reader *r, const struct position *here, const char *at)
{
    scoped(buf) struct buf path = {0};

    if (!r->duplicates)
        return fail_at(r, at, "duplicate object key");
    if (r->duplicates->count < ERROR_LIST_MAX)
        add_path(here, &path);
    error_list_add(r->duplicates, ERR_BAD_REQUEST, path.data ? path.data : "",
                   "duplicate field \"%s\"", path.data ? path.data : "");
    return true;
}

/* Reads one member, its name and its value. The object copies the name before the value is read,
 * because the name may be in the scratch buffer. */
static bool read_member(struct reader *r, json_t *object)
{
    const char *begin = r->at, *key;
    size_t before = json_object_size(object);
    struct position here = {.up = r->place};
    scoped_str copy = NULL;
    json_t *value;

    if (!take_char(r, '"'))
        return fail(r, "the name of a member was expected");
    key = read_string(r, &here.len);
    if (!key)
        return false;
    if (key == r->scratch.data) {
        copy = buf_take(&r->scratch);
        key = copy;
    }
    here.name = key;
    skip_space(r);
    if (!take_char(r, ':'))
        return fail(r, "':' was expected");
    value = read_at(r, &here);
    if (!value)
        return false;
    json_object_setn_new_nocheck(object, key, here.len, value);
    return json_object_size(object) > before || report_duplicate(r, &here, begin);
}

static json_t *read_object(struct reader *r)
{
    scoped(json) json_t *object = NULL;

    if (!enter(r))
        return NULL;
    object = json_object();
    if (!take_char(r, '}'))
        do {
            if (!read_member(r, object))
                return NULL;
        } while (has_next(r, '}', "',' or '}' was expected"));
    r->depth--;
    return r->failed ? NULL : take(object);
}

static json_t *read_word(struct reader *r, const char *word, json_t *value)
{
    size_t len = strlen(word);

    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return fail(r, "a value was expected");
    r->at += len;
    return value;
}

static json_t *read_text(struct reader *r)
{
    const char *text;
    size_t len = 0;

    r->at++;
    text = read_string(r, &len);
    return text ? json_stringn_nocheck(text, len) : NULL;
}

static json_t *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at >= r->end)
        return fail(r, "");
    if (++r->values > r->limits->max_values) {
        r->failed = true;
        error_set(r->err, ERR_BAD_REQUEST, "", "the JSON text holds more than %zu values",
                  r->limits->max_values);
        return NULL;
    }
    switch (*r->at) {
    case '{':
        return read_object(r);
    case '[':
        return read_list(r);
    case '"':
        return read_text(r);
    case 't':
        return read_word(r, "true", json_true());
    case 'f':
        return read_word(r, "false", json_false());
    case 'n':
        return read_word(r, "null", json_null());
    default:
        return read_number(r);
    }
}

json_t *json_parse_lenient(const char *text, size_t len, const struct json_limits *limits,
                           struct error_list *duplicates, struct error *err)
{
    struct reader r = {.text = text,
                       .at = text,
                       .end = text + len,
                       .limits = limits,
                       .duplicates = duplicates,
                       .err = err};
    json_t *doc = NULL;

    if (len > limits->max_bytes) {
        error_set(err, ERR_TOO_LARGE, "", "%zu bytes of JSON text: the limit is %zu", len,
                  limits->max_bytes);
        return NULL;
    }
    doc = read_value(&r);
    skip_space(&r);
    if (doc && r.at < r.end) {
        json_decref(doc);
        doc = fail(&r, "end of file expected");
    }
    buf_release(&r.scratch);
    return doc;
}

json_t *json_parse(const char *text, size_t len, const struct json_limits *limits,
                   struct error *err)
{
    return json_parse_lenient(text, len, limits, NULL, err);
}

json_t *json_read(const char *text, size_t len)
{
    static const struct json_limits any = {SIZE_MAX, 2048, SIZE_MAX};

    return json_parse(text, len, &any, NULL);
}
