#pragma once
/*
 * Inside the schema files: how rows with dotted names form levels.
 *
 * The rows "name", "dependsOn.targets" and "dependsOn.probe" of one table make two levels: the
 * object itself and the member dependsOn, of which the table has no row of its own. A level is a
 * schema and the prefix "dependsOn.".
 */
#include <string.h>

#include "api/types/schema/schema.h"

struct schema_level {
    const struct schema *schema;
    const char *prefix; /* points into a row's name */
    size_t prefix_len;
    bool partial; /* of the schema or of one above it */
};

static inline struct schema_level schema_level(const struct schema *schema, bool partial)
{
    return (struct schema_level){schema, "", 0, partial || schema->partial};
}

/* What a level knows about a member: its row, the level below it, or neither. */
struct schema_member {
    const struct field *field;
    bool nested; /* then `level` holds */
    struct schema_level level;
};
struct schema_member schema_member(const struct schema_level *level, const char *key,
                                   size_t key_len);

/** The rest of the row's name in this level, or NULL when the row belongs elsewhere. */
static inline const char *schema_local_name(const struct schema_level *level,
                                            const struct field *field)
{
    if (strncmp(field->name, level->prefix, level->prefix_len) != 0)
        return NULL;
    return field->name + level->prefix_len;
}

/** How many bytes a value of a FIELD_MAP pair lies behind its key, and the size of the pair. */
enum { SCHEMA_PAIR_VALUE = sizeof(const char *) };
static inline size_t schema_pair_size(const struct schema *of)
{
    size_t align = sizeof(void *);

    return SCHEMA_PAIR_VALUE + (of ? (of->size + align - 1) / align * align : sizeof(json_t *));
}

/** The value of a number or string as text in the arena; NULL for anything else. */
const char *schema_scalar_text(struct arena *arena, const json_t *value);
