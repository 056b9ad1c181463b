/*
 * Tests api/types/meta, object, object_json. covers: reliability.md FZ-01 FZ-13; see kube-api.md
 * 8.1
 */
#include "tests/unit.h"

#include "api/types/object.h"

static const char full[] =
    "{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\","
    "\"generateName\":\"g-\",\"namespace\":\"ns\",\"uid\":\"u-1\",\"resourceVersion\":\"42\","
    "\"generation\":3,"
    "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"deletionTimestamp\":\"2026-01-02T03:04:35Z\","
    "\"deletionGracePeriodSeconds\":30,\"labels\":{\"b\":\"1\",\"a\":\"2\"},\"annotations\":{\"x/"
    "y\":\"\\\"z\\\"\"},"
    "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u-2\"},"
    "{\"apiVersion\":\"flow.volcano.sh/"
    "v1alpha1\",\"kind\":\"JobFlow\",\"name\":\"f\",\"uid\":\"u-3\",\"controller\":true,"
    "\"blockOwnerDeletion\":true}],\"finalizers\":[\"a/"
    "b\",\"orphan\"],\"managedFields\":[{\"manager\":\"m\"}]},"
    "\"spec\":{\"tasks\":[],\"f\":0.1,\"unknown\":null},\"status\":{\"state\":{\"phase\":"
    "\"Running\"}}}";

static json_t *parse(const char *text)
{
    json_t *doc = json_loads(text, 0, NULL);

    assert_non_null(doc);
    return doc;
}

static struct object *object_of(const char *text)
{
    scoped(json) json_t *doc = parse(text);
    struct error_list errors = {0};
    struct error err = {0};
    struct object *object = object_from_json(doc, &errors);

    check_ok("object", error_list_ok(&errors, &err), err);
    error_list_release(&errors);
    return object;
}

static void objects_survive_parsing_and_writing(void **state)
{
    scoped(object) struct object *object = object_of(full);
    scoped(buf) struct buf text = {0};

    object_write(object, &text);
    check_str("text", text.data, full);
    assert_ptr_equal(object->kind, &kind_job);
    assert_int_equal(object->revision, 42);
    check_str("controller", meta_controller(object->meta)->name, "f");
    check_str("label", meta_label(object->meta, "a"), "2");
    check_str("annotation", meta_annotation(object->meta, "x/y"), "\"z\"");
    assert_null(meta_label(object->meta, "x/y"));
    assert_true(meta_has_finalizer(object->meta, "orphan"));
    assert_false(meta_has_finalizer(object->meta, "a"));
    assert_true(object_deleting(object));

    scoped(json) json_t *whole = object_to_json(object), *expected = parse(full);
    scoped(json) json_t *body = object_body_json(object), *status = object_status_json(object);

    assert_true(json_equal(whole, expected));
    assert_int_equal(json_object_size(body), 1);
    assert_true(json_equal(status, json_object_get(expected, "status")));
}

static void a_bare_object_is_small(void **state)
{
    static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                               "{\"name\":\"c\",\"creationTimestamp\":null,\"labels\":null}}";
    scoped(object) struct object *object = object_of(text);
    scoped(buf) struct buf written = {0};

    object_write(object, &written);
    check_str("text", written.data,
              "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}");
    check_str("body", object->body->text, "{}");
    assert_null(object->status);
    assert_int_equal(object->meta->deletion_grace_s, -1);
}

static void versions_share_their_parts(void **state)
{
    scoped(object) struct object *first = object_of(full);

    first->row = 7;

    scoped(object) struct object *second = object_with_status(first, blob_new("{}", 2));

    assert_ptr_equal(first->meta, second->meta);
    assert_ptr_equal(first->body, second->body);
    assert_int_equal(second->revision, 42);
    assert_int_equal(second->row, 7);

    scoped(object) struct object *third = object_with_body(second, blob_intern("{}", 2));
    scoped(object) struct object *fourth = object_with_meta(third, meta_new(first->meta));

    assert_ptr_equal(third->status, second->status);
    assert_ptr_not_equal(fourth->meta, first->meta);
    check_str("name", object_name(fourth), "j");
}

