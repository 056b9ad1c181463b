/*
 * Checks that tests/system/everything.yaml uses every field of a JobFlow. The test walks the field
 * tables along with the file, so that it fails for a new field that the file does not use.
 */
#include "tests/unit.h"

#include "api/types/kind.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/schema/schema.h"
#include "api/types/text/yaml.h"
#include "base/file.h"

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 16, ROWS_MAX = 300 };

/* A row of a field table. A table may be used at several places (conditions have three); one use is
 * enough. */
struct row {
    const struct field *field;
    bool used;
};

struct walk {
    struct row rows[ROWS_MAX];
    size_t count;
};

static struct row *row_of(struct walk *walk, const struct field *field)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->rows[i].field == field)
            return &walk->rows[i];
    assert_true(walk->count < ROWS_MAX);
    walk->rows[walk->count] = (struct row){field, false};
    return &walk->rows[walk->count++];
}

/* Returns the values of a member in all parents, with lists taken apart. Owned. */
static json_t *values_of(const json_t *parents, const char *member)
{
    json_t *all = json_array(), *parent, *element;
    size_t i, k;

    json_array_foreach(parents, i, parent)
    {
        json_t *value = json_object_get(parent, member);

        if (json_is_array(value))
            json_array_foreach(value, k, element) json_array_append(all, element);
        else if (value)
            json_array_append(all, value);
    }
    return all;
}

static void walk_schema(struct walk *walk, const struct schema *schema, const json_t *parents,
                        int depth)
{
    for (const struct field *field = schema->fields; field && field->name; field++) {
        scoped(json) json_t *values = values_of(parents, field->name);

        row_of(walk, field)->used |= json_array_size(values) > 0;
        if (field->of && !field->as_json && depth < DEPTH_MAX) /* a patch is of another kind */
            walk_schema(walk, field->of, values, depth + 1);
    }
}

static void the_example_uses_every_field(void **state)
{
    scoped_str path = source_path("tests/system/everything.yaml");
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    struct walk walk = {0};

    check_ok("read", file_read(path, FILE_MAX, &text, &err), err);

    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text.data, text.len, &yaml_limits_default, &err);
    scoped(json) json_t *parents = json_array();

    check_ok("parsed", stream != NULL, err);
    json_array_append(parents, json_object_get(yaml_document(stream, 0), "spec"));
    walk_schema(&walk, &jobflow_spec_schema, parents, 0);
    for (size_t i = 0; i < walk.count; i++)
        if (!walk.rows[i].used)
            check_fail("no step of %s uses %s: %s", path, walk.rows[i].field->name,
                       walk.rows[i].field->doc ? walk.rows[i].field->doc : "");
    check("there are many", walk.count > 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_uses_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
