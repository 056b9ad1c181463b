/*
 * Finds the row of a member while walking a document; past the end of the tables there is none.
 */
#include "api/types/schema/walk.h"

struct schema_at schema_at_root(const struct schema *schema, bool partial)
{
    struct schema_at at = {.root = true};

    if (schema)
        at.level = schema_level(schema, partial);
    return at;
}

const struct field *schema_at_member(const struct schema_at *at, const char *key,
                                     struct schema_at *below)
{
    struct schema_member member = {0};

    *below = (struct schema_at){0};
    if (at->is_map && at->values)
        below->level = schema_level(at->values, at->level.partial);
    if (at->is_map)
        return NULL;
    if (at->level.schema)
        member = schema_member(&at->level, key, strlen(key));
    if (member.nested)
        below->level = member.level;
    else if (member.field && field_shapes[member.field->type].form == FORM_MAP)
        *below = (struct schema_at){.is_map = true, .values = member.field->of};
    else if (member.field && member.field->of)
        below->level = schema_level(member.field->of, at->level.partial);
    else if (at->root && strcmp(key, "metadata") == 0)
        below->level = schema_level(&metadata_schema, at->level.partial);
    return member.field;
}
