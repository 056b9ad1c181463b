/*
 * Tests api/types/admission with a small kind of its own. covers: kube-api.md 41 42 43 44 47 48 51
 * 56; reliability.md L-13 L-15 FZ-03
 */
#include "tests/unit.h"

#include "api/types/admission.h"

/* The test has a kind of its own with the row id of ConfigMap: {"spec":{"count":…,"name":…}},
 * status {"phase":…}. These count the calls of its functions. */
static int mutations, validations, context_checks;

static bool starts_low(const char *value, struct error *err)
{
    return (*value >= 'a' && *value <= 'z') || error_set(err, ERR_INVALID, "", "must start low");
}

static const struct field spec_fields[] = {
    {"count", FIELD_I32, FIELD_PASS, .default_json = "1", .bounded = true, .min = 0, .max = 10},
    {"name", FIELD_STR, FIELD_PASS, .check = starts_low},
    {"queue", FIELD_STR, FIELD_PASS},
    {0},
};
static const struct schema spec_schema = {"Spec", spec_fields};
static const struct field status_fields[] = {{"phase", FIELD_STR, FIELD_PASS}, {0}};
static const struct schema status_schema = {"Status", status_fields};
static const struct field thing_fields[] = {
    {"spec", FIELD_OBJECT, FIELD_PASS, &spec_schema, .required = true},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema},
    {0},
};
static const struct schema thing_schema = {"Thing", thing_fields};

static void thing_mutate(const struct admission *adm, json_t *body, const struct object *draft)
{
    json_t *spec = json_object_get(body, "spec");

    mutations++;
    if (!json_object_get(spec, "queue"))
        json_object_set_new(spec, "queue", json_string("default"));
}

static void thing_validate(const struct admission *adm, const struct object *old,
                           const struct object *new, struct error_list *errors)
{
    scoped(json) json_t *body = object_body_json(new);

    validations++;
    if (json_integer_value(json_object_get(json_object_get(body, "spec"), "count")) == 7)
        error_list_add(errors, ERR_INVALID, "spec.count", "Invalid value: 7: is unlucky");
    if (json_integer_value(json_object_get(json_object_get(body, "spec"), "count")) == 9)
        error_list_add(adm->warnings, ERR_INVALID, "spec.count", "9 is a lot");
}

static void thing_validate_in_context(const struct admission *adm, const struct object *old,
                                      const struct object *new, struct error_list *errors)
{
    context_checks++;
    if (strcmp(object_name(new), "taken") == 0)
        error_list_add(errors, ERR_FORBIDDEN, "", "taken");
}

static struct kind thing;
static struct admission adm = {.scheduler_name = "volcano"};

static int set_up(void **state)
{
    thing = kind_job_template;
    thing.schema = &thing_schema;
    thing.mutate = thing_mutate;
    thing.validate = thing_validate;
    thing.validate_in_context = thing_validate_in_context;
    mutations = validations = context_checks = 0;
    return 0;
}

/* Makes a draft of the test's kind. A JSON document would select the built-in kind instead. */
static struct object *draft_of(const char *name, const char *body)
{
    struct meta meta = {.namespace = "ns", .name = name, .deletion_grace_s = -1};

    return object_new(&thing, meta_new(&meta), blob_intern(body, strlen(body)), NULL);
}

static struct object *admit(const char *name, const char *body, const struct object *old,
                            struct error_list *errors)
{
    return admission_admit_object(&adm, draft_of(name, body), old, errors);
}

static void equal_body_is_validated_once(void **state)
{
    struct error_list errors = {0};
    scoped(object) struct object *first = admit("a", "{\"spec\":{\"name\":\"x\"}}", NULL, &errors);

    assert_non_null(first);
    check_str("body", first->body->text,
              "{\"spec\":{\"name\":\"x\",\"count\":1,\"queue\":\"default\"}}");
    assert_ptr_equal(first->body->admitted_as, &thing);

    scoped(object) struct object *second = admit("b", "{\"spec\":{\"name\":\"x\"}}", NULL, &errors);
    scoped(object) struct object *third = admit("c", first->body->text, NULL, &errors);

    assert_ptr_equal(second->body, first->body);
    assert_ptr_equal(third->body, first->body);
    check_str("name", object_name(second), "b");
    assert_int_equal(mutations, 1);
    assert_int_equal(validations, 1);
    assert_int_equal(context_checks, 3);

    assert_null(admit("taken", "{\"spec\":{\"name\":\"x\"}}", NULL, &errors));
    assert_int_equal(errors.items[0].code, ERR_FORBIDDEN);
    error_list_release(&errors);
}