static void metadata_survives_the_store(void **state)
{
    scoped(object) struct object *object = object_of(full);
    scoped(buf) struct buf stored = {0};
    struct error err = {0};

    meta_encode(object->meta, &stored);

    scoped(meta) struct meta *meta = meta_decode(stored.data, stored.len, &err);

    check_ok("decode", meta, err);
    assert_true(meta_bytes(meta) >= stored.len);

    scoped(object) struct object *same = object_with_meta(object, take(meta));
    scoped(buf) struct buf text = {0};

    object_write(same, &text);
    check_str("text", text.data, full);
}

/* The bytes are metadata with one label and one owner, encoded as version 1 of the stored form. */
static void metadata_of_older_stores_is_read(void **state)
{
    static const char stored[] = "\x01\x01\x00\x00\x00\x02\x00\x00\x01"
                                 "\x03ns\0"
                                 "\x02j\0"
                                 "\x00"
                                 "\x03id\0"
                                 "\x00"
                                 "\x02k\0"
                                 "\x03id\0";
    struct error err = {0};
    scoped(meta) struct meta *meta = meta_decode(stored, sizeof stored - 1, &err);
    size_t len;

    check_ok("decode", meta, err);
    check_str("namespace", meta->namespace, "ns");
    check_str("name", meta->name, "j");
    assert_null(meta->generate_name);
    check_str("uid", meta->uid, "id");
    check_str("label", meta_label(meta, "k"), "id");
    check_int("generation", meta->generation, 1);
    assert_memory_equal(meta_stored(meta, &len), stored, sizeof stored - 1);
}

static void equal_strings_are_stored_once(void **state)
{
    const struct kv annotations[] = {
        {"volcano.sh/job-name", "a-long-name"}, {"mine", "a-long-name"}, {"other", "j"}};
    const struct kv labels[] = {{"volcano.sh/job-name", "a-long-name"}};
    const struct meta draft = {.namespace = "default",
                               .name = "a-long-name",
                               .uid = "u",
                               .annotations = annotations,
                               .n_annotations = countof(annotations),
                               .labels = labels,
                               .n_labels = countof(labels)};
    scoped(meta) struct meta *first = meta_new(&draft), *second = meta_new(&draft);
    scoped(buf) struct buf stored = {0};
    size_t len;
    const char *bytes = meta_stored(first, &len);

    assert_ptr_equal(first->name, first->annotations[1].value);
    assert_ptr_equal(first->name, meta_label(first, "volcano.sh/job-name"));
    assert_ptr_equal(first->labels[0].key, second->annotations[0].key);
    assert_ptr_not_equal(first->name, second->name);
    meta_encode(first, &stored);
    assert_int_equal(stored.len, len);
    assert_memory_equal(stored.data, bytes, len);
}

/* Each string occurs twice, and there are more strings than the stored form can refer to again. */
static void many_strings_are_kept(void **state)
{
    enum { MANY = 200 };
    struct kv labels[MANY];
    char texts[MANY][16];

    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "text-%zu", i);
        labels[i] = (struct kv){texts[i], texts[MANY - 1 - i]};
    }

    const struct meta draft = {.labels = labels, .n_labels = MANY};
    scoped(meta) struct meta *meta = meta_new(&draft);

    assert_int_equal(meta->n_labels, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_string_equal(meta->labels[i].key, labels[i].key);
        assert_string_equal(meta->labels[i].value, labels[i].value);
    }
    assert_string_equal(meta->name, "");
}

