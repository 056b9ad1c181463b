/*
 * Writes field tables as reference documentation in Markdown. Each table that is reached gets one
 * section, in the order of first use.
 */
#include <ctype.h>

#include "api/types/schema/schema.h"
#include "base/mem.h"

/* The tables reached so far. */
struct sections {
    struct section {
        const struct schema *schema;
    } * items;
    size_t count, cap;
};

/* clang-format off */
/* The name of each type in the text; NULL: the name of the field's table. */
static const char *const types[FIELD_TYPE_N] = {
    [FIELD_STR]        = "string",
    [FIELD_ENUM]       = "string",
    [FIELD_I32]        = "integer",
    [FIELD_OPT_I32]    = "integer",
    [FIELD_I64]        = "integer",
    [FIELD_OPT_I64]    = "integer",
    [FIELD_BOOL]       = "boolean",
    [FIELD_OPT_BOOL]   = "boolean",
    [FIELD_QUANTITY]   = "quantity",
    [FIELD_DURATION]   = "duration",
    [FIELD_TIME]       = "time",
    [FIELD_INT_OR_STR] = "integer or string",
    [FIELD_BASE64]     = "base64",
    [FIELD_ANY]        = "any",
};
/* clang-format on */

static void meet(struct sections *sections, const struct schema *schema)
{
    for (size_t i = 0; i < sections->count; i++)
        if (sections->items[i].schema == schema)
            return;
    mem_grow(sections->items, sections->count, sections->cap);
    sections->items[sections->count++].schema = schema;
}

static void write_type(const struct field *field, enum field_type type, struct buf *out)
{
    static const char *const around[] = {"", "list of ", "map to "};
    enum field_form form = field_shapes[type].form;

    buf_str(out, around[form]);
    if (form != FORM_ONE) {
        write_type(field, field_shapes[type].entry, out);
    } else if (types[type]) {
        buf_str(out, types[type]);
    } else if (!field->of || !field->of->name) {
        buf_str(out, "object");
    } else {
        buf_printf(out, "[%s](#", field->of->name);
        for (const char *c = field->of->name; *c; c++)
            buf_char(out, (char)tolower((unsigned char)*c));
        buf_char(out, ')');
    }
}

/* Writes one sentence for each rule of the field. */
static void write_rules(const struct field *field, struct buf *out)
{
    bool counted = field_shapes[field->type].form != FORM_ONE;

    if (field->required)
        buf_str(out, " Required.");
    if (field->default_json)
        buf_printf(out, " Default `%s`.", field->default_json);
    if (field->one_of) {
        buf_str(out, " One of");
        for (const char *const *one = field->one_of; *one; one++)
            buf_printf(out, "%s `%s`", one == field->one_of ? "" : ",", *one);
        buf_char(out, '.');
    }
    if (field->bounded && field->min > INT64_MIN)
        buf_printf(out, " At least %lld.", (long long)field->min);
    if (field->bounded && field->max < INT64_MAX)
        buf_printf(out, " At most %lld.", (long long)field->max);
    if (field->min_length)
        buf_printf(out, " At least %u %s.", field->min_length, counted ? "entries" : "bytes");
    if (field->max_length)
        buf_printf(out, " At most %u %s.", field->max_length, counted ? "entries" : "bytes");
    if (field->immutable_doc)
        buf_str(out, " Cannot change after creation.");
}

/* Escapes '|', which would end the table cell. */
static void write_cell(const char *text, struct buf *out)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_char(out, '\\');
        buf_char(out, (char)(*text == '\n' ? ' ' : *text));
    }
}

static void write_section(struct sections *sections, const struct schema *schema, const char *title,
                          const char *marks, struct buf *out)
{
    buf_printf(out, "%s %s\n\n", marks, title);
    if (schema->doc)
        buf_printf(out, "%s\n\n", schema->doc);
    if (schema->preserve_unknown)
        buf_str(out, "Further members are kept as they are.\n\n");
    if (!schema->fields || !schema->fields->name)
        return;
    buf_str(out, "| Field | Type | Meaning |\n|---|---|---|\n");
    for (const struct field *field = schema->fields; field->name; field++) {
        scoped(buf) struct buf meaning = {0};

        buf_str(&meaning, field->doc ? field->doc : "");
        write_rules(field, &meaning);
        buf_printf(out, "| `%s` | ", field->name);
        write_type(field, field->type, out);
        buf_str(out, " | ");
        if (meaning.len)
            write_cell(meaning.data + (*meaning.data == ' '), out);
        buf_str(out, " |\n");
        if (field->of)
            meet(sections, field->of);
    }
    buf_char(out, '\n');
}

void schema_markdown(const struct schema *schema, const char *title, struct buf *out)
{
    struct sections sections = {0};

    meet(&sections, schema);
    write_section(&sections, schema, title, "##", out);
    for (size_t i = 1; i < sections.count; i++) {
        const struct schema *inner = sections.items[i].schema;

        write_section(&sections, inner, inner->name ? inner->name : "object", "###", out);
    }
    mem_free(sections.items);
}