static void warnings_are_given_on_each_write(void **state)
{
    struct error_list errors = {0}, warnings = {0};

    adm.warnings = &warnings;

    scoped(object) struct object *first = admit("a", "{\"spec\":{\"count\":9}}", NULL, &errors);
    scoped(object) struct object *second = admit("b", "{\"spec\":{\"count\":9}}", NULL, &errors);

    assert_non_null(second);
    assert_int_equal(warnings.count, 2);
    adm.warnings = NULL;
    error_list_release(&warnings);
}

static void update_does_not_mutate_and_unchanged_body_is_not_validated(void **state)
{
    struct error_list errors = {0};
    scoped(object) struct object *old = admit("a", "{\"spec\":{}}", NULL, &errors);
    scoped(object) struct object *same =
        admission_admit_object(&adm, object_ref(old), old, &errors);

    assert_non_null(same);
    assert_int_equal(validations, 1);

    scoped(object) struct object *changed = admit("a", "{\"spec\":{\"count\":2}}", old, &errors);

    check_str("body", changed->body->text, "{\"spec\":{\"count\":2}}");
    assert_int_equal(mutations, 1);
    assert_int_equal(validations, 2);
    assert_null(changed->body->admitted_as);
    error_list_release(&errors);
}

static void errors_of_body_and_metadata_are_reported_together(void **state)
{
    struct error_list errors = {0};

    assert_null(admit("Bad_Name", "{\"spec\":{\"count\":11,\"name\":\"X\"}}", NULL, &errors));
    assert_int_equal(errors.count, 3);
    check_str("first", errors.items[0].field, "spec.count");
    check_str("second", errors.items[1].field, "spec.name");
    check_str("third", errors.items[2].field, "metadata.name");
    error_list_release(&errors);

    assert_null(admit("a", "{\"spec\":{\"count\":7}}", NULL, &errors));
    check_str("validate", errors.items[0].message, "Invalid value: 7: is unlucky");
    error_list_release(&errors);
}

#define S10 "aaaaaaaaaa"
#define S60 S10 S10 S10 S10 S10 S10

static const struct {
    const char *name, *kind, *metadata; /* `metadata` is JSON with single quotes for double ones */
    const char *field, *message;        /* expected finding; `field` NULL: accepted */
} metas[] = {
    {"plain", "ConfigMap", "'name':'a.b','namespace':'ns'", NULL, NULL},
    {"no name", "ConfigMap", "'namespace':'ns'", "metadata.name",
     "Required value: name or generateName is required"},
    {"prefix", "ConfigMap", "'generateName':'gen-','namespace':'ns'", NULL, NULL},
    {"bad prefix", "ConfigMap", "'generateName':'Gen-','namespace':'ns'", "metadata.generateName",
     "\"Gen-\": a lowercase RFC 1123 subdomain"},
    {"bad name", "ConfigMap", "'name':'Bad_Name','namespace':'ns'", "metadata.name",
     "Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case "
     "alphanumeric characters"},
    {"namespace name", "Namespace", "'name':'a.b'", "metadata.name", "a lowercase RFC 1123 label"},
    {"namespaced namespace", "Namespace", "'name':'a','namespace':'b'", NULL, NULL},
    {"namespace of a wrong type", "Namespace", "'name':'a','namespace':1", "metadata.namespace",
     "must be of type string"},
    {"no namespace", "ConfigMap", "'name':'a'", "metadata.namespace", "Required value"},
    {"namespace", "ConfigMap", "'name':'a','namespace':'a.b'", "metadata.namespace",
     "a lowercase RFC 1123 label"},
    {"label value", "ConfigMap", "'name':'a','namespace':'ns','labels':{'a':'b/c'}",
     "metadata.labels", "Invalid value: \"b/c\": a valid label must be"},
    {"label key", "ConfigMap", "'name':'a','namespace':'ns','labels':{'a b':'c'}",
     "metadata.labels", "name part must consist of"},
    {"annotation key", "ConfigMap",
     "'name':'a','namespace':'ns','annotations':{'Volcano.SH/x':'any thing'}", NULL, NULL},
    {"bad annotation key", "ConfigMap", "'name':'a','namespace':'ns','annotations':{'/x':''}",
     "metadata.annotations", "prefix part must be non-empty"},
    {"finalizer", "ConfigMap", "'name':'a','namespace':'ns','finalizers':['x/y','orphan']", NULL,
     NULL},
    {"bad finalizer", "ConfigMap", "'name':'a','namespace':'ns','finalizers':['x y']",
     "metadata.finalizers", "name part must consist of"},
    {"owner", "ConfigMap",
     "'name':'a','namespace':'ns','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','"
     "uid':''}]",
     "metadata.ownerReferences.uid", "Invalid value: \"\": uid must not be empty"},
    {"two controllers", "ConfigMap",
     "'name':'a','namespace':'ns','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','"
     "uid':'1',"
     "'controller':true},{'apiVersion':'v1','kind':'Pod','name':'q','uid':'2','controller':true}]",
     "metadata.ownerReferences",
     "only one reference can have controller set to true; found it in the references to p and q"},
    {"event owner", "ConfigMap",
     "'name':'a','namespace':'ns','ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'p','"
     "uid':'1'}]",
     "metadata.ownerReferences[0]", "disallowed from being an owner"},
    {"unknown", "ConfigMap", "'name':'a','namespace':'ns','lables':{}", "metadata.lables",
     "unknown field \"metadata.lables\", did you mean \"labels\"?"},
    {"type", "ConfigMap", "'name':1,'namespace':'ns'", "metadata.name", "must be of type string"},
    {"long label", "ConfigMap", "'name':'a','namespace':'ns','labels':{'a':'" S60 "aaaa'}",
     "metadata.labels", "must be no more than 63 characters"},
};

