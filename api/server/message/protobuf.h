#pragma once
/*
 * Decodes objects that arrive as Kubernetes protobuf into documents.
 *
 * kubectl since 1.32 sends some built-in kinds only in this form; responses are always JSON. A
 * message is decoded by its table of fields; unknown fields are skipped. Ref: spec/kube-api.md 5.6.
 */
#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/** Returns the object in `bytes` (owned), with apiVersion and kind from the envelope. BAD_REQUEST
 * when the bytes are malformed or of a kind that has no table. */
json_t *protobuf_parse(const void *bytes, size_t len, struct error *err);
