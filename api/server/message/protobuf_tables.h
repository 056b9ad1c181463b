#pragma once
/*
 * The tables of the messages that are read and written as protobuf. Those of stored kinds are the
 * kinds' own field tables.
 */
#include "api/types/schema/schema.h"

/** The table of a message, or NULL. *out_metadata is the table of its field 1 when it lacks a row
 * for metadata, else NULL. */
const struct schema *protobuf_schema_of(const char *api_version, const char *kind,
                                        const struct schema **out_metadata);
