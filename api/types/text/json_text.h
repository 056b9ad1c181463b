#pragma once
/*
 * JSON text and documents: reading within bounds (L-05, L-06), writing compactly with numbers as
 * short as they go.
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
extern const struct json_limits json_limits_flow; /* of a JobFlow of 10^6 steps (DC-05) */

/**
 * Parse one JSON value; an owned document, or NULL with BAD_REQUEST or TOO_LARGE and a message that
 * begins with "line L, column C: " where there is such a place. Duplicate members are an error;
 * integers beyond int64, too.
 */
json_t *json_parse(const char *text, size_t len, const struct json_limits *limits,
                   struct error *err);

/** The same, but of members given twice the last holds; each is noted in `twice` as BAD_REQUEST,
 * with its path as the field and `duplicate field "PATH"` as the message. */
json_t *json_parse_lenient(const char *text, size_t len, const struct json_limits *limits,
                           struct error_list *twice, struct error *err);

/** The same as json_parse of text that this program has written, without bounds but those of its
 * writer. NULL when it is none. */
json_t *json_read(const char *text, size_t len);

/** The list at `key` (borrowed); an empty one is put there when no list is. */
json_t *json_member_list(json_t *object, const char *key);

/** Append the compact text of `value`. Its depth must be bounded, as that of every parsed document
 * is. */
void json_text(const json_t *value, struct buf *out);

enum { JSON_NUMBER_MAX = 40 };
/** The shortest text that reads back as the same number; whole numbers without fraction and
 * exponent. */
void json_number_text(const json_t *number, char out[JSON_NUMBER_MAX]);