static json_t *document(const char *kind, const char *metadata)
{
    scoped_str text = mem_printf("{'apiVersion':'v1','kind':'%s','metadata':{%s}}", kind, metadata);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';

    json_t *doc = json_loads(text, 0, NULL);

    check(text, doc != NULL);
    return doc;
}

static void metadata_is_validated_for_every_kind(void **state)
{
    for (size_t i = 0; i < countof(metas); i++) {
        scoped(json) json_t *doc = document(metas[i].kind, metas[i].metadata);
        struct error_list errors = {0};
        scoped(object) struct object *object =
            admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, &errors);

        if (!metas[i].field) {
            check_str(metas[i].name, errors.count ? errors.items[0].message : NULL, NULL);
            check(metas[i].name, object != NULL);
        } else {
            check(metas[i].name, object == NULL && errors.count >= 1);
            check_str(metas[i].name, errors.items[0].field, metas[i].field);
            check_has(metas[i].name, errors.items[0].message, metas[i].message);
        }
        error_list_release(&errors);
    }
}

/* Admits an object with annotations of this total size. */
static struct object *with_annotation_bytes(size_t bytes, struct error_list *errors)
{
    scoped_str value = mem_alloc(bytes);
    scoped(json) json_t *doc =
        document("ConfigMap", "'name':'a','namespace':'ns','annotations':{}");

    memset(value, 'x', bytes - 1); /* the key has one byte, and the value has the rest */
    json_object_set_new(json_object_get(json_object_get(doc, "metadata"), "annotations"), "k",
                        json_string(value));
    return admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, errors);
}

static void annotations_are_bounded(void **state)
{
    struct error_list errors = {0};
    scoped(object) struct object *at = with_annotation_bytes(262144, &errors);

    assert_non_null(at);
    assert_null(with_annotation_bytes(262145, &errors));
    check_str("message", errors.items[0].message, "Too long: must have at most 262144 bytes");
    assert_null(with_annotation_bytes(2621440, &errors));
    error_list_release(&errors);
}

static struct object *with_labels(int count, struct error_list *errors)
{
    scoped(json) json_t *doc = document("ConfigMap", "'name':'a','namespace':'ns','labels':{}");

    for (int i = 0; i < count; i++) {
        scoped_str key = mem_printf("k%d", i);

        json_object_set_new(json_object_get(json_object_get(doc, "metadata"), "labels"), key,
                            json_string(""));
    }
    return admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, errors);
}

static void labels_are_bounded(void **state)
{
    struct error_list errors = {0};
    scoped(object) struct object *at = with_labels(256, &errors);

    assert_non_null(at);
    assert_null(with_labels(257, &errors));
    check_str("message", errors.items[0].message, "Too many: 257: must have at most 256 items");
    assert_null(with_labels(2560, &errors));
    error_list_release(&errors);
}

static void resource_version_is_kept_as_precondition(void **state)
{
    scoped(json) json_t *doc =
        document("ConfigMap", "'name':'a','namespace':'ns','resourceVersion':'17'");
    struct error_list errors = {0};
    scoped(object) struct object *object = admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, &errors);

    assert_non_null(object);
    assert_int_equal(object->revision, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_body_is_validated_once, set_up),
        cmocka_unit_test_setup(warnings_are_given_on_each_write, set_up),
        cmocka_unit_test_setup(update_does_not_mutate_and_unchanged_body_is_not_validated, set_up),
        cmocka_unit_test_setup(errors_of_body_and_metadata_are_reported_together, set_up),
        cmocka_unit_test(metadata_is_validated_for_every_kind),
        cmocka_unit_test(annotations_are_bounded),
        cmocka_unit_test(labels_are_bounded),
        cmocka_unit_test(resource_version_is_kept_as_precondition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
