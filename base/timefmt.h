#pragma once
/*
 * Times and durations as text: RFC 3339 (UTC) and Go's duration syntax, and the short ages kubectl
 * prints.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum { TIME_TEXT_MAX = 40 };

/** Formats a time as 2026-01-02T03:04:05Z. */
void time_format(int64_t at_ms, char out[TIME_TEXT_MAX]);
void time_format_nano(int64_t at_ns, char out[TIME_TEXT_MAX]);  /* writes nine digits of fraction */
void time_format_micro(int64_t at_ns, char out[TIME_TEXT_MAX]); /* six digits: a MicroTime */
bool time_parse(const char *text, int64_t *out_ms,
                struct error *err); /* accepts any offset and an optional fraction */

bool duration_parse(const char *text, int64_t *out_ns,
                    struct error *err); /* parses a duration such as "1h15m30.5s", up to ±290
                                         * years */
void duration_format(int64_t ns,
                     char out[TIME_TEXT_MAX]); /* writes a duration as Go does: 1h0m3.5s, 0s,
                                                * 1.5ms */
void duration_precise(int64_t ms,
                      char out[TIME_TEXT_MAX]); /* formats as 0.28s below a minute, and as
                                                 * duration_human from there on */
void duration_human(int64_t ms,
                    char out[TIME_TEXT_MAX]); /* writes a duration as kubectl does: 45s, 3m12s,
                                               * 2d4h */
