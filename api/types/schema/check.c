/*
 * Checks a document against a field table: removes nulls and unknown members, adds defaults, then
 * checks each member by its row.
 */
#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "api/types/schema/rows.h"
#include "api/types/schema/schema.h"
#include "api/types/schema/value.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"

static void check_level(struct schema_check *c, const struct schema_level *level, json_t *object,
                        const struct field_path *place);

static void check_count(struct schema_check *c, const struct field *field, bool partial,
                        size_t count, const struct field_path *place)
{
    if (!partial && count < field->min_length)
        field_path_report(place, c->errors, "Invalid value: %zu: should have at least %u items",
                          count, field->min_length);
    else if (field->max_length && count > field->max_length)
        field_path_report(place, c->errors, "Too many: %zu: must have at most %u items", count,
                          field->max_length);
}

static void check_object(struct schema_check *c, const struct field *field, bool partial,
                         json_t *value, const struct field_path *place)
{
    struct schema_level level;

    if (!schema_expect(c, place, value, json_is_object(value), "object") || !field->of)
        return;
    level = schema_level(field->of, partial);
    check_level(c, &level, value, place);
}

static void check_entries(struct schema_check *c, const struct field *field, bool partial,
                          json_t *list, enum field_type type, const struct field_path *place);

/* Checks an entry of a list or map. The row's length bounds count entries, so they are not for the
 * text of one, nor for a list in a map. */
static void check_entry(struct schema_check *c, const struct field *field, bool partial,
                        json_t *value, enum field_type type, const struct field_path *place)
{
    if (type == FIELD_OBJECT && (field->of || field->type != FIELD_MAP))
        check_object(c, field, partial, value, place);
    else if (type == FIELD_QUANTITY)
        schema_check_value(c, field, type, value, place);
    else if (type == FIELD_STR && schema_expect(c, place, value, json_is_string(value), "string"))
        schema_check_content(c, field, value, place);
    else if (type == FIELD_STR_LIST &&
             schema_expect(c, place, value, json_is_array(value), "array"))
        check_entries(c, field, partial, value, FIELD_STR, place);
}

static void check_entries(struct schema_check *c, const struct field *field, bool partial,
                          json_t *list, enum field_type type, const struct field_path *place)
{
    size_t i;
    json_t *entry;

    json_array_foreach(list, i, entry)
    {
        struct field_path here = {.up = place, .index = i};

        check_entry(c, field, partial, entry, type, &here);
    }
}

static void check_list(struct schema_check *c, const struct field *field, bool partial,
                       json_t *value, const struct field_path *place)
{
    if (!schema_expect(c, place, value, json_is_array(value), "array"))
        return;
    check_count(c, field, partial, json_array_size(value), place);
    check_entries(c, field, partial, value, field_shapes[field->type].entry, place);
}

/* Replaces null entries of a string map by "", the text that decoding gives them. */
static void fill_nulls(json_t *map)
{
    const char *key;
    json_t *member;
    void *next;

    json_object_foreach_safe(map, next, key, member)
    {
        if (json_is_null(member))
            json_object_set_new(map, key, json_string(""));
    }
}

static void check_map(struct schema_check *c, const struct field *field, bool partial,
                      json_t *value, const struct field_path *place)
{
    const char *key;
    json_t *member;

    if (!schema_expect(c, place, value, json_is_object(value), "object"))
        return;
    if (c->options->drop_null && field->type == FIELD_STR_MAP)
        fill_nulls(value);
    check_count(c, field, partial, json_object_size(value), place);
    json_object_foreach(value, key, member)
    {
        struct field_path here = {.up = place, .name = key, .map_key = true};

        if (!json_is_null(member) || field->type == FIELD_MAP)
            check_entry(c, field, partial, member, field_shapes[field->type].entry, &here);
    }
}

static void check_by_row(struct schema_check *c, const struct field *field, bool partial,
                         json_t *value, const struct field_path *place)
{
    if (field_shapes[field->type].form == FORM_LIST)
        check_list(c, field, partial, value, place);
    else if (field_shapes[field->type].form == FORM_MAP)
        check_map(c, field, partial, value, place);
    else if (field->type == FIELD_OBJECT || field->type == FIELD_INLINE)
        check_object(c, field, partial, value, place);
    else
        schema_check_value(c, field, field->type, value, place);
}

