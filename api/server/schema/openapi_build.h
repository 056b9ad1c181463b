#pragma once
/*
 * Making OpenAPI documents. Pure; all results are owned by the caller.
 */
#include <jansson.h>

#include "api/server/rest/resources.h"
#include "base/buf.h"

/** Definitions of every kind and all they refer to, as v3 schemas by name. */
json_t *openapi_schemas(void);
/** The v3 document of one group and version. */
json_t *openapi_v3(const struct api_group *group, json_t *schemas);
/** The v2 document. */
json_t *openapi_v2(json_t *schemas);
/** A v2 document as the protobuf message Document of gnostic's OpenAPIv2. */
void openapi_v2_protobuf(const json_t *document, struct buf *out);
