#pragma once
/*
 * Objects as protobuf messages, by the same field tables as JSON: `pb` of a row is the number of
 * its field. What has no row, or no number, is skipped.
 */
#include "api/types/schema/schema.h"
#include "base/encoding/protobuf.h"

/**
 * Returns the document of a message (owned), or NULL with `err`. `metadata` is the schema of the
 * field 1, for messages whose table leaves metadata out; it may be NULL. The limits are those of
 * JSON: values are counted, and a text with a NUL is refused.
 */
json_t *schema_from_protobuf(const struct schema *schema, const struct schema *metadata,
                             struct pb_span message, const struct json_limits *limits,
                             struct error *err);
/** Appends the fields of a document that fits the schema. */
void schema_to_protobuf(const struct schema *schema, const struct schema *metadata,
                        const json_t *doc, struct buf *out);
