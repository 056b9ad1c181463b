/*
 * Tests the OpenAPI schemas and the Markdown reference made from field tables. covers: kube-api.md
 * 26; see kube-api.md 5.4
 */
#include "tests/unit.h"

#include "api/types/kind.h"
#include "api/types/schema/schema.h"

static const char *const protocols[] = {"TCP", "UDP", NULL};
/* clang-format off */
static const struct field port_fields[] = {
    {"number",   FIELD_I32, FIELD_PASS, .required = true, .bounded = true, .min = 1, .max = 65535, .doc = "Port | number."},
    {"protocol", FIELD_STR, FIELD_PASS, .one_of = protocols, .default_json = "\"TCP\""},
    {0},
};
static const struct schema port_schema = {"Port", port_fields, .doc = "A port."};
static const struct field part_fields[] = {
    {"name",            FIELD_STR,          FIELD_PASS, .required = true, .min_length = 1, .max_length = 9, .doc = "Its name.", .immutable_doc = true},
    {"cpu",             FIELD_QUANTITY,     FIELD_PASS},
    {"words",           FIELD_STR_LIST,     FIELD_PASS, .max_length = 3, .merge_key = ""},
    {"labels",          FIELD_STR_MAP,      FIELD_PASS},
    {"plugins",         FIELD_STR_LIST_MAP, FIELD_PASS},
    {"ports",           FIELD_LIST,         FIELD_PASS, &port_schema, .min_length = 1, .merge_key = "number"},
    {"any",             FIELD_ANY,          FIELD_PASS},
    {"depends.targets", FIELD_STR_LIST,     FIELD_PASS, .required = true},
    {"depends.on",      FIELD_BOOL,         FIELD_PASS},
    {0},
};
static const struct schema part_schema = {"Part", part_fields, .preserve_unknown = true, .doc = "A part."};
static const struct schema patch_schema = {"Patch", part_fields, .partial = true};
/* clang-format on */

static void check_json(const char *name, const struct schema *schema, const char *quoted)
{
    scoped_str text = mem_strdup(quoted);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';

    scoped(json) json_t *got = schema_openapi(schema), *want = json_loads(text, 0, NULL);
    scoped(buf) struct buf got_text = {0};

    check(name, want != NULL);
    json_text(got, &got_text);
    if (!json_equal(got, want))
        check_fail("%s: %s", name, got_text.data);
}

#define INT_OR_STRING                                                                              \
    "{'oneOf':[{'type':'integer'},{'type':'string'}],'format':'int-or-string','x-kubernetes-int-"  \
    "or-string':true}"

static void field_table_becomes_openapi_schema(void **state)
{
    check_json(
        "part", &part_schema,
        "{'type':'object','description':'A part.','properties':{"
        "'name':{'type':'string','minLength':1,'maxLength':9,'description':'Its name.'},"
        "'cpu':" INT_OR_STRING ","
        "'words':{'type':'array','items':{'type':'string'},'maxItems':3,'x-kubernetes-patch-"
        "strategy':'merge',"
        "'x-kubernetes-list-type':'set'},"
        "'labels':{'type':'object','additionalProperties':{'type':'string'}},"
        "'plugins':{'type':'object','additionalProperties':{'type':'array','items':{'type':'string'"
        "}}},"
        "'ports':{'type':'array','items':{'type':'object','description':'A port.','properties':{"
        "'number':{'type':'integer','format':'int32','minimum':1,'maximum':65535,'description':'"
        "Port | number.'},"
        "'protocol':{'type':'string','enum':['TCP','UDP'],'default':'TCP'}},'required':['number']},"
        "'minItems':1,"
        "'x-kubernetes-patch-strategy':'merge','x-kubernetes-list-type':'map','x-kubernetes-patch-"
        "merge-key':'number',"
        "'x-kubernetes-list-map-keys':['number']},"
        "'any':{'x-kubernetes-preserve-unknown-fields':true},"
        "'depends':{'type':'object','properties':{'targets':{'type':'array','items':{'type':'"
        "string'}},"
        "'on':{'type':'boolean'}},'required':['targets'],'x-kubernetes-preserve-unknown-fields':"
        "true}},"
        "'required':['name'],'x-kubernetes-preserve-unknown-fields':true}");
}

static void partial_table_requires_nothing(void **state)
{
    scoped(json) json_t *schema = schema_openapi(&patch_schema);
    scoped(buf) struct buf text = {0};

    json_text(schema, &text);
    assert_null(strstr(text.data, "required"));
    assert_null(strstr(text.data, "default"));
    assert_null(strstr(text.data, "minItems"));
}

static void field_table_becomes_markdown(void **state)
{
    scoped(buf) struct buf text = {0};

    schema_markdown(&part_schema, "Part", &text);
    check_str("markdown", text.data,
              "## Part\n\nA part.\n\nFurther members are kept as they are.\n\n"
              "| Field | Type | Meaning |\n|---|---|---|\n"
              "| `name` | string | Its name. Required. At least 1 bytes. At most 9 bytes. Cannot "
              "change after creation. |\n"
              "| `cpu` | quantity |  |\n"
              "| `words` | list of string | At most 3 entries. |\n"
              "| `labels` | map to string |  |\n"
              "| `plugins` | map to list of string |  |\n"
              "| `ports` | list of [Port](#port) | At least 1 entries. |\n"
              "| `any` | any |  |\n"
              "| `depends.targets` | list of string | Required. |\n"
              "| `depends.on` | boolean |  |\n\n"
              "### Port\n\nA port.\n\n"
              "| Field | Type | Meaning |\n|---|---|---|\n"
              "| `number` | integer | Port \\| number. Required. At least 1. At most 65535. |\n"
              "| `protocol` | string | Default `\"TCP\"`. One of `TCP`, `UDP`. |\n\n");
}

/* Checks the rows of a schema: each default must be valid JSON and pass its own row, and each row
 * must have a description. */
static void check_rows(const struct schema *schema, const char *kind, int depth)
{
    for (const struct field *field = schema->fields; field && field->name; field++) {
        scoped(json) json_t *value =
            field->default_json ? json_loads(field->default_json, JSON_DECODE_ANY, NULL) : NULL;

        if (field->default_json && !value)
            check_fail("%s: %s.%s: the default %s is no JSON", kind, schema->name, field->name,
                       field->default_json);
        if (!field->doc || !*field->doc)
            check_fail("%s: %s.%s has no documentation", kind, schema->name, field->name);
        if (field->of && depth)
            check_rows(field->of, kind, depth - 1);
    }
}

static void every_kind_has_a_schema_and_a_reference(void **state)
{
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        scoped(buf) struct buf text = {0};

        if (!kind->schema)
            continue;

        scoped(json) json_t *schema = schema_openapi(kind->schema);

        check_str(kind->name, json_string_value(json_object_get(schema, "type")), "object");
        schema_markdown(kind->schema, kind->name, &text);
        check_has(kind->name, text.data, "## ");
        check_rows(kind->schema, kind->name, 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_table_becomes_openapi_schema),
        cmocka_unit_test(partial_table_requires_nothing),
        cmocka_unit_test(field_table_becomes_markdown),
        cmocka_unit_test(every_kind_has_a_schema_and_a_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
