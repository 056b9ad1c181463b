/*
 * Tests the merge patches that updates are sent as.
 */
#include "tests/unit.h"

#include "api/cluster_remote/merge_difference.h"

static struct object *object_of(const char *text)
{
    scoped(json) json_t *doc = json_loads(text, 0, NULL);
    struct error_list errors = {0};
    struct object *object;

    json_object_set_new(doc, "apiVersion", json_string("batch.volcano.sh/v1alpha1"));
    json_object_set_new(doc, "kind", json_string("Job"));
    object = object_from_json(doc, &errors);
    check(text, object != NULL);
    return object;
}

static void a_patch_has_what_changed_and_nothing_else(void **state)
{
    static const struct {
        const char *name, *from, *to, *patch;
    } cases[] = {
        {"nothing", "{\"spec\":{\"a\":1}}", "{\"spec\":{\"a\":1}}", NULL},
        {"a value", "{\"spec\":{\"a\":1,\"b\":2}}", "{\"spec\":{\"a\":1,\"b\":3}}",
         "{\"spec\":{\"b\":3}}"},
        {"a member less", "{\"spec\":{\"a\":1,\"b\":2}}", "{\"spec\":{\"a\":1}}",
         "{\"spec\":{\"b\":null}}"},
        {"a member deep down", "{\"spec\":{\"a\":{\"b\":{\"c\":1,\"d\":1}}}}",
         "{\"spec\":{\"a\":{\"b\":{\"c\":2,\"d\":1}}}}", "{\"spec\":{\"a\":{\"b\":{\"c\":2}}}}"},
        {"a list is one value", "{\"spec\":{\"a\":[1,2]}}", "{\"spec\":{\"a\":[1,3]}}",
         "{\"spec\":{\"a\":[1,3]}}"},
        {"an annotation", "{\"metadata\":{\"annotations\":{\"a\":\"1\",\"b\":\"1\"}},\"spec\":{}}",
         "{\"metadata\":{\"annotations\":{\"a\":\"2\",\"b\":\"1\"}},\"spec\":{}}",
         "{\"metadata\":{\"annotations\":{\"a\":\"2\"}}}"},
        {"the last finalizer", "{\"metadata\":{\"finalizers\":[\"x/y\"]},\"spec\":{}}",
         "{\"metadata\":{},\"spec\":{}}", "{\"metadata\":{\"finalizers\":null}}"},
        {"a status is not written", "{\"spec\":{},\"status\":{\"a\":1}}",
         "{\"spec\":{},\"status\":{\"a\":2}}", NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *from = object_of(cases[i].from);
        scoped(object) struct object *to = object_of(cases[i].to);
        scoped(json) json_t *patch = merge_difference(from, to);
        char *text = patch ? json_dumps(patch, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

        check_str(cases[i].name, text, cases[i].patch);
        free(text);
    }
}

static void a_patch_is_recognised_in_the_object(void **state)
{
    static const struct {
        const char *name, *patch, *doc;
        bool applied;
    } cases[] = {
        {"equal", "{\"spec\":{\"a\":1}}", "{\"spec\":{\"a\":1,\"b\":2}}", true},
        {"another value", "{\"spec\":{\"a\":1}}", "{\"spec\":{\"a\":2}}", false},
        {"missing", "{\"spec\":{\"a\":1}}", "{\"spec\":{}}", false},
        {"removed", "{\"spec\":{\"a\":null}}", "{\"spec\":{\"b\":1}}", true},
        {"not removed", "{\"spec\":{\"a\":null}}", "{\"spec\":{\"a\":1}}", false},
        {"identity does not count",
         "{\"metadata\":{\"resourceVersion\":\"5\",\"uid\":\"u\"},\"spec\":{\"a\":1}}",
         "{\"metadata\":{\"resourceVersion\":\"6\",\"uid\":\"u\"},\"spec\":{\"a\":1}}", true},
        {"an annotation counts", "{\"metadata\":{\"annotations\":{\"a\":\"1\"}}}",
         "{\"metadata\":{\"annotations\":{\"a\":\"2\"}}}", false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *patch = json_loads(cases[i].patch, 0, NULL);
        scoped(json) json_t *doc = json_loads(cases[i].doc, 0, NULL);

        check_int(cases[i].name, merge_difference_applied(patch, doc), cases[i].applied);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_has_what_changed_and_nothing_else),
        cmocka_unit_test(a_patch_is_recognised_in_the_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
