#pragma once
/*
 * JSON Schema (draft-07) for editors, made from the OpenAPI definitions of field tables.
 *
 * It is as strict as admission where a schema can be: unknown members are refused, except in
 * free-form objects. In partial tables (patches and inline templates) a reference such as
 * $(params.n) may stand where a number is expected. Ref: spec/everyday.md 3.6.
 */
#include "api/types/schema/definitions.h"

/** Changes definitions (as of schema_definitions_all) in place: references lead to
 * "#/definitions/…", members that only Kubernetes knows are removed. */
void json_schema_from_definitions(json_t *definitions);
