#pragma once
/*
 * Walks a document and its field tables together.
 *
 * The tables end before the document does in free-form parts and in kinds without a table. There
 * the position has no schema, and every member below it has no row.
 */
#include "api/types/schema/rows.h"

struct schema_at {
    struct schema_level level;   /* schema NULL: the members are unknown */
    const struct schema *values; /* table of each value of a map */
    bool is_map;                 /* members are map entries, not fields */
    bool root;                   /* the object itself, which has metadata beside its table */
};

/** Returns the position at the root of an object with this table (may be NULL). */
struct schema_at schema_at_root(const struct schema *schema, bool partial);
/** Returns the row of a member, NULL where there is none, and the position of its value (for a
 * list, of one entry). */
const struct field *schema_at_member(const struct schema_at *at, const char *key,
                                     struct schema_at *below);
