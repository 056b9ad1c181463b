#pragma once
/*
 * JSON text and documents: a reader with limits (L-05, L-06), and a writer of compact text with the
 * shortest form of each number.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

SCOPED_DEFINE_PTR(json, json_t *, json_decref)

struct json_limits {
    size_t max_bytes, max_depth, max_values;
};
extern const struct json_limits json_limits_body; /* a request body: 3 MiB, 128, 200,000 */
extern const struct json_limits json_limits_flow; /* limits for a JobFlow of 10^6 steps (DC-05) */

/**
 * Parses one JSON value. Returns an owned document, or NULL with BAD_REQUEST or TOO_LARGE; the
 * message begins with "line L, column C: " where the error has a position. Duplicate members and
 * integers beyond int64 are errors.
 */
json_t *json_parse(const char *text, size_t len, const struct json_limits *limits,
                   struct error *err);

/** Parses like json_parse, but of duplicate members the last one counts. Each is added to
 * `duplicates` as BAD_REQUEST, with its path as the field and `duplicate field "PATH"` as the
 * message. */
json_t *json_parse_lenient(const char *text, size_t len, const struct json_limits *limits,
                           struct error_list *duplicates, struct error *err);

/** Parses text that this program has written, without limits on its size. Returns an owned
 * document, or NULL if the text is not JSON. */
json_t *json_read(const char *text, size_t len);

/** Returns the list at `key` (borrowed). If there is no list, an empty one is added. */
json_t *json_member_list(json_t *object, const char *key);

/** Appends the compact text of `value`. Its depth must be bounded, as that of every parsed document
 * is. */
void json_text(const json_t *value, struct buf *out);

enum { JSON_NUMBER_MAX = 40 };
/** Writes the shortest text that reads back as the same number. Whole numbers have no fraction and
 * no exponent. */
void json_number_text(const json_t *number, char out[JSON_NUMBER_MAX]);
