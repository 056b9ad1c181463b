#pragma once
/*
 * Private to the schema files: rows with dotted names form levels.
 *
 * The rows "name", "dependsOn.targets" and "dependsOn.probe" of one table make two levels: the
 * object itself and the member dependsOn, which has no row of its own. A level is a schema and a
 * prefix, such as "dependsOn.".
 */
#include <string.h>

#include "api/types/schema/schema.h"

struct schema_level {
    const struct schema *schema;
    const char *prefix; /* points into a row's name */
    size_t prefix_len;
    bool partial; /* set in this schema or in one above it */
};

static inline struct schema_level schema_level(const struct schema *schema, bool partial)
{
    return (struct schema_level){schema, "", 0, partial || schema->partial};
}

/* What a level contains for a member name: its row, the level below it, or neither. */
struct schema_member {
    const struct field *field;
    bool nested; /* `level` is valid: the name leads to a level below */
    struct schema_level level;
};
struct schema_member schema_member(const struct schema_level *level, const char *key,
                                   size_t key_len);

/** Returns the rest of the row's name at this level, or NULL when the row belongs to another level.
 */
static inline const char *schema_local_name(const struct schema_level *level,
                                            const struct field *field)
{
    if (strncmp(field->name, level->prefix, level->prefix_len) != 0)
        return NULL;
    return field->name + level->prefix_len;
}

/** The offset of the value in a pair of a map, and the size of the pair. */
enum { SCHEMA_PAIR_VALUE = sizeof(const char *) };
static inline size_t schema_pair_size(size_t value_size)
{
    size_t align = sizeof(void *);

    return SCHEMA_PAIR_VALUE + (value_size + align - 1) / align * align;
}

/** Returns the text of a number or string, allocated in the arena if needed; NULL for other types.
 */
const char *schema_scalar_text(struct arena *arena, const json_t *value);
