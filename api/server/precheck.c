/*
 * Checks on raw heads.
 */
#include "api/server/precheck.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

size_t precheck_head_length(const char *bytes, size_t len)
{
    const char *end = memmem(bytes, len, "\r\n\r\n", 4);

    return end ? (size_t)(end - bytes) + 4 : 0;
}

struct seen {
    unsigned headers, host, content_length, transfer_encoding, authorization;
};

static bool refuse(struct error *err, const char *why)
{
    return error_set(err, ERR_BAD_REQUEST, "", "%s", why);
}

static bool header_is(const char *line, size_t name_len, const char *name)
{
    return strlen(name) == name_len && strncasecmp(line, name, name_len) == 0;
}

static bool check_header(const char *line, size_t len, struct seen *seen, struct error *err)
{
    const char *colon = memchr(line, ':', len);
    size_t name_len = colon ? (size_t)(colon - line) : 0;
    const char *value = colon + 1, *end = line + len;

    if (!colon || name_len == 0 || isspace((unsigned char)line[0]) ||
        isspace((unsigned char)colon[-1]))
        return refuse(err, "a header line is malformed");
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    seen->headers++;
    seen->host += header_is(line, name_len, "Host");
    seen->authorization += header_is(line, name_len, "Authorization");
    if (header_is(line, name_len, "Content-Length")) {
        seen->content_length++;
        for (const char *c = value; c < end; c++)
            if (!isdigit((unsigned char)*c))
                return refuse(err, "Content-Length must be digits");
        if (value == end || end - value > 18)
            return refuse(err, "Content-Length must be a number");
    }
    if (header_is(line, name_len, "Transfer-Encoding")) {
        seen->transfer_encoding++;
        if (end - value != 7 || strncasecmp(value, "chunked", 7) != 0)
            return error_set(err, ERR_NOT_IMPLEMENTED, "",
                             "the only transfer coding understood is chunked");
    }
    return true;
}

bool precheck_head(const char *head, size_t len, struct error *err)
{
    struct seen seen = {0};
    const char *end = head + len, *line = head;
    bool first = true;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)head[i];

        if ((c == '\r' && (i + 1 == len || head[i + 1] != '\n')) ||
            (c == '\n' && (i == 0 || head[i - 1] != '\r')))
            return refuse(err, "lines must end with CR LF");
        if ((c < 0x20 && c != '\r' && c != '\n' && c != '\t') || c == 0x7f)
            return refuse(err, "control bytes are not allowed in the head of a request");
    }
    while (line < end) {
        const char *eol = memchr(line, '\r', (size_t)(end - line));

        if (!eol || eol == line)
            break;
        if (!first && !check_header(line, (size_t)(eol - line), &seen, err))
            return false;
        first = false;
        line = eol + 2;
    }
    if (seen.headers > HEAD_HEADERS_MAX)
        return refuse(err, "too many headers");
    if (seen.host > 1 || seen.content_length > 1 || seen.transfer_encoding > 1 ||
        seen.authorization > 1)
        return refuse(
            err, "Host, Content-Length, Transfer-Encoding and Authorization may be given once");
    if (seen.content_length && seen.transfer_encoding)
        return refuse(err, "Content-Length and Transfer-Encoding exclude each other");
    return true;
}
