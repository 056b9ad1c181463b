/*
 * Splits a stream into JSON objects byte by byte. It tracks only strings, escapes and the depth of
 * braces, so it can stop and resume at any byte.
 */
#include "api/client/documents.h"

void documents_release(struct documents *documents)
{
    buf_release(&documents->partial);
}

void documents_reset(struct documents *documents)
{
    buf_clear(&documents->partial);
    documents->depth = 0;
    documents->in_string = documents->escaped = false;
}

/* Processes one byte within an object. True when it ends the object. */
static bool step(struct documents *d, char c)
{
    if (d->in_string) {
        if (d->escaped)
            d->escaped = false;
        else if (c == '\\')
            d->escaped = true;
        else if (c == '"')
            d->in_string = false;
        return false;
    }
    if (c == '"')
        d->in_string = true;
    else if (c == '{')
        d->depth++;
    else if (c == '}')
        return --d->depth == 0;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Passes on the object whose last piece is [from, end). It may have begun in an earlier piece. */
static bool hand_over(struct documents *d, const char *from, const char *end,
                      bool (*each)(void *ctx, const char *text, size_t len), void *ctx)
{
    bool goes_on;

    if (!d->partial.len)
        return each(ctx, from, (size_t)(end - from));
    buf_add(&d->partial, from, (size_t)(end - from));
    goes_on = each(ctx, d->partial.data, d->partial.len);
    buf_clear(&d->partial);
    return goes_on;
}

bool documents_take(struct documents *d, const char *bytes, size_t len,
                    bool (*each)(void *ctx, const char *text, size_t len), void *ctx,
                    struct error *err)
{
    const char *end = bytes + len, *from = bytes;

    for (const char *at = bytes; at < end; at++) {
        if (d->depth == 0) {
            if (is_blank(*at))
                continue;
            if (*at != '{')
                return error_set(err, ERR_BAD_REQUEST, "", "the stream is no JSON");
            from = at;
        }
        if (d->partial.len + (size_t)(at - from) >= d->bytes_max)
            return error_set(err, ERR_TOO_LARGE, "", "an object of the stream is larger than %zu B",
                             d->bytes_max);
        if (step(d, *at) && !hand_over(d, from, at + 1, each, ctx))
            return false;
    }
    if (d->depth > 0)
        buf_add(&d->partial, from, (size_t)(end - from));
    return true;
}
