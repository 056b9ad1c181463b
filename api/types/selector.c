/*
 * Label selectors: a recursive-descent parser, and matching requirement by requirement.
 *
 *   selector    = [ requirement { "," requirement } ]
 *   requirement = "!" key | key
 *               | key ("=" | "==" | "!=" | ">" | "<") value
 *               | key ("in" | "notin") "(" value { "," value } ")"
 *
 * The error texts are those of Kubernetes. Ref: apimachinery pkg/labels/selector.go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/labels.h"
#include "base/mem.h"

/* Longest selector, and most requirements in it (L-31). */
enum { TEXT_MAX = 4096, REQUIREMENTS_MAX = 64 };

enum op { OP_EXISTS, OP_ABSENT, OP_IN, OP_NOT_IN, OP_GREATER, OP_LESS };

struct requirement {
    enum op op;
    char *key;
    char **values; /* values of the requirement, [count] */
    size_t count, cap;
    int64_t number; /* the operand of > and < */
};

struct selector {
    struct requirement items[REQUIREMENTS_MAX];
    size_t count;
};

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_OPERATOR, /* = == != > < */
};

struct parser {
    const char *at;
    enum token token;
    const char *text; /* text of the current token */
    size_t len;
    struct error *err;
};

static void next_token(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
    p->text = p->at;
    switch (*p->at) {
    case '\0':
        p->token = TOKEN_END;
        break;
    case ',':
        p->token = TOKEN_COMMA;
        break;
    case '(':
        p->token = TOKEN_OPEN;
        break;
    case ')':
        p->token = TOKEN_CLOSE;
        break;
    case '!':
        p->token = p->at[1] == '=' ? TOKEN_OPERATOR : TOKEN_NOT;
        break;
    case '=':
    case '>':
    case '<':
        p->token = TOKEN_OPERATOR;
        break;
    default:
        p->token = TOKEN_WORD;
        break;
    }
    if (p->token == TOKEN_WORD)
        p->len = strcspn(p->at, "=!(),>< \t\r\n");
    else if (p->token == TOKEN_OPERATOR)
        p->len = 1 + (p->at[0] != '>' && p->at[0] != '<' && p->at[1] == '=');
    else
        p->len = p->token != TOKEN_END;
    p->at += p->len;
}

static bool unexpected(struct parser *p, const char *expected)
{
    return error_set(p->err, ERR_BAD_REQUEST, "",
                     "unable to parse requirement: found '%.*s', expected: %s", (int)p->len,
                     p->text, expected);
}

static bool token_is(const struct parser *p, const char *text)
{
    return p->len == strlen(text) && memcmp(p->text, text, p->len) == 0;
}

static char *take_text(struct parser *p)
{
    char *text = mem_alloc(p->len + 1);

    memcpy(text, p->text, p->len);
    next_token(p);
    return text;
}

static bool parse_key(struct parser *p, struct requirement *r)
{
    struct error why = {0};

    if (p->token != TOKEN_WORD)
        return unexpected(p, "identifier");
    r->key = take_text(p);
    if (label_key_valid(r->key, &why))
        return true;
    return error_set(p->err, ERR_BAD_REQUEST, "",
                     "unable to parse requirement: invalid label key \"%s\": %s", r->key,
                     why.message);
}

/* Adds the current word as a value, or an empty value if there is no word. */
static void add_value(struct parser *p, struct requirement *r)
{
    mem_grow(r->values, r->count, r->cap);
    r->values[r->count++] = p->token == TOKEN_WORD ? take_text(p) : mem_strdup("");
}

/* Parses "(a,b)". A missing value is an empty one: "()", "(a,)". */
static bool parse_set(struct parser *p, struct requirement *r)
{
    if (p->token != TOKEN_OPEN)
        return error_set(p->err, ERR_BAD_REQUEST, "",
                         "unable to parse requirement: found '%.*s' expected: '('", (int)p->len,
                         p->text);
    next_token(p);
    for (;;) {
        add_value(p, r);
        if (p->token == TOKEN_CLOSE)
            break;
        if (p->token != TOKEN_COMMA)
            return unexpected(p, "',' or ')'");
        next_token(p);
    }
    next_token(p);
    return true;
}

static bool parse_exact(struct parser *p, struct requirement *r)
{
    if (p->token != TOKEN_WORD && p->token != TOKEN_COMMA && p->token != TOKEN_END)
        return unexpected(p, "identifier");
    add_value(p, r);
    return true;
}

static bool parse_integer(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && !errno;
}

static bool check_values(struct parser *p, struct requirement *r)
{
    struct error why = {0};

    if ((r->op == OP_GREATER || r->op == OP_LESS) && !parse_integer(r->values[0], &r->number))
        return error_set(
            p->err, ERR_BAD_REQUEST, "",
            "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an "
            "integer");
    for (size_t i = 0; i < r->count; i++)
        if (!label_value_valid(r->values[i], &why))
            return error_set(
                p->err, ERR_BAD_REQUEST, "",
                "unable to parse requirement: values[%zu][%s]: Invalid value: \"%s\": %s", i,
                r->key, r->values[i], why.message);
    return true;
}

