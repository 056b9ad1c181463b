#pragma once
/*
 * Reads single values of a document by path. Commands that print a few members of an object use it
 * instead of decoding the object into a struct.
 */
#include <jansson.h>
#include <stdint.h>

/** Returns the value at a path as findings name it: members joined by dots, and in brackets indexes
 * of lists and keys with dots ("spec.tasks[0].name", "metadata.labels[example.com/a]"). NULL if any
 * part is absent. Borrowed. */
const json_t *doc_at(const json_t *doc, const char *path);
/** Returns the string at such a path; NULL if it is absent or not a string. Borrowed. */
const char *doc_text(const json_t *doc, const char *path);
/** Returns the first entry of a list whose member "name" is `name`; NULL if there is none, or either is
 * NULL. Borrowed. */
const json_t *doc_named(const json_t *list, const char *name);
/** Returns the RFC 3339 time at such a path in milliseconds since the epoch; 0 if it is absent or
 * not a time. */
int64_t doc_time_ms(const json_t *doc, const char *path);
/** Returns the duration at such a path in milliseconds; -1 if it is absent or not a duration. */
int64_t doc_duration_ms(const json_t *doc, const char *path);