static void invalid_string_references_are_an_error(void **state)
{
    static const struct {
        const char *name, *code; /* `code`: code of the namespace, the first string */
        size_t len;
    } cases[] = {
        {"a word there is not", "\xfc\x7f", 2},
        {"an earlier string there is not", "\x02", 1},
        {"no such code", "\x07", 1},
        {"a string of no bytes", "\x01", 1},
        {"none where one must be", "\x00", 1},
        {"a string without its end",
         "\x09"
         "ab",
         3},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        static const char head[] = "\x02\x00\x00\x00\x00\x02\x00\x00\x01";
        static const char rest[] = "\x05\0\x00\x05\0\x00";
        scoped(buf) struct buf stored = {0};
        struct error err = {0};

        buf_add(&stored, head, sizeof head - 1);
        buf_add(&stored, cases[i].code, cases[i].len);
        buf_add(&stored, rest, sizeof rest - 1);
        check_error(cases[i].name, meta_decode(stored.data, stored.len, &err), err, ERR_STORAGE);
    }
}

static void damaged_metadata_is_an_error(void **state)
{
    scoped(object) struct object *object = object_of(full);
    scoped(buf) struct buf stored = {0};
    struct error err = {0};

    meta_encode(object->meta, &stored);
    for (size_t len = 0; len < stored.len; len++)
        assert_null(meta_decode(stored.data, len, NULL));
    for (size_t i = 0; i < stored.len;
         i++) { /* any other byte gives a value or an error, never a crash */
        char kept = stored.data[i];

        for (int value = 0; value < 256; value += 15) {
            stored.data[i] = (char)value;
            meta_unref(meta_decode(stored.data, stored.len, &err));
        }
        stored.data[i] = kept;
    }
    buf_char(&stored, 'x');
    check_error("longer", meta_decode(stored.data, stored.len, &err), err, ERR_STORAGE);
}

static const struct {
    const char *name, *text, *field, *message;
} refused[] = {
    {"a list", "[]", "", "an object was expected"},
    {"no kind", "{\"apiVersion\":\"v1\"}", "kind", "Required value"},
    {"no version", "{\"kind\":\"Pod\"}", "apiVersion", "Required value"},
    {"near kind", "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"Jobflow\"}", "kind",
     "did you mean kind \"JobFlow\" in version \"flow.volcano.sh/v1alpha1\"?"},
    {"wrong version", "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"}", "kind",
     "did you mean kind \"Job\" in version \"batch.volcano.sh/v1alpha1\"?"},
    {"far kind", "{\"apiVersion\":\"v1\",\"kind\":\"Zebra\"}", "kind",
     "no kind \"Zebra\" in version \"v1\""},
    {"metadata", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":[]}", "metadata",
     "must be of type object"},
    {"name", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":5}}", "metadata.name",
     "must be of type string: \"integer\""},
    {"label", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":1}}}",
     "metadata.labels[a]", "must be of type string"},
    {"version",
     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"-x\"}}",
     "metadata.resourceVersion", "must be a decimal number"},
    {"owner", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"ownerReferences\":[{}]}}",
     "metadata.ownerReferences[0].apiVersion", "Required value"},
    {"time",
     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"creationTimestamp\":\"soon\"}}",
     "metadata.creationTimestamp", "Invalid value: \"soon\""},
    {"status", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{},\"status\":1}", "status",
     "must be of type object"},
};

static void malformed_objects_are_refused_with_a_path(void **state)
{
    for (size_t i = 0; i < countof(refused); i++) {
        scoped(json) json_t *doc = json_loads(refused[i].text, 0, NULL);
        struct error_list errors = {0};

        assert_null(object_from_json(doc, &errors));
        check(refused[i].name, errors.count >= 1);
        check_str(refused[i].name, errors.items[0].field, refused[i].field);
        check_has(refused[i].name, errors.items[0].message, refused[i].message);
        error_list_release(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_survive_parsing_and_writing),
        cmocka_unit_test(a_bare_object_is_small),
        cmocka_unit_test(versions_share_their_parts),
        cmocka_unit_test(metadata_survives_the_store),
        cmocka_unit_test(metadata_of_older_stores_is_read),
        cmocka_unit_test(equal_strings_are_stored_once),
        cmocka_unit_test(many_strings_are_kept),
        cmocka_unit_test(invalid_string_references_are_an_error),
        cmocka_unit_test(damaged_metadata_is_an_error),
        cmocka_unit_test(malformed_objects_are_refused_with_a_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
