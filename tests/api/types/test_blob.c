/*
 * Tests api/types/blob: interning, reference counts, facets, remembered results of admission.
 */
#include "tests/unit.h"

#include <string.h>

#include "api/types/blob.h"
#include "api/types/kind.h"

static void equal_texts_are_one_blob(void **state)
{
    struct blob *a = blob_intern("{\"a\":1}", 7);
    struct blob *b = blob_intern("{\"a\":1}", 7);
    struct blob *other = blob_intern("{\"a\":2}", 7);

    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, other);
    assert_string_equal(a->text, "{\"a\":1}");
    assert_int_equal(a->len, 7);
    blob_unref(a);
    assert_string_equal(b->text, "{\"a\":1}");
    blob_unref(b);
    blob_unref(other);

    struct blob *again = blob_intern("{\"a\":1}", 7);

    assert_int_equal(again->refs, 1);
    blob_unref(again);
}

static void blobs_not_interned_are_separate(void **state)
{
    struct blob *a = blob_new("x", 1), *b = blob_new("x", 1);

    assert_ptr_not_equal(a, b);
    blob_unref(a);
    blob_unref(b);
    blob_unref(NULL);
}

static void a_buffer_is_emptied_into_the_blob(void **state)
{
    struct buf text = {0};

    buf_str(&text, "[1,2]");

    struct blob *blob = blob_from_buf(&text);

    assert_string_equal(blob->text, "[1,2]");
    assert_int_equal(text.len, 0);
    blob_unref(blob);
}

static int freed;

static void count_free(void *decoded)
{
    freed += *(int *)decoded;
}

static void facet_is_freed_with_the_last_reference(void **state)
{
    static const struct facet_type type = {"test", count_free}, other = {"other", count_free};
    static int value = 7;
    struct blob *blob = blob_intern("facet", 5);

    assert_null(blob_facet(blob, &type));
    blob_set_facet(blob, &type, &value);
    assert_ptr_equal(blob_facet(blob, &type), &value);
    assert_null(blob_facet(blob, &other));
    blob_unref(blob_ref(blob));
    assert_int_equal(freed, 0);
    blob_unref(blob);
    assert_int_equal(freed, 7);
}

static void admission_output_is_remembered_while_it_exists(void **state)
{
    const struct kind *job = &kind_job, *pod = &kind_pod;
    struct blob *input = blob_intern("in", 2), *output = blob_intern("out", 3);

    assert_null(blob_output(input, job));
    output->admitted_as = job;
    blob_link_output(input, output);
    blob_unref(input); /* the output holds a reference */

    struct blob *same = blob_intern("in", 2), *found = blob_output(same, job);

    assert_ptr_equal(found, output);
    assert_null(blob_output(same, pod));
    blob_unref(found);

    found = blob_output(output, job); /* a body that admission leaves unchanged is its own output */
    assert_ptr_equal(found, output);
    blob_unref(found);

    blob_unref(output);
    assert_null(blob_output(same, job));
    blob_unref(same);
}

static void leading_string_needs_its_prefix(void **state)
{
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"the form", "{\"phase\":\"Running\",\"x\":1}", "Running"},
        {"empty", "{\"phase\":\"\"}", ""},
        {"another member first", "{\"x\":1,\"phase\":\"Running\"}", NULL},
        {"no string", "{\"phase\":7}", NULL},
        {"escapes", "{\"phase\":\"Run\\u006eing\"}", NULL},
        {"too long", "{\"phase\":\"RunningAndRunning\"}", NULL},
        {"cut", "{\"phase\":\"Run", NULL},
        {"shorter than the form", "{}", NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct blob *blob = blob_new(cases[i].text, strlen(cases[i].text));
        char out[16] = "";
        bool found = blob_leading_string(blob, "{\"phase\":\"", out, sizeof out);

        check(cases[i].name, found == (cases[i].want != NULL));
        check_str(cases[i].name, out, cases[i].want ? cases[i].want : "");
        blob_unref(blob);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one_blob),
        cmocka_unit_test(blobs_not_interned_are_separate),
        cmocka_unit_test(a_buffer_is_emptied_into_the_blob),
        cmocka_unit_test(facet_is_freed_with_the_last_reference),
        cmocka_unit_test(leading_string_needs_its_prefix),
        cmocka_unit_test(admission_output_is_remembered_while_it_exists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
