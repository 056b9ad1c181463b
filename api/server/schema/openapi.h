#pragma once
/*
 * OpenAPI documents of the kinds, out of their field tables: v3 in one document per group and
 * version, v2 in one of everything, as JSON for people and as protobuf for kubectl before 1.29.
 * Ref: spec/kube-api.md 5.
 *
 * Made when first asked for (some ten milliseconds), kept as bytes.
 */
#include "api/server/rest/internal.h"

struct openapi;

/** The answer to /openapi/v2, /openapi/v3 and what is below it; NULL for other paths. */
struct api_stream *openapi_answer(const struct api_call *call);
void openapi_free(struct openapi *openapi); /* NULL is fine */
