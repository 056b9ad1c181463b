/*
 * One pass over the raw bytes, line by line: each header is checked and, if the server uses it,
 * kept as a reference into the buffer.
 */
#include "api/server/message/request_head.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "api/server/message/request_target.h"
#include "base/compiler.h"

size_t request_head_length(const char *bytes, size_t len, size_t searched)
{
    static const char end[] = "\r\n\r\n";
    size_t from = searched > sizeof end - 1 ? searched - (sizeof end - 1) : 0;
    const char *at = len > from ? memmem(bytes + from, len - from, end, sizeof end - 1) : NULL;

    return at ? (size_t)(at - bytes) + sizeof end - 1 : 0;
}

bool request_head_too_large(const char *bytes, size_t len, struct error *err)
{
    if (!memchr(bytes, '\n', len)) /* the request line itself is too long */
        return request_target_too_long(err);
    return error_set(err, ERR_HEAD_TOO_LARGE, "", "the head of the request is larger than %d bytes",
                     REQUEST_HEAD_BYTES_MAX);
}

static bool refuse(struct error *err, const char *why)
{
    return error_set(err, ERR_BAD_REQUEST, "", "%s", why);
}

bool request_head_check_lines(const char *bytes, size_t len, size_t searched, struct error *err)
{
    const char *at = bytes + searched, *end = bytes + len;

    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        if (at == bytes || at[-1] != '\r')
            return refuse(err, "the lines of a head end with CR LF");
        at++;
    }
    return true;
}

static bool check_length(struct header_value value, struct error *err)
{
    enum { DIGITS_MAX = 18 };

    for (size_t i = 0; i < value.len; i++)
        if (!isdigit((unsigned char)value.text[i]))
            return refuse(err, "Content-Length must be digits");
    return (value.len > 0 && value.len <= DIGITS_MAX) ||
           refuse(err, "Content-Length must be a number");
}

static bool check_coding(struct header_value value, struct error *err)
{
    return (value.len == 7 && strncasecmp(value.text, "chunked", 7) == 0) ||
           error_set(err, ERR_NOT_IMPLEMENTED, "",
                     "the only transfer coding understood is chunked");
}

enum {
    HOST,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    AUTHORIZATION,
    ACCEPT,
    ACCEPT_ENCODING,
    CONTENT_TYPE,
    EXPECT,
    ORIGIN,
    USER_AGENT,
    COOKIE,
    KEY,
    FETCH_SITE,
    FETCH_MODE,
    FETCH_DEST,
    IF_NONE_MATCH,
};

static const struct {
    const char *name;
    bool once;
    bool (*check)(struct header_value value, struct error *err);
    size_t keep; /* offset in struct request_head, or SIZE_MAX */
} known[] = {
    /* clang-format off */
    [HOST]              = {"Host",              true,  NULL,         offsetof(struct request_head, host)},
    [CONTENT_LENGTH]    = {"Content-Length",    true,  check_length, SIZE_MAX},
    [TRANSFER_ENCODING] = {"Transfer-Encoding", true,  check_coding, SIZE_MAX},
    [AUTHORIZATION]     = {"Authorization",     true,  NULL,         offsetof(struct request_head, authorization)},
    [ACCEPT]            = {"Accept",            false, NULL,         offsetof(struct request_head, accept)},
    [ACCEPT_ENCODING]   = {"Accept-Encoding",   false, NULL,         offsetof(struct request_head, accept_encoding)},
    [CONTENT_TYPE]      = {"Content-Type",      true,  NULL,         offsetof(struct request_head, content_type)},
    [EXPECT]            = {"Expect",            false, NULL,         offsetof(struct request_head, expect)},
    [ORIGIN]            = {"Origin",            false, NULL,         offsetof(struct request_head, origin)},
    [USER_AGENT]        = {"User-Agent",        false, NULL,         offsetof(struct request_head, user_agent)},
    [COOKIE]            = {"Cookie",            false, NULL,         offsetof(struct request_head, cookie)},
    [KEY]               = {"Jobflow-Key",       false, NULL,         offsetof(struct request_head, key)},
    [FETCH_SITE]        = {"Sec-Fetch-Site",    false, NULL,         offsetof(struct request_head, fetch_site)},
    [FETCH_MODE]        = {"Sec-Fetch-Mode",    false, NULL,         offsetof(struct request_head, fetch_mode)},
    [FETCH_DEST]        = {"Sec-Fetch-Dest",    false, NULL,         offsetof(struct request_head, fetch_dest)},
    [IF_NONE_MATCH]     = {"If-None-Match",     false, NULL,         offsetof(struct request_head, if_none_match)},
    /* clang-format on */
};

struct seen {
    unsigned headers, of[countof(known)];
};

