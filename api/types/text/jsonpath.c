/*
 * Evaluates a JSONPath expression while reading it, without a syntax tree: each part of a path
 * selects within the current value.
 */
#include "api/types/text/jsonpath.h"

#include <ctype.h>
#include <string.h>

#include "api/types/text/json_text.h"

enum { STEP_MAX = 256, STEPS_MAX = 64 };

struct step {
    enum { STEP_MEMBER, STEP_INDEX, STEP_ALL } kind;
    char member[STEP_MAX];
    long index;
};

struct path {
    struct step steps[STEPS_MAX];
    size_t count;
};

static bool refuse(const char *text, struct error *err)
{
    return error_set(err, ERR_BAD_REQUEST, "",
                     "\"%s\" is no JSONPath understood here; write it like {.status.state.phase} "
                     "or {.status.nodes[0].name}",
                     text);
}

/* Reads a member name up to one of `stops`; `\.` is a dot within the name. */
static const char *take_member(const char *at, const char *stops, struct step *out)
{
    size_t n = 0;

    for (; *at && !strchr(stops, *at); at++) {
        if (*at == '\\' && at[1])
            at++;
        if (n + 1 == sizeof out->member)
            return NULL;
        out->member[n++] = *at;
    }
    out->member[n] = '\0';
    out->kind = strcmp(out->member, "*") == 0 ? STEP_ALL : STEP_MEMBER;
    return n ? at : NULL;
}

/* Reads what follows '[': a number, * or a quoted name, and the closing bracket. */
static const char *take_bracket(const char *at, struct step *out)
{
    char *end;

    if (*at == '\'' || *at == '"') {
        const char stop[] = {*at, '\0'};

        at = take_member(at + 1, stop, out);
        return at && *at && at[1] == ']' ? at + 2 : NULL;
    }
    if (at[0] == '*' && at[1] == ']') {
        out->kind = STEP_ALL;
        return at + 2;
    }
    if (!isdigit((unsigned char)*at) && *at != '-')
        return NULL;
    out->kind = STEP_INDEX;
    out->index = strtol(at, &end, 10);
    return *end == ']' ? end + 1 : NULL;
}

/* Reads a path up to `stop` or the end of the text; returns NULL if it is not a path. */
static const char *take_path(const char *at, char stop, struct path *out)
{
    out->count = 0;
    if (*at == '$')
        at++;
    while (at && *at && *at != stop) {
        struct step *step = &out->steps[out->count];

        if (out->count++ == STEPS_MAX)
            return NULL;
        if (*at == '[')
            at = take_bracket(at + 1, step);
        else if (*at == '.' && at[1] != '[' && at[1] != '.')
            at = take_member(at + 1, ".[}", step);
        else
            return NULL;
    }
    return at;
}

static void print_value(const json_t *value, struct buf *out)
{
    if (json_is_string(value))
        buf_str(out, json_string_value(value));
    else if (value && !json_is_null(value))
        json_text(value, out);
}

static void print_at(const json_t *value, const struct step *step, size_t left, bool *first,
                     struct buf *out)
{
    size_t i;
    json_t *each;
    const char *key;

    if (!value)
        return;
    if (left == 0) {
        buf_str(out, *first ? "" : " ");
        *first = false;
        print_value(value, out);
        return;
    }
    switch (step->kind) {
    case STEP_MEMBER:
        print_at(json_object_get(value, step->member), step + 1, left - 1, first, out);
        break;
    case STEP_INDEX:
        i = step->index < 0 ? json_array_size(value) + (size_t)step->index : (size_t)step->index;
        print_at(json_array_get(value, i), step + 1, left - 1, first, out);
        break;
    case STEP_ALL:
        json_array_foreach(value, i, each) print_at(each, step + 1, left - 1, first, out);
        json_object_foreach((json_t *)(size_t)value, key, each)
            print_at(each, step + 1, left - 1, first, out);
        break;
    }
}

static const char *print_one(const json_t *doc, const char *at, char stop, struct buf *out)
{
    struct path path;
    bool first = true;

    at = take_path(at, stop, &path);
    if (at)
        print_at(doc, path.steps, path.count, &first, out);
    return at;
}

bool jsonpath_print(const json_t *doc, const char *expression, struct buf *out, struct error *err)
{
    const char *at = expression;

    if (!strchr(expression, '{'))
        return print_one(doc, at, '\0', out) || refuse(expression, err);
    while (*at) {
        if (*at == '{' && at[1] == '"') { /* {"\n"} is literal text */
            const char *end = strstr(at + 2, "\"}");

            if (!end)
                return refuse(expression, err);
            for (at += 2; at < end; at++)
                if (*at == '\\' && (at[1] == 'n' || at[1] == 't'))
                    buf_char(out, *++at == 'n' ? '\n' : '\t');
                else
                    buf_char(out, *at);
            at = end + 2;
        } else if (*at == '{') {
            at = print_one(doc, at + 1, '}', out);
            if (!at || *at != '}')
                return refuse(expression, err);
            at++;
        } else {
            buf_char(out, *at++);
        }
    }
    return true;
}
