#pragma once
/*
 * Checks the head of a request as raw bytes before the HTTP parser sees it: everything that parsers
 * and proxies are known to disagree about is refused (SEC-08). The headers that the server uses are
 * found on the way, so the parser only has to find the framing.
 */
#include <stdbool.h>

#include "base/error.h"

/* Largest head of a request, and most header lines (L-03). */
enum { REQUEST_HEAD_BYTES_MAX = 32 << 10, REQUEST_HEADERS_MAX = 100 };

/* The value of a header within the head, without surrounding blanks; `text` is NULL when the header
 * is absent. The first of several counts. */
struct header_value {
    const char *text;
    size_t len;
};

struct request_head {
    struct header_value accept, accept_encoding, content_type, expect, authorization, host, origin,
        user_agent;
    /* Used by the web page alone. */
    struct header_value cookie, key, fetch_site, fetch_mode, fetch_dest, if_none_match;
};

/** Returns the length of the head including its empty line; 0 when it is not complete. The first
 * `searched` bytes are known to hold no end. */
size_t request_head_length(const char *bytes, size_t len, size_t searched);

/** Returns whether every line received so far ends with CR LF. Otherwise sets BAD_REQUEST at once,
 * because waiting for the rest of such a head would be in vain. */
bool request_head_check_lines(const char *bytes, size_t len, size_t searched, struct error *err);

/** Sets the error for a head that exceeds REQUEST_HEAD_BYTES_MAX; false. */
bool request_head_too_large(const char *bytes, size_t len, struct error *err);

/** Checks a complete head. BAD_REQUEST, NOT_IMPLEMENTED, TARGET_TOO_LONG or HEAD_TOO_LARGE; the
 * connection must be closed after the response. `out` points into `bytes`. */
bool request_head_parse(const char *bytes, size_t len, struct request_head *out, struct error *err);
