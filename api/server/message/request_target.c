/*
 * Parses the path and the query of a request target into segments and pairs in an arena, and
 * converts query parameters.
 */
#include "api/server/message/request_target.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/encoding/hex.h"

enum part { PATH_SEGMENT, QUERY_PART };

/* Decodes one segment, or one key or value of the query, of `len` bytes. In a query '+' is a space.
 * */
static const char *decode(const char *text, size_t len, enum part part, struct arena *arena,
                          struct error *err)
{
    char *out = arena_alloc(arena, len + 1), *write = out;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '%') {
            int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text[i + 2]) : -1;

            if (low < 0) {
                error_set(err, ERR_BAD_REQUEST, "", "the request target has a broken %% escape");
                return NULL;
            }
            c = (unsigned char)(high * 16 + low);
            i += 2;
            if (part == PATH_SEGMENT && c == '/') {
                error_set(err, ERR_BAD_REQUEST, "",
                          "an encoded / is not allowed in a path segment");
                return NULL;
            }
        } else if (part == QUERY_PART && c == '+') {
            c = ' ';
        }
        if (c < 0x20 || c == 0x7f) {
            error_set(err, ERR_BAD_REQUEST, "",
                      "control bytes are not allowed in the request target");
            return NULL;
        }
        *write++ = (char)c;
    }
    return out;
}

static bool parse_path(const char *path, size_t len, struct arena *arena,
                       struct request_target *out, struct error *err)
{
    const char *end = path + len;

    if (len == 0 || path[0] != '/')
        return error_set(err, ERR_BAD_REQUEST, "", "the request target must begin with /");
    for (const char *start = path + 1; start < end;) {
        const char *slash = memchr(start, '/', (size_t)(end - start));
        size_t n = (size_t)((slash ? slash : end) - start);
        const char *segment = decode(start, n, PATH_SEGMENT, arena, err);

        if (!segment)
            return false;
        if (!*segment || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "empty, . and .. segments are not allowed in a path");
        if (out->n_segments == REQUEST_SEGMENTS_MAX)
            return error_set(err, ERR_NOT_FOUND, "",
                             "the server could not find the requested resource");
        out->segments[out->n_segments++] = segment;
        start += n + 1;
    }
    return true;
}

static bool parse_query(const char *query, struct arena *arena, struct request_target *out,
                        struct error *err)
{
    while (*query) {
        size_t n = strcspn(query, "&");
        const char *equals = memchr(query, '=', n);
        size_t key_len = equals ? (size_t)(equals - query) : n;

        if (n > 0) {
            if (out->n_pairs == REQUEST_QUERY_PAIRS_MAX)
                return error_set(err, ERR_BAD_REQUEST, "", "more than %d query parameters",
                                 REQUEST_QUERY_PAIRS_MAX);
            out->keys[out->n_pairs] = decode(query, key_len, QUERY_PART, arena, err);
            out->values[out->n_pairs] =
                equals ? decode(equals + 1, n - key_len - 1, QUERY_PART, arena, err) : "";
            if (!out->keys[out->n_pairs] || !out->values[out->n_pairs])
                return false;
            out->n_pairs++;
        }
        query += n + (query[n] == '&');
    }
    return true;
}

bool request_target_too_long(struct error *err)
{
    return error_set(err, ERR_TARGET_TOO_LONG, "", "the request target is longer than %d bytes",
                     REQUEST_TARGET_BYTES_MAX);
}

bool request_target_parse(const char *text, struct arena *arena, struct request_target *out,
                          struct error *err)
{
    size_t len = strnlen(text, REQUEST_TARGET_BYTES_MAX + 1), path_len = strcspn(text, "?");

    *out = (struct request_target){0};
    if (len > REQUEST_TARGET_BYTES_MAX)
        return request_target_too_long(err);
    return parse_path(text, path_len, arena, out, err) &&
           (text[path_len] == '\0' || parse_query(text + path_len + 1, arena, out, err));
}

const char *request_query(const struct request_target *target, const char *key)
{
    for (size_t i = 0; i < target->n_pairs; i++)
        if (strcmp(target->keys[i], key) == 0)
            return target->values[i];
    return NULL;
}

bool request_query_bool(const struct request_target *target, const char *key)
{
    const char *value = request_query(target, key);

    return value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0;
}

bool request_query_int(const struct request_target *target, const char *key, int64_t absent,
                       int64_t *out, struct error *err)
{
    const char *value = request_query(target, key);
    char *end;
    long long number;

    *out = absent;
    if (!value || !*value)
        return true;
    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno == ERANGE)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "strconv.ParseInt: parsing \"%s\": value out of range", value);
    if (*end || isspace((unsigned char)value[0]))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "strconv.ParseInt: parsing \"%s\": invalid syntax", value);
    *out = number;
    return true;
}

bool request_query_revision(const struct request_target *target, int64_t *out, struct error *err)
{
    const char *value = request_query(target, "resourceVersion");

    if (value && (*value == '-' || *value == '+'))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "strconv.ParseUint: parsing \"%s\": invalid syntax", value);
    return request_query_int(target, "resourceVersion", 0, out, err);
}

bool request_query_int_min(const struct request_target *target, const char *key, int64_t absent,
                           int64_t min, int64_t *out, struct error *err)
{
    const char *value = request_query(target, key);

    if (!request_query_int(target, key, absent, out, err))
        return false;
    if (!value || !*value || *out >= min)
        return true;
    if (min == 1)
        return error_set(err, ERR_INVALID, key, "Invalid value: %lld: must be greater than 0",
                         (long long)*out);
    return error_set(err, ERR_INVALID, key,
                     "Invalid value: %lld: must be greater than or equal to %lld", (long long)*out,
                     (long long)min);
}
