/*
 * Splits a line of mountinfo at its blanks. Between the sixth field and the separator "-" stands
 * any number of further fields.
 */
#include "node/sandbox/mounts/mountinfo.h"

#include <string.h>

/* Decodes \ooo, as which blanks and backslashes are written, in place. */
static void decode(char *text)
{
    char *to = text;

    for (const char *at = text; *at; to++) {
        bool octal = at[0] == '\\' && strspn(at + 1, "01234567") >= 3;

        *to = octal ? (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')) : *at;
        at += octal ? 4 : 1;
    }
    *to = 0;
}

bool mountinfo_next(char **rest, struct mountinfo *out)
{
    static char nothing[] = "";
    char *line = strsep(rest, "\n"), *id = strsep(&line, " "), *parent = strsep(&line, " ");
    char *field, *source;

    *out = (struct mountinfo){0};
    out->device = strsep(&line, " ");
    out->root = strsep(&line, " ");
    out->point = strsep(&line, " ");
    if (!id || !parent || !out->point)
        return false;
    decode(out->root);
    decode(out->point);
    do
        field = strsep(&line, " ");
    while (field && strcmp(field, "-") != 0);
    out->type = strsep(&line, " ");
    source = strsep(&line, " ");
    out->options = source ? line : NULL;
    if (!out->type)
        out->type = nothing;
    if (!out->options)
        out->options = nothing;
    return true;
}
