#pragma once
/*
 * Objects that arrive as Kubernetes protobuf, turned into documents.
 *
 * kubectl since 1.32 sends some built-in kinds so and has no other way; answers are always JSON. A
 * message is decoded by its table, members nobody knows are skipped. Ref: spec/kube-api.md 5.6.
 */
#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/** The object in `bytes` (owned), with apiVersion and kind as the envelope says them. BAD_REQUEST
 * when it is no such message or of a kind that has no table. */
json_t *protobuf_parse(const void *bytes, size_t len, struct error *err);
