#pragma once
/*
 * Field tables as OpenAPI v3 definitions that refer to each other by name.
 */
#include "api/types/schema/schema.h"

struct schema_definitions;

struct schema_definitions *schema_definitions_new(void);
void schema_definitions_free(struct schema_definitions *definitions); /* NULL is fine */

/** What the names of definitions added from now on begin with: "io.k8s.api.core.v1.". A definition
 * keeps the name it got first. */
void schema_definitions_prefix(struct schema_definitions *definitions, const char *prefix);
/** Add the definition of `schema` and of all it refers to, unless they are there; its name
 * (borrowed). Of patches ("partial") the name ends with Patch. */
const char *schema_definitions_add(struct schema_definitions *definitions,
                                   const struct schema *schema);
/** Definitions by name (borrowed; the caller may add to them). */
json_t *schema_definitions_all(const struct schema_definitions *definitions);
