#pragma once
/*
 * The tables of the messages that are read and written as protobuf. Those of stored kinds are the
 * kinds' own field tables.
 */
#include "api/types/kind.h"
#include "api/types/schema/schema.h"

/** Returns whether objects of the kind can be written as protobuf: those of built-in kinds with a
 * table can. */
bool protobuf_has(const struct kind *kind);

extern const struct schema *const protobuf_list_meta; /* the metadata of a list */

/** Returns the table of a message, or NULL. *out_metadata is the table of its field 1 when it lacks
 * a row for metadata, else NULL. */
const struct schema *protobuf_schema_of(const char *api_version, const char *kind,
                                        const struct schema **out_metadata);
