#pragma once
/*
 * Field tables as OpenAPI v3 definitions that refer to each other by name.
 */
#include "api/types/schema/schema.h"

struct schema_definitions;

struct schema_definitions *schema_definitions_new(void);
void schema_definitions_free(struct schema_definitions *definitions); /* NULL is ignored */

/** Sets the prefix for the names of definitions added from now on: "io.k8s.api.core.v1.". A
 * definition that exists keeps its name. */
void schema_definitions_prefix(struct schema_definitions *definitions, const char *prefix);
/** Adds the definition of `schema` and of all it refers to, unless they exist, and returns its name
 * (borrowed). The name of a partial schema ends with "Patch". */
const char *schema_definitions_add(struct schema_definitions *definitions,
                                   const struct schema *schema);
/** Returns the definitions by name (borrowed; the caller may add to them). */
json_t *schema_definitions_all(const struct schema_definitions *definitions);
