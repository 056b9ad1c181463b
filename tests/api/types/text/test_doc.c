/*
 * Tests api/types/text/doc.
 */
#include "tests/unit.h"

#include "api/types/text/doc.h"
#include "api/types/text/json_text.h"

static const char text[] = "{\"a\":{\"b\":[{\"c\":1},[2,{\"d\":3}]]},\"m\":{\"x.io/y\":4,\"\":5}}";

static const struct {
    const char *path, *found; /* `found` NULL: absent */
} cases[] = {
    {"a.b[0].c", "1"},    {"a.b[1][0]", "2"},     {"a.b[1][1].d", "3"},
    {"m[x.io/y]", "4"},   {"m[]", "5"},           {"a.b", "[{\"c\":1},[2,{\"d\":3}]]"},
    {"a.b[2]", NULL},     {"a.b[x]", NULL},       {"a.b[18446744073709551616]", NULL},
    {"a.b.c", NULL},      {"a.b[0", "{\"c\":1}"}, {"a.c.d", NULL},
    {"a.b[0].c.d", NULL}, {"x.io/y", NULL},
};

static void values_are_found_by_the_paths_of_findings(void **state)
{
    scoped(json) json_t *doc = json_loads(text, 0, NULL);

    for (size_t i = 0; i < countof(cases); i++) {
        const json_t *found = doc_at(doc, cases[i].path);
        scoped(buf) struct buf got = {0};

        check(cases[i].path, !found == !cases[i].found);
        if (!found)
            continue;
        json_text(found, &got);
        check_str(cases[i].path, got.data, cases[i].found);
    }
    check("the whole", doc_at(doc, "") == doc);
    check("of nothing", doc_at(NULL, "a") == NULL);
}

static void an_entry_of_a_list_is_found_by_its_name(void **state)
{
    scoped(json) json_t *list = json_loads(
        "[1, {\"name\":2}, {\"name\":\"a\",\"at\":0}, {\"name\":\"a\",\"at\":1}]", 0, NULL);

    check("the first", doc_named(list, "a") == json_array_get(list, 2));
    check("absent", doc_named(list, "b") == NULL);
    check("no name", doc_named(list, NULL) == NULL);
    check("no list", doc_named(NULL, "a") == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_the_paths_of_findings),
        cmocka_unit_test(an_entry_of_a_list_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
