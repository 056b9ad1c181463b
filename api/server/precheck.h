#pragma once
/*
 * What must be refused in a request's head before the parser sees it, because parsers and proxies
 * differ about it (SEC-08).
 */
#include "base/error.h"

enum { HEAD_BYTES_MAX = 64 << 10, HEAD_HEADERS_MAX = 100 }; /* L-03 */

/** Length of the head including its empty line; 0 when it is not complete yet. */
size_t precheck_head_length(const char *bytes, size_t len);
/** Check a complete head. BAD_REQUEST or NOT_IMPLEMENTED; the connection is closed after the
 * answer. */
bool precheck_head(const char *head, size_t len, struct error *err);
