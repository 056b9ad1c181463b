/*
 * Explains YAML syntax errors. Most are one of five: a tab, no space after a colon, an unclosed
 * quote, a value that needs quotes, a wrong indentation. The first two are found in the text
 * itself, the others by libyaml's message.
 */
#include "api/types/text/yaml_problem.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

/* clang-format off */
static const struct hint {
    const char *context, *problem; /* prefixes of libyaml's messages; NULL = any */
    const char *hint;
    enum { HERE, AND_BEGAN, WHERE_BEGAN } place; /* which position to report */
} hints[] = {
    {"while scanning a quoted scalar", "found unexpected end of stream", "a quote is never closed", AND_BEGAN},
    {"while scanning a quoted scalar", "found unexpected document indicator", "a quote is never closed", AND_BEGAN},
    {NULL, "mapping values are not allowed",
     "a ':' where no key can be: put quotes around a value that contains ': ', or check the indentation", HERE},
    {NULL, "could not find expected ':'",
     "a key without ':' (is the space after a colon missing, or is this line indented wrongly?)", WHERE_BEGAN},
    {"while parsing a flow sequence", NULL, "a '[' is not closed, or a comma is missing between its entries", AND_BEGAN},
    {"while parsing a flow mapping", NULL, "a '{' is not closed, or a comma is missing between its members", AND_BEGAN},
    {"while parsing a block mapping", "did not find expected key",
     "this line does not fit in: its indentation differs from the other keys, or a quote or bracket before it is wrong", AND_BEGAN},
    {"while parsing a block collection", "did not find expected '-'",
     "this line does not fit in: in a list every entry begins with '-' at the same indentation", AND_BEGAN},
    {NULL, "block sequence entries are not allowed", "a list entry '-' cannot be here: begin it on a line of its own below the key", HERE},
    {NULL, "block mapping", "a mapping cannot begin here: check the indentation", HERE},
    {NULL, "did not find expected <document start>",
     "the document has ended before this line: is it indented less than the first line, or is '---' missing?", HERE},
    {NULL, "found character that cannot start any token", "a value cannot begin with this character: put quotes around it", HERE},
    {NULL, "found unknown escape character", "an unknown escape after '\\' in double quotes: write '\\\\', or use single quotes", HERE},
    {NULL, "did not find expected hexdecimal number", "an escape such as \\x41 or \\u00e4 lacks digits", HERE},
    {NULL, "control characters are not allowed", "a control character; in double quotes it can be written as \\x1b", HERE},
    {NULL, "invalid leading UTF-8 octet", "the text is not UTF-8: save it as UTF-8", HERE},
    {NULL, "invalid trailing UTF-8 octet", "the text is not UTF-8: save it as UTF-8", HERE},
    {NULL, "incomplete UTF-8 octet sequence", "the text is not UTF-8: save it as UTF-8", HERE},
    {NULL, "found incompatible YAML document", "this %YAML version is not supported: remove the line", HERE},
};
/* clang-format on */

static bool begins(const char *text, const char *prefix)
{
    return !prefix || (text && strncmp(text, prefix, strlen(prefix)) == 0);
}

/* Returns the text of a line (from 1) and its length without the line end. */
static const char *line_text(const struct yaml_problem *p, size_t line, size_t *out_len)
{
    const char *at = p->text, *end = p->text + p->len, *stop;

    for (; line > 1; line--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        if (!newline)
            return NULL;
        at = newline + 1;
    }
    stop = memchr(at, '\n', (size_t)(end - at));
    *out_len = (size_t)((stop ? stop : end) - at);
    return at;
}

static bool indented_with_tab(const struct yaml_problem *p, size_t line)
{
    size_t len = 0;
    const char *text = line ? line_text(p, line, &len) : NULL;

    for (size_t i = 0; i < len && (text[i] == ' ' || text[i] == '\t'); i++)
        if (text[i] == '\t')
            return true;
    return false;
}

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* Returns whether the line looks like " - name:value". */
static bool lacks_space_after_colon(const struct yaml_problem *p, size_t line)
{
    size_t len = 0, i = 0, first;
    const char *text = line ? line_text(p, line, &len) : NULL;

    while (i < len && (text[i] == ' ' || (text[i] == '-' && i + 1 < len && text[i + 1] == ' ')))
        i++;
    for (first = i; i < len && is_key_char(text[i]);)
        i++;
    return i > first && i + 1 < len && text[i] == ':' && text[i + 1] != ' ' &&
           text[i + 1] != '\r' && text[i + 1] != '/';
}

static bool explain_line(const struct yaml_problem *p, size_t line, struct error *err)
{
    if (indented_with_tab(p, line))
        return error_set(
            err, ERR_BAD_REQUEST, "",
            "line %zu, column 1: a tab in the indentation: YAML is indented with spaces", line);
    return error_set(err, ERR_BAD_REQUEST, "",
                     "line %zu, column 1: a space is missing after the colon: write \"key: value\"",
                     line);
}

bool yaml_explain(const struct yaml_problem *p, struct error *err)
{
    const char *problem = p->problem ? p->problem : "cannot be read as YAML";
    const size_t lines[] = {p->context_line, p->line, p->line > 1 ? p->line - 1 : 0};

    for (size_t i = 0; i < countof(lines); i++)
        if (indented_with_tab(p, lines[i]))
            return explain_line(p, lines[i], err);
    for (size_t i = 0; i < countof(lines); i++)
        if (begins(problem, "could not find expected ':'") && lacks_space_after_colon(p, lines[i]))
            return explain_line(p, lines[i], err);
    for (size_t i = 0; i < countof(hints); i++) {
        const struct hint *hint = &hints[i];

        if (!begins(problem, hint->problem) || !begins(p->context, hint->context))
            continue;
        if (hint->place == AND_BEGAN && p->context_line && p->context_line != p->line)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "line %zu, column %zu: %s; it began in line %zu", p->line, p->column,
                             hint->hint, p->context_line);
        if (hint->place == WHERE_BEGAN && p->context_line)
            return error_set(err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s", p->context_line,
                             p->context_column, hint->hint);
        return error_set(err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s", p->line, p->column,
                         hint->hint);
    }
    return error_set(err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s%s%s", p->line, p->column,
                     problem, p->context ? ", " : "", p->context ? p->context : "");
}
