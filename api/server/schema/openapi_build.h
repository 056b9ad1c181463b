#pragma once
/*
 * Builds OpenAPI documents from the tables of kinds. Pure; the caller owns all results.
 */
#include <jansson.h>

#include "api/server/rest/resources.h"
#include "base/buf.h"

/** Returns the v3 schemas of every kind and of all types they refer to, by name. */
json_t *openapi_schemas(void);
/** Returns the v3 document of one group and version; `schemas` from openapi_schemas. */
json_t *openapi_v3(const struct api_group *group, json_t *schemas);
/** Builds the OpenAPI v2 document from the schemas. */
json_t *openapi_v2(json_t *schemas);
/** A v2 document as the protobuf message Document of gnostic's OpenAPIv2. */
void openapi_v2_protobuf(const json_t *document, struct buf *out);