/* Returns the name, cut at its next dot, of the row most similar to a mistyped member. */
static const char *nearest_member(const struct schema_level *level, const char *key, char out[64])
{
    struct suggest best = {0};

    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = schema_local_name(level, field);
        char local[64];
        size_t len = name ? strcspn(name, ".") : 0;

        if (!len || len >= sizeof local)
            continue;
        memcpy(local, name, len);
        local[len] = '\0';
        suggest_offer(&best, key, local);
        if (best.word == local) {
            memcpy(out, local, len + 1);
            best.word = out;
        }
    }
    return best.word;
}

static const char *instead_of(const struct schema *schema, const char *key)
{
    for (const struct foreign_word *row = schema->foreign; row && row->word; row++)
        if (strcmp(row->word, key) == 0)
            return row->instead;
    return NULL;
}

static void report_unknown(const struct schema_level *level, const struct field_path *place,
                           struct error_list *to)
{
    scoped_str path = field_path_text(place);
    char near[64];
    const char *instead = instead_of(level->schema, place->name);
    const char *best = instead ? NULL : nearest_member(level, place->name, near);

    if (instead)
        error_list_add(to, ERR_BAD_REQUEST, path, "unknown field \"%s\": %s", path, instead);
    else if (best)
        error_list_add(to, ERR_BAD_REQUEST, path, "unknown field \"%s\", did you mean \"%s\"?",
                       path, best);
    else
        error_list_add(to, ERR_BAD_REQUEST, path, "unknown field \"%s\"", path);
}

static bool is_kept_unknown(const struct schema_level *level, const char *key)
{
    return level->schema->preserve_unknown ||
           (level->partial && (strcmp(key, "$patch") == 0 || strcmp(key, "$retainKeys") == 0));
}

static void set_defaults(struct schema_check *c, const struct schema_level *level, json_t *object)
{
    if (!c->options->defaults || level->partial)
        return;
    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = field->default_json ? schema_local_name(level, field) : NULL;
        const json_t *present;

        if (!name || strchr(name, '.'))
            continue;
        present = json_object_get(object, name);
        if (!present || (c->options->drop_null && json_is_null(present)) ||
            (field->zero_is_absent && json_is_integer(present) && json_integer_value(present) == 0))
            json_object_set_new_nocheck(object, name,
                                        json_loads(field->default_json, JSON_DECODE_ANY, NULL));
    }
}

static void check_required(struct schema_check *c, const struct schema_level *level,
                           const json_t *object, const struct field_path *place)
{
    if (level->partial)
        return;
    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = field->required ? schema_local_name(level, field) : NULL;
        const json_t *value;

        if (!name || strchr(name, '.'))
            continue;
        value = json_object_get(object, name);
        if (!value || json_is_null(value)) {
            struct field_path here = {.up = place, .name = name};

            field_path_report(&here, c->errors, "Required value");
        }
    }
}

/* Returns whether the value is a reference such as $(params.n). A patch may have one in place of a
 * number or a formatted string; the value it stands for is checked when it is known. */
static bool stands_for_another(const struct field *field, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!text || !field || !strstr(text, "$("))
        return false;
    return field->type == FIELD_STR || field->type == FIELD_ENUM ? flow_ref_in(text)
                                                                 : flow_ref_is_all(text);
}

static void check_level(struct schema_check *c, const struct schema_level *level, json_t *object,
                        const struct field_path *place)
{
    const char *key;
    json_t *value;
    void *next;

    set_defaults(c, level, object);
    json_object_foreach_safe(object, next, key, value)
    {
        struct field_path here = {.up = place, .name = key};
        struct schema_member member = schema_member(level, key, strlen(key));

        if (!member.field && !member.nested) {
            if (is_kept_unknown(level, key))
                continue;
            if (c->options->unknown == UNKNOWN_ERROR) {
                report_unknown(level, &here, c->errors);
                continue;
            }
            if (c->options->pruned)
                report_unknown(level, &here, c->options->pruned);
            json_object_del(object, key);
        } else if (json_is_null(value)) {
            if (c->options->drop_null && !(member.field && member.field->type == FIELD_ANY))
                json_object_del(object, key);
        } else if (level->partial && stands_for_another(member.field, value)) {
            continue;
        } else if (member.field) {
            check_by_row(c, member.field, level->partial, value, &here);
        } else if (schema_expect(c, &here, value, json_is_object(value), "object")) {
            check_level(c, &member.level, value, &here);
        }
    }
    check_required(c, level, object, place);
}

void schema_check(const struct schema *schema, json_t *doc, const char *path,
                  const struct schema_options *options, struct error_list *errors)
{
    struct schema_check c = {options, errors};
    struct field_path root = {.name = path ? path : ""};
    struct schema_level level = schema_level(schema, false);

    if (schema_expect(&c, &root, doc, json_is_object(doc), "object"))
        check_level(&c, &level, doc, &root);
}
