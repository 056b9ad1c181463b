#pragma once
/*
 * Objects as Kubernetes protobuf: four magic bytes, and an envelope that names apiVersion and kind.
 *
 * Built-in kinds, reviews and a few subresources have this form. A message is read by its field
 * table; unknown fields are skipped. Ref: spec/kube-api.md 5.6.
 */
#include <jansson.h>
#include <stddef.h>

#include "api/types/text/json_text.h"
#include "base/error.h"

/** Returns the object in `bytes` (owned), with apiVersion and kind from the envelope. BAD_REQUEST
 * when the bytes are malformed, of a kind without a table, or beyond the limits. */
json_t *protobuf_parse(const void *bytes, size_t len, const struct json_limits *limits,
                       struct error *err);
/** Appends an object or a list, which names its apiVersion and kind; false when it has no table. */
bool protobuf_write(const json_t *object, struct buf *out);
/** Converts JSON text that this program has written, as protobuf_write does. */
bool protobuf_from_json(const char *text, size_t len, struct buf *out);
/** Appends an event of a watch about the object in `text`: a message behind its length. */
void protobuf_watch_event(const char *type, const char *text, size_t len, struct buf *out);
