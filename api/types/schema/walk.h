#pragma once
/*
 * Going down a document and its field tables side by side.
 *
 * Where the tables end (free-form parts, parts of kinds without a table) one is nowhere: documents
 * go on, the rows do not.
 */
#include "api/types/schema/rows.h"

struct schema_at {
    struct schema_level level;   /* schema NULL: nothing is known of the members */
    const struct schema *values; /* a map: every member's value is one of these */
    bool is_map;                 /* members are entries, not fields */
    bool root;                   /* of an object, which has metadata beside its table */
};

/** At an object of a kind's table (may be NULL). */
struct schema_at schema_at_root(const struct schema *schema, bool partial);
/** The row of a member, NULL where there is none, and where its value (of a list: one of them) is.
 */
const struct field *schema_at_member(const struct schema_at *at, const char *key,
                                     struct schema_at *below);
