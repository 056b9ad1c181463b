/* Tests api/types/decoded: decoded forms are shared, lent, freed and made again. */
#include "tests/unit.h"

#include <string.h>

#include "api/types/decoded.h"

struct thing {
    int32_t size;
    json_t *rest;
};

#define THING(member) offsetof(struct thing, member)
static const struct field thing_fields[] = {
    {"size", FIELD_I32, THING(size)},
    {"rest", FIELD_ANY, THING(rest)},
    {0},
};
static const struct schema thing_schema = {"Thing", thing_fields, sizeof(struct thing)};

static bool thing_borrows(const void *decoded)
{
    return ((const struct thing *)decoded)->rest != NULL;
}

static const struct decoded_type thing_type = {
    .member = "spec",
    .schema = &thing_schema,
    .keep_document = true,
    .borrows = thing_borrows,
};
static const struct decoded_type keeping_type = {
    .member = "spec",
    .schema = &thing_schema,
    .keep_document = true,
};

static struct blob *blob_of(const char *text)
{
    return blob_new(text, strlen(text));
}

static const struct thing *thing_of(const struct blob *blob, const struct decoded_type *type)
{
    return decoded_of(blob, type);
}

static void blob_is_decoded_once_per_type(void **state)
{
    scoped(blob) struct blob *blob = blob_of("{\"spec\":{\"size\":3}}");
    const struct thing *thing = thing_of(blob, &thing_type);

    assert_int_equal(thing->size, 3);
    assert_ptr_equal(thing, thing_of(blob, &thing_type));
}

static void damaged_text_decodes_as_empty_object(void **state)
{
    scoped(blob) struct blob *blob = blob_of("{\"spec\":{\"size\":\"many\"}}");
    scoped(blob) struct blob *broken = blob_of("{\"spec\":");

    assert_int_equal(thing_of(blob, &thing_type)->size, 0);
    assert_int_equal(thing_of(broken, &thing_type)->size, 0);
    assert_null(decoded_document(broken, &thing_type));
}

static void document_is_parsed_on_first_use(void **state)
{
    scoped(blob) struct blob *blob = blob_of("{\"spec\":{\"size\":3}}");
    const json_t *document;

    thing_of(blob, &thing_type);
    document = decoded_document(blob, &thing_type);
    assert_int_equal(json_integer_value(json_object_get(document, "size")), 3);
    assert_ptr_equal(document, decoded_document(blob, &thing_type));
}

/* The lent document says 4 and the text does not, so the result shows which of them was decoded. */
static void lent_document_avoids_parsing(void **state)
{
    scoped(blob) struct blob *blob = blob_of("{\"spec\":{\"size\":3}}");
    scoped(json) json_t *lent = json_pack("{s:{s:i}}", "spec", "size", 4);

    decoded_lend(blob, lent);
    assert_int_equal(thing_of(blob, &thing_type)->size, 4);
    assert_ptr_equal(decoded_document(blob, &thing_type), json_object_get(lent, "spec"));
    decoded_return();
    assert_ptr_not_equal(decoded_document(blob, &thing_type), json_object_get(lent, "spec"));
}

static void borrowing_form_does_not_borrow_from_lent_document(void **state)
{
    static const struct decoded_type *const types[] = {&thing_type, &keeping_type};

    for (size_t i = 0; i < countof(types); i++) {
        scoped(blob) struct blob *blob = blob_of("{\"spec\":{\"size\":3,\"rest\":[1]}}");
        scoped(json) json_t *lent = json_pack("{s:{s:i,s:[i]}}", "spec", "size", 4, "rest", 1);
        const struct thing *thing;

        decoded_lend(blob, lent);
        thing = thing_of(blob, types[i]);
        decoded_return();
        json_object_clear(lent);
        assert_int_equal(thing->size, 3);
        assert_int_equal(json_array_size(thing->rest), 1);
    }
}

static bool is_large(const void *decoded)
{
    return ((const struct thing *)decoded)->size > 5;
}

static void trim_keeps_only_the_newest_ended_forms(void **state)
{
    static const struct decoded_type status = {.schema = &thing_schema, .ended = is_large};
    struct blob *blobs[4];

    for (size_t i = 0; i < countof(blobs); i++) {
        blobs[i] = blob_of("{\"size\":7,\"spec\":{\"size\":3}}");
        assert_int_equal(thing_of(blobs[i], &status)->size, 7);
        assert_int_equal(thing_of(blobs[i], &thing_type)->size, 3);
    }

    const struct thing *oldest_lasting = thing_of(blobs[0], &thing_type);
    const struct thing *newest = thing_of(blobs[3], &status);

    blob_unref(blobs[2]); /* the decoded form is freed with its blob */
    decoded_trim(1);
    assert_ptr_equal(oldest_lasting, thing_of(blobs[0], &thing_type));
    assert_ptr_equal(newest, thing_of(blobs[3], &status));
    assert_int_equal(thing_of(blobs[0], &status)->size, 7); /* the text is decoded again */
    decoded_trim(1);
    assert_int_equal(thing_of(blobs[3], &status)->size, 7);

    scoped(blob) struct blob *small = blob_of("{\"size\":5}");
    const struct thing *kept = thing_of(small, &status);

    decoded_trim(0);
    assert_ptr_equal(kept, thing_of(small, &status));
    assert_int_equal(kept->size, 5);
    blob_unref(blobs[0]);
    blob_unref(blobs[1]);
    blob_unref(blobs[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blob_is_decoded_once_per_type),
        cmocka_unit_test(damaged_text_decodes_as_empty_object),
        cmocka_unit_test(document_is_parsed_on_first_use),
        cmocka_unit_test(lent_document_avoids_parsing),
        cmocka_unit_test(borrowing_form_does_not_borrow_from_lent_document),
        cmocka_unit_test(trim_keeps_only_the_newest_ended_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