/* clang-format off */
static const struct {
    const char *text;
    enum op op;
    bool (*parse)(struct parser *p, struct requirement *r);
} operators[] = {
    {"=",     OP_IN,      parse_exact},
    {"==",    OP_IN,      parse_exact},
    {"!=",    OP_NOT_IN,  parse_exact},
    {"in",    OP_IN,      parse_set},
    {"notin", OP_NOT_IN,  parse_set},
    {">",     OP_GREATER, parse_exact},
    {"<",     OP_LESS,    parse_exact},
};
/* clang-format on */

static bool parse_requirement(struct parser *p, struct requirement *r)
{
    r->op = OP_EXISTS;
    if (p->token == TOKEN_NOT) {
        next_token(p);
        r->op = OP_ABSENT;
        return parse_key(p, r);
    }
    if (!parse_key(p, r))
        return false;
    if (p->token == TOKEN_END || p->token == TOKEN_COMMA)
        return true;
    for (size_t i = 0; i < countof(operators); i++) {
        if (!token_is(p, operators[i].text))
            continue;
        r->op = operators[i].op;
        next_token(p);
        return operators[i].parse(p, r) && check_values(p, r);
    }
    return unexpected(p, "in, notin, =, ==, !=, gt, lt");
}

static bool parse_all(struct parser *p, struct selector *selector)
{
    if (p->token == TOKEN_END)
        return true;
    if (p->token != TOKEN_WORD && p->token != TOKEN_NOT)
        return error_set(p->err, ERR_BAD_REQUEST, "",
                         "found '%.*s', expected: !, identifier, or 'end of string'", (int)p->len,
                         p->text);
    for (;;) {
        if (selector->count == REQUIREMENTS_MAX)
            return error_set(p->err, ERR_BAD_REQUEST, "",
                             "the selector has more than %d requirements", REQUIREMENTS_MAX);
        if (!parse_requirement(p, &selector->items[selector->count++]))
            return false;
        if (p->token == TOKEN_END)
            return true;
        if (p->token != TOKEN_COMMA)
            return error_set(p->err, ERR_BAD_REQUEST, "",
                             "found '%.*s', expected: ',' or 'end of string'", (int)p->len,
                             p->text);
        next_token(p);
        if (p->token != TOKEN_WORD && p->token != TOKEN_NOT)
            return error_set(p->err, ERR_BAD_REQUEST, "",
                             "found '%.*s', expected: identifier after ','", (int)p->len, p->text);
    }
}

struct selector *selector_parse(const char *text, struct error *err)
{
    struct parser p = {.at = text, .err = err};
    scoped(selector) struct selector *selector = NULL;

    if (strlen(text) > TEXT_MAX) {
        error_set(err, ERR_BAD_REQUEST, "", "the selector is longer than %d bytes", TEXT_MAX);
        return NULL;
    }
    selector = mem_alloc(sizeof *selector);
    next_token(&p);
    return parse_all(&p, selector) ? take(selector) : NULL;
}

void selector_free(struct selector *selector)
{
    if (!selector)
        return;
    for (size_t i = 0; i < selector->count; i++) {
        struct requirement *r = &selector->items[i];

        mem_free(r->key);
        for (size_t j = 0; j < r->count; j++)
            mem_free(r->values[j]);
        mem_free(r->values);
    }
    mem_free(selector);
}

static bool is_one_of(const struct requirement *r, const char *value)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->values[i], value) == 0)
            return true;
    return false;
}

static bool holds(const struct requirement *r, const char *value)
{
    int64_t number;

    switch (r->op) {
    case OP_EXISTS:
        return value;
    case OP_ABSENT:
        return !value;
    case OP_IN:
        return value && is_one_of(r, value);
    case OP_NOT_IN:
        return !value || !is_one_of(r, value);
    case OP_GREATER:
        return value && parse_integer(value, &number) && number > r->number;
    case OP_LESS:
        return value && parse_integer(value, &number) && number < r->number;
    }
    return false;
}

bool selector_matches(const struct selector *selector, const struct meta *meta)
{
    for (size_t i = 0; selector && i < selector->count; i++)
        if (!holds(&selector->items[i], meta_label(meta, selector->items[i].key)))
            return false;
    return true;
}

static void print_text(const struct requirement *r, struct buf *out)
{
    static const char *const marks[] = {[OP_EXISTS] = "",   [OP_ABSENT] = "",   [OP_IN] = "=",
                                        [OP_NOT_IN] = "!=", [OP_GREATER] = ">", [OP_LESS] = "<"};

    buf_printf(out, "%s%s", r->op == OP_ABSENT ? "!" : "", r->key);
    if (r->count == 1) {
        buf_printf(out, "%s%s", marks[r->op], r->values[0]);
    } else if (r->count) {
        buf_str(out, r->op == OP_IN ? " in (" : " notin (");
        for (size_t i = 0; i < r->count; i++)
            buf_printf(out, "%s%s", i ? "," : "", r->values[i]);
        buf_char(out, ')');
    }
}

void selector_print(const struct selector *selector, struct buf *out)
{
    for (size_t i = 0; i < selector->count; i++) {
        buf_str(out, i ? "," : "");
        print_text(&selector->items[i], out);
    }
}
