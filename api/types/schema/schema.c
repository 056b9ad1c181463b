/*
 * Finds rows of a field table, by member of a level and by dotted path.
 */
#include "api/types/schema/schema.h"

#include "api/types/schema/rows.h"
#include "api/types/text/json_text.h"

const struct field_shape field_shapes[FIELD_TYPE_N] = {
    [FIELD_STR_LIST] = {FORM_LIST, FIELD_STR},
    [FIELD_STR_MAP] = {FORM_MAP, FIELD_STR},
    [FIELD_QUANTITY_MAP] = {FORM_MAP, FIELD_QUANTITY},
    [FIELD_STR_LIST_MAP] = {FORM_MAP, FIELD_STR_LIST},
    [FIELD_LIST] = {FORM_LIST, FIELD_OBJECT},
    [FIELD_MAP] = {FORM_MAP, FIELD_OBJECT},
};

struct schema_member schema_member(const struct schema_level *level, const char *key,
                                   size_t key_len)
{
    struct schema_member found = {0};

    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = schema_local_name(level, field);

        if (!name || strncmp(name, key, key_len) != 0)
            continue;
        if (!name[key_len]) {
            found.field = field;
            return found;
        }
        if (name[key_len] == '.') {
            found.nested = true;
            found.level = *level;
            found.level.prefix = field->name;
            found.level.prefix_len = level->prefix_len + key_len + 1;
            return found;
        }
    }
    return found;
}

/* Returns the length of the next segment of a path without list indexes and map keys in brackets;
 * *rest is what follows. */
static size_t segment(const char *path, const char **rest)
{
    size_t len = strcspn(path, ".[");
    const char *end = path + len;

    while (*end == '[') {
        end += strcspn(end, "]");
        end += *end == ']';
    }
    *rest = *end == '.' ? end + 1 : end;
    return len;
}

const struct field *schema_find(const struct schema *schema, const char *path)
{
    struct schema_level level = schema_level(schema, false);

    for (;;) {
        const char *rest;
        size_t len = segment(path, &rest);
        struct schema_member member = schema_member(&level, path, len);

        if (!len)
            return NULL;
        if (member.nested) {
            level = member.level;
        } else {
            if (!member.field || !*rest)
                return member.field;
            if (!member.field->of)
                return NULL;
            level = schema_level(member.field->of, false);
        }
        path = rest;
        /* In "plugins.ssh.x", ssh is a map key. */
        if (member.field && member.field->type == FIELD_MAP) {
            segment(path, &path);
            if (!*path)
                return member.field;
        }
    }
}

const char *schema_scalar_text(struct arena *arena, const json_t *value)
{
    char number[JSON_NUMBER_MAX];

    if (json_is_string(value))
        return arena_strndup(arena, json_string_value(value), json_string_length(value));
    if (!json_is_number(value))
        return NULL;
    json_number_text(value, number);
    return arena_strdup(arena, number);
}
