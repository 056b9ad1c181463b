#pragma once
/*
 * The head of a request, checked as raw bytes before the HTTP parser sees it: whatever parsers and
 * proxies are known to disagree about is refused (SEC-08). The few headers we act on are found on
 * the way; the parser is left with the framing.
 */
#include <stdbool.h>

#include "base/error.h"

enum { REQUEST_HEAD_BYTES_MAX = 32 << 10, REQUEST_HEADERS_MAX = 100 }; /* L-03 */

/* A header's value within the head, without the blanks around it; len 0 when it is not there. The
 * first one counts. */
struct header_value {
    const char *text;
    size_t len;
};

struct request_head {
    struct header_value accept, accept_encoding, content_type, expect, authorization, host, origin,
        user_agent;
};

/** Length of the head including its empty line; 0 when it is not complete yet. `searched` bytes at
 * the beginning are known to hold no end. */
size_t request_head_length(const char *bytes, size_t len, size_t searched);

/** Whether what has come of a head may still become one: all its lines end with CR LF. BAD_REQUEST
 * otherwise, at once: nobody would send what is missing. */
bool request_head_check_lines(const char *bytes, size_t len, size_t searched, struct error *err);

/** What is wrong with a head that has come to more than REQUEST_HEAD_BYTES_MAX; false. */
bool request_head_too_large(const char *bytes, size_t len, struct error *err);

/** Check a complete head. BAD_REQUEST, NOT_IMPLEMENTED or one of the sizes; the connection is
 * closed after the answer. `out` points into `bytes`. */
bool request_head_parse(const char *bytes, size_t len, struct request_head *out, struct error *err);
