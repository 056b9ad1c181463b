/*
 * One pass over the bytes, with a count of the open brackets.
 */
#include "base/encoding/jsonscan.h"

#include <ctype.h>
#include <string.h>

#include "base/encoding/jsonchars.h"
#include "base/timefmt.h"

/* Returns the position behind the string that begins at `p`. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

const char *jsonscan_skip(const char *p)
{
    size_t depth = 0;

    while (*p)
        switch (*p) {
        case '"':
            p = skip_string(p);
            break;
        case '{':
        case '[':
            depth++;
            p++;
            break;
        case '}':
        case ']':
            if (!depth)
                return p;
            depth--;
            p++;
            break;
        case ',':
            if (!depth)
                return p;
            p++;
            break;
        default:
            p++;
        }
    return p;
}

bool jsonscan_next_key(const char *at, struct jsonscan_member *out)
{
    const char *key = at + 1, *behind;

    if ((*at != '{' && *at != ',') || *key != '"')
        return false;
    behind = skip_string(key);
    if (*behind != ':')
        return false;
    out->key = key + 1;
    out->key_len = (size_t)(behind - key) - 2;
    out->value = behind + 1;
    return true;
}

bool jsonscan_next_member(const char **at, struct jsonscan_member *out)
{
    if (!jsonscan_next_key(*at, out))
        return false;
    out->end = *at = jsonscan_skip(out->value);
    return true;
}

bool jsonscan_key_is(const struct jsonscan_member *member, const char *key)
{
    return strlen(key) == member->key_len && memcmp(member->key, key, member->key_len) == 0;
}

const char *jsonscan_member(const char *object, const char *key)
{
    struct jsonscan_member member;

    if (!object || *object != '{')
        return NULL;
    for (; jsonscan_next_key(object, &member); object = jsonscan_skip(member.value))
        if (jsonscan_key_is(&member, key))
            return member.value; /* The end is not searched for, because the value may be large. */
    return NULL;
}

const char *jsonscan_next_element(const char **at)
{
    const char *element = *at + 1;

    if ((**at != '[' && **at != ',') || !*element || *element == ']')
        return NULL;
    *at = jsonscan_skip(element);
    return element;
}

const char *jsonscan_string(const char *value, size_t *out_len)
{
    size_t len;

    if (*value != '"')
        return NULL;
    len = strcspn(value + 1, "\"\\");
    if (value[1 + len] != '"')
        return NULL;
    *out_len = len;
    return value + 1;
}

bool jsonscan_time(const char *value, int64_t *out_ms)
{
    size_t len = 0;
    const char *text = value ? jsonscan_string(value, &len) : NULL;
    char time[TIME_TEXT_MAX];

    if (!text || len >= sizeof time)
        return false;
    memcpy(time, text, len);
    time[len] = '\0';
    return time_parse(time, out_ms, NULL);
}

int64_t jsonscan_duration(const char *value)
{
    char text[TIME_TEXT_MAX];
    size_t len = 0;
    int64_t ns;

    value = value ? jsonscan_string(value, &len) : NULL;
    if (!value || len >= sizeof text)
        return -1;
    memcpy(text, value, len);
    text[len] = '\0';
    return duration_parse(text, &ns, NULL) && ns >= 0 ? ns / 1000000 : -1;
}

/* A position in a text that is checked. */
struct checked {
    const unsigned char *text;
    size_t at, len;
};

static bool is_next(struct checked *c, char wanted)
{
    if (c->at >= c->len || c->text[c->at] != (unsigned char)wanted)
        return false;
    c->at++;
    return true;
}

static bool check_escape(struct checked *c)
{
    enum { HEX_DIGITS = 4 };
    char kind = c->at < c->len ? (char)c->text[c->at++] : '\0';

    if (kind != 'u')
        return kind && strchr("\"\\/bfnrt", kind);
    for (int i = 0; i < HEX_DIGITS; i++, c->at++)
        if (c->at >= c->len || !isxdigit(c->text[c->at]))
            return false;
    return true;
}

static bool check_string(struct checked *c)
{
    if (!is_next(c, '"'))
        return false;
    for (;;) {
        size_t wide;

        c->at = jsonchars_plain(c->text, c->at, c->len);
        if (c->at >= c->len || c->text[c->at] < 0x20)
            return false;
        if (is_next(c, '"'))
            return true;
        if (is_next(c, '\\')) {
            if (!check_escape(c))
                return false;
            continue;
        }
        wide = jsonchars_utf8(c->text + c->at, c->len - c->at);
        if (!wide)
            return false;
        c->at += wide;
    }
}

static bool check_digits(struct checked *c)
{
    size_t from = c->at;

    while (c->at < c->len && isdigit(c->text[c->at]))
        c->at++;
    return c->at > from;
}

static bool check_number(struct checked *c)
{
    is_next(c, '-');
    if (!is_next(c, '0') && !check_digits(c))
        return false;
    if (is_next(c, '.') && !check_digits(c))
        return false;
    if (!is_next(c, 'e') && !is_next(c, 'E'))
        return true;
    if (!is_next(c, '-'))
        is_next(c, '+');
    return check_digits(c);
}

/* Checks a value that is neither an object nor a list. */
static bool check_scalar(struct checked *c)
{
    static const char *const words[] = {"true", "false", "null"};

    if (c->at < c->len && c->text[c->at] == '"')
        return check_string(c);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);

        if (c->len - c->at >= n && memcmp(c->text + c->at, words[i], n) == 0) {
            c->at += n;
            return true;
        }
    }
    return check_number(c);
}

bool jsonscan_is_object(const char *text, size_t len)
{
    struct checked c = {(const unsigned char *)text, 0, len};
    char closing[JSONSCAN_DEPTH];
    size_t depth = 0;

    if (!len || *text != '{')
        return false;
    do {
        bool list = is_next(&c, '[');

        if (list || is_next(&c, '{')) { /* an object or list begins */
            if (depth == JSONSCAN_DEPTH)
                return false;
            closing[depth++] = list ? ']' : '}';
            if (!is_next(&c, closing[depth - 1])) {
                if (!list && (!check_string(&c) || !is_next(&c, ':')))
                    return false;
                continue;
            }
            depth--;
        } else if (!check_scalar(&c)) {
            return false;
        }
        while (depth && is_next(&c, closing[depth - 1])) /* a value has ended */
            depth--;
        if (depth && !is_next(&c, ','))
            return false;
        if (depth && closing[depth - 1] == '}' && (!check_string(&c) || !is_next(&c, ':')))
            return false;
    } while (depth);
    return c.at == len;
}
