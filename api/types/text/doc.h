#pragma once
/*
 * Reading single values of a document by path, where a decoded form would be too much: commands
 * that print a few members of an object.
 */
#include <jansson.h>
#include <stdint.h>

/** The value at a path of members joined by dots ("status.state.phase"); NULL if any is absent.
 * Borrowed. */
const json_t *doc_at(const json_t *doc, const char *path);
/** The text at such a path; NULL if it is absent or no text. Borrowed. */
const char *doc_text(const json_t *doc, const char *path);
/** The RFC 3339 time at such a path in milliseconds since the epoch; 0 if it is absent or no time.
 */
int64_t doc_time_ms(const json_t *doc, const char *path);
