#pragma once
/*
 * Base64 as Kubernetes reads it: RFC 4648 with padding. Line breaks inside the text are skipped, as
 * Go's decoder does.
 */
#include <stdbool.h>

#include "base/buf.h"

bool base64_valid(const char *text, size_t len);
/** Appends the decoded bytes. False, with nothing appended, when the text is not base64. */
bool base64_decode(const char *text, size_t len, struct buf *out);
void base64_encode(const void *bytes, size_t len, struct buf *out);

/** Appends the base64url form (RFC 4648, section 5), without padding. */
void base64url_encode(const void *bytes, size_t len, struct buf *out);
/** Appends the bytes of a base64url text without padding; false for any other character. */
bool base64url_decode(const char *text, struct buf *out);
