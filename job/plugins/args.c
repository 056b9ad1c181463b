/*
 * Reads flags by a table of names, types and offsets. Ref: Go's flag.FlagSet.parseOne and
 * strconv.ParseInt.
 */
#include "job/plugins/args.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/encoding/hex.h"

/* Parses a boolean as Go does: 1 t T TRUE true True, 0 f F FALSE false False. */
static bool parse_bool(const char *text, bool *out)
{
    static const char *const words[][6] = {{"0", "f", "F", "FALSE", "false", "False"},
                                           {"1", "t", "T", "TRUE", "true", "True"}};

    for (size_t value = 0; value < 2; value++)
        for (size_t i = 0; i < countof(words[value]); i++)
            if (strcmp(text, words[value][i]) == 0) {
                *out = value;
                return true;
            }
    return false;
}

static bool is_digit(char c, int base)
{
    int digit = hex_digit(c);

    return digit >= 0 && digit < base;
}

/* Returns the base that the prefix names; `*text` moves behind it. An underscore may follow the
 * prefix. */
static int base_of(const char **text)
{
    static const struct {
        char letter;
        int base;
    } prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};

    if ((*text)[0] != '0' || (*text)[1] == '\0')
        return 10;
    for (size_t i = 0; i < countof(prefixes); i++)
        if (((*text)[1] | 0x20) == prefixes[i].letter) {
            *text += 2;
            return prefixes[i].base;
        }
    *text += 1;
    return 8;
}

/* A number as Go's ParseInt(text, 0, 64) reads it: 0x, 0o, 0b, leading 0 octal, _ between digits.
 */
static bool parse_int(const char *text, int64_t *out)
{
    bool negative = *text == '-', digit_before = false;
    int64_t value = 0;
    int base;

    if (*text == '-' || *text == '+')
        text++;
    if (*text == '\0')
        return false;
    base = base_of(&text);
    if (base != 10)
        digit_before = true; /* the prefix counts as one: 0x_1f */
    if (*text == '\0')
        return false;
    for (; *text; text++) {
        if (*text == '_') {
            if (!digit_before || !is_digit(text[1], base))
                return false;
            digit_before = false;
            continue;
        }
        if (!is_digit(*text, base) || __builtin_mul_overflow(value, base, &value) ||
            __builtin_sub_overflow(value, hex_digit(*text), &value))
            return false;
        digit_before = true;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
        return false;
    *out = value; /* summed up as a negative number, so that INT64_MIN fits */
    return true;
}

static const struct job_arg *find(const struct job_arg *table, const char *name, size_t len)
{
    for (; table->name; table++)
        if (strlen(table->name) == len && memcmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

enum { SHOWN_MAX = 32 };

/* A value as messages show it: in full when it is one short line, otherwise only its length. */
struct shown {
    char text[48];
};

static struct shown shown(const char *value)
{
    size_t len = strlen(value);
    struct shown out;

    if (len <= SHOWN_MAX && !strpbrk(value, "\r\n"))
        snprintf(out.text, sizeof out.text, "\"%s\"", value);
    else
        snprintf(out.text, sizeof out.text, "a text of %zu bytes", len);
    return out;
}

static bool store_number(const struct job_arg *arg, const char *text, void *at, struct error *err)
{
    int64_t number;

    if (!parse_int(text, &number))
        return error_set(err, ERR_INVALID, arg->name, "%s is not a whole number", shown(text).text);
    if (arg->type == ARG_PORT && (number < 1 || number > 65535))
        return error_set(err, ERR_INVALID, arg->name, "%lld is not a port; ports are 1 to 65535",
                         (long long)number);
    if (arg->type == ARG_COUNT && number < 0)
        return error_set(err, ERR_INVALID, arg->name, "%lld is negative", (long long)number);
    memcpy(at, &number, sizeof number);
    return true;
}

static bool store(const struct job_arg *arg, const char *text, void *out, struct error *err)
{
    void *at = (char *)out + arg->offset;
    bool flag;

    switch (arg->type) {
    case ARG_STR:
        memcpy(at, &text, sizeof text);
        return true;
    case ARG_BOOL:
        if (!parse_bool(text, &flag))
            return error_set(err, ERR_INVALID, arg->name,
                             "%s is not a boolean; write true or false", shown(text).text);
        memcpy(at, &flag, sizeof flag);
        return true;
    case ARG_INT:
    case ARG_PORT:
    case ARG_COUNT:
        return store_number(arg, text, at, err);
    }
    return false;
}

/* Returns the word without its dashes, or NULL when the word ends the flags. */
static const char *flag_text(const char *word)
{
    if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0)
        return NULL;
    return word + (word[1] == '-' ? 2 : 1);
}

static bool unknown_flag(const struct job_arg *table, const char *text, size_t len,
                         struct error *err)
{
    scoped(buf) struct buf known = {0};
    scoped(buf) struct buf name = {0};

    buf_add(&name, text, len);
    for (; table->name; table++)
        buf_printf(&known, "%s%s", known.len ? ", " : "", table->name);
    return error_set(err, ERR_INVALID, "", "flag %s is unknown; known flags are %s",
                     shown(name.data).text, known.data);
}

/* One flag, and the next word when that is its value. Returns the number of words used. */
static size_t read_one(const struct job_arg *table, const char *text, const char *next, void *out,
                       struct error *err)
{
    size_t len = strcspn(text, "=");
    const struct job_arg *arg = find(table, text, len);

    if (len == 0 || *text == '-') {
        error_set(err, ERR_INVALID, "", "%s is not a flag", shown(text).text);
        return 1;
    }
    if (!arg) {
        unknown_flag(table, text, len, err);
        return 1;
    }
    if (text[len] == '=') {
        store(arg, text + len + 1, out, err);
        return 1;
    }
    if (arg->type == ARG_BOOL) {
        store(arg, "true", out, err);
        return 1;
    }
    if (!next) {
        error_set(err, ERR_INVALID, arg->name, "flag needs a value");
        return 1;
    }
    store(arg, next, out, err);
    return 2;
}

void job_args_read(const struct job_arg *table, struct str_list words, void *out,
                   struct error_list *ignored)
{
    for (size_t i = 0; i < words.count;) {
        const char *text = flag_text(words.items[i]);
        struct error err = {0};

        if (!text) {
            if (ignored && strcmp(words.items[i], "--") != 0)
                error_list_add(ignored, ERR_INVALID, "",
                               "%s is not a flag; it and what follows are not read",
                               shown(words.items[i]).text);
            return;
        }
        i += read_one(table, text, i + 1 < words.count ? words.items[i + 1] : NULL, out, &err);
        if (err.code != ERR_NONE && ignored)
            error_list_append(ignored, &err);
    }
}