static bool take_header(size_t which, struct header_value value, struct seen *seen,
                        struct request_head *out, struct error *err)
{
    struct header_value *keep =
        known[which].keep == SIZE_MAX
            ? NULL
            : (struct header_value *)(void *)((char *)out + known[which].keep);

    if (++seen->of[which] > 1 && known[which].once)
        return error_set(err, ERR_BAD_REQUEST, "", "%s may be given only once", known[which].name);
    if (known[which].check && !known[which].check(value, err))
        return false;
    if (keep && !keep->text)
        *keep = value;
    return true;
}

/* Impersonation headers must not be ignored: the request would run with the rights of its sender
 * instead of those it asks for. */
static bool is_impersonation(const char *name, size_t len)
{
    static const char begins[] = "Impersonate-";

    return len >= sizeof begins - 1 && strncasecmp(name, begins, sizeof begins - 1) == 0;
}

static bool refuse_impersonation(struct error *err)
{
    return error_set(err, ERR_NOT_IMPLEMENTED, "",
                     "impersonation (Impersonate-User, kubectl --as) is not supported: use a token "
                     "of that user, or one with the same role (jobflow token create)");
}

static bool take_line(const char *line, size_t len, struct seen *seen, struct request_head *out,
                      struct error *err)
{
    const char *colon = memchr(line, ':', len), *end = line + len;
    size_t name_len = colon ? (size_t)(colon - line) : 0;

    if (name_len == 0 || isspace((unsigned char)line[0]) || isspace((unsigned char)colon[-1]))
        return refuse(err, "a header line is malformed");
    if (++seen->headers > REQUEST_HEADERS_MAX)
        return error_set(err, ERR_HEAD_TOO_LARGE, "", "more than %d headers", REQUEST_HEADERS_MAX);

    struct header_value value = {colon + 1, (size_t)(end - colon - 1)};

    while (value.len && (*value.text == ' ' || *value.text == '\t')) {
        value.text++;
        value.len--;
    }
    while (value.len && (value.text[value.len - 1] == ' ' || value.text[value.len - 1] == '\t'))
        value.len--;
    for (size_t i = 0; i < countof(known); i++)
        if (strlen(known[i].name) == name_len && strncasecmp(line, known[i].name, name_len) == 0)
            return take_header(i, value, seen, out, err);
    return !is_impersonation(line, name_len) || refuse_impersonation(err);
}

static bool check_bytes(const char *bytes, size_t len, struct error *err)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if ((c == '\r' && (i + 1 == len || bytes[i + 1] != '\n')) ||
            (c == '\n' && (i == 0 || bytes[i - 1] != '\r')))
            return refuse(err, "lines must end with CR LF");
        if ((c < 0x20 && c != '\r' && c != '\n' && c != '\t') || c == 0x7f)
            return refuse(err, "control bytes are not allowed in the head of a request");
    }
    return true;
}

static bool check_target(const char *line, size_t len, struct error *err)
{
    const char *space = memchr(line, ' ', len), *end = line + len, *after;

    if (!space || space + 1 >= end || space[1] != '/')
        return refuse(err, "the request target must begin with /");
    after = memchr(space + 1, ' ', (size_t)(end - space - 1));
    return (size_t)((after ? after : end) - space - 1) <= REQUEST_TARGET_BYTES_MAX ||
           request_target_too_long(err);
}

static bool check_combination(const struct seen *seen, bool is_1_1, struct error *err)
{
    if (seen->of[CONTENT_LENGTH] && seen->of[TRANSFER_ENCODING])
        return refuse(err, "Content-Length and Transfer-Encoding exclude each other");
    if (is_1_1 && !seen->of[HOST])
        return refuse(err, "Host is missing");
    return is_1_1 || !seen->of[TRANSFER_ENCODING] ||
           refuse(err, "Transfer-Encoding needs HTTP/1.1");
}

bool request_head_parse(const char *bytes, size_t len, struct request_head *out, struct error *err)
{
    static const char version[] = " HTTP/1.1";
    const char *line = bytes, *end = bytes + len;
    struct request_head head = {0};
    struct seen seen = {0};
    bool is_1_1 = false;

    if (!check_bytes(bytes, len, err))
        return false;
    if (bytes[0] == '\r')
        return refuse(err, "the request line is empty");
    while (line < end) {
        const char *eol = memchr(line, '\r', (size_t)(end - line));
        size_t n = eol ? (size_t)(eol - line) : 0;

        if (!n)
            break;
        if (line == bytes && !check_target(line, n, err))
            return false;
        if (line == bytes)
            is_1_1 = n >= sizeof version - 1 &&
                     memcmp(eol - (sizeof version - 1), version, sizeof version - 1) == 0;
        else if (!take_line(line, n, &seen, &head, err))
            return false;
        line = eol + 2;
    }
    if (!check_combination(&seen, is_1_1, err))
        return false;
    *out = head;
    return true;
}
