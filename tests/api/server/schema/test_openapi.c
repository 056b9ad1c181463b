#include "tests/unit.h"

#include "api/server/schema/openapi_build.h"
#include "tests/support/api.h"

/* Tests the OpenAPI documents. tests/system/kubectl.py checks that kubectl can read them. */

static const char v2_old[] = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
static const char v2_new[] = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

static const json_t *at(const json_t *doc, const char *const *path)
{
    for (; doc && *path; path++)
        doc = json_object_get(doc, *path);
    return doc;
}
#define AT(doc, ...) at((doc), (const char *const[]){__VA_ARGS__, NULL})

/* covers: kube-api.md 29 */
static void the_root_refers_to_every_group(void **state)
{
    scoped(capture) struct api_capture capture = {0}, document = {0};
    scoped(json) json_t *root = NULL;
    struct api_fixture fixture;
    const char *path;
    json_t *entry;
    size_t n = 0;

    api_fixture_start(&fixture, NULL);
    check_int("root", api_send(&fixture, &capture, "GET", "/openapi/v3"), 200);
    root = api_capture_json(&capture);
    check("core", AT(root, "paths", "api/v1"));
    json_object_foreach(json_object_get(root, "paths"), path, entry)
    {
        const char *url = json_string_value(json_object_get(entry, "serverRelativeURL"));
        scoped_str etag = mem_printf("ETag: \"%s\"", strstr(url, "hash=") + strlen("hash="));

        check_int(path, api_send(&fixture, &document, "GET", url), 200);
        check_has(path, document.headers.data, etag);
        check_has(path, document.headers.data, "Cache-Control: public, immutable");
        check_has(path, document.headers.data, "Expires: Fri, 01 Jan 2027 00:00:00 GMT");
        n++;
    }
    for (const struct api_group *group = api_groups; group->name; group++, n--)
        ;
    check_int("groups left out", n, 0);
    check_int("unknown", api_send(&fixture, &capture, "GET", "/openapi/v3/apis/nope.io/v1"), 404);
    check_int("written", api_send(&fixture, &capture, "POST", "/openapi/v3", .body = "{}"), 404);
    api_fixture_stop(&fixture);
}

static void the_patch_operation_lists_its_types_and_options(void **state)
{
    static const struct {
        const char *name;
        struct api_group group;
        const char *path;
        bool strategic;
    } cases[] = {
        {"custom",
         {"flow.volcano.sh", "v1alpha1"},
         "/apis/flow.volcano.sh/v1alpha1/namespaces/{namespace}/jobflows/{name}",
         false},
        {"of the cluster",
         {"scheduling.volcano.sh", "v1beta1"},
         "/apis/scheduling.volcano.sh/v1beta1/queues/{name}",
         false},
        {"built in", {"", "v1"}, "/api/v1/namespaces/{namespace}/pods/{name}", true},
    };
    scoped(json) json_t *schemas = openapi_schemas();

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *doc = openapi_v3(&cases[i].group, schemas);
        const json_t *patch = AT(doc, "paths", cases[i].path, "patch");
        const json_t *content = AT(patch, "requestBody", "content"), *parameter;
        bool validates = false;
        size_t n;

        json_array_foreach(json_object_get(patch, "parameters"), n, parameter)
        {
            validates |= strcmp(json_string_value(json_object_get(parameter, "name")),
                                "fieldValidation") == 0;
        }
        check(cases[i].name, validates);
        check(cases[i].name, AT(content, "application/apply-patch+yaml"));
        check_int(cases[i].name, AT(content, "application/strategic-merge-patch+json") != NULL,
                  cases[i].strategic);
    }
}

static void check_references(const json_t *value, const json_t *schemas)
{
    const json_t *ref = json_object_get(value, "$ref");
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_string(ref)) {
        const char *name = strrchr(json_string_value(ref), '/') + 1;

        check(name, json_object_get(schemas, name));
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        check_references(member, schemas);
    }
    json_array_foreach(value, i, member)
    {
        check_references(member, schemas);
    }
}

static void every_reference_is_in_its_document(void **state)
{
    scoped(json) json_t *schemas = openapi_schemas(), *v2 = openapi_v2(schemas);

    for (const struct api_group *group = api_groups; group->name; group++) {
        scoped(json) json_t *doc = openapi_v3(group, schemas);

        check_references(doc, AT(doc, "components", "schemas"));
    }
    check_references(v2, json_object_get(v2, "definitions"));
}

static void v2_has_only_its_own_keywords(void **state)
{
    scoped(json) json_t *schemas = openapi_schemas(), *v2 = openapi_v2(schemas);
    const json_t *pod = AT(v2, "definitions", "io.k8s.api.core.v1.Pod");
    const json_t *port =
        AT(v2, "definitions", "io.k8s.api.core.v1.ServicePort", "properties", "targetPort");

    check_str("reference", json_string_value(AT(pod, "properties", "spec", "$ref")),
              "#/definitions/io.k8s.api.core.v1.PodSpec");
    check_str("type", json_string_value(AT(port, "type")), "string");
    check_str("format", json_string_value(AT(port, "format")), "int-or-string");
    check("choice", !AT(port, "oneOf"));
    check_str("group, version and kind",
              json_string_value(json_object_get(
                  json_array_get(AT(pod, "x-kubernetes-group-version-kind"), 0), "kind")),
              "Pod");
}

/* covers: kube-api.md 28; see kubectl.py */
static void old_clients_get_protobuf_with_a_content_type_they_can_parse(void **state)
{
    static const unsigned char begins[] = {0x0a, 3, '2', '.', '0', 0x12};
    static const char *const asked[] = {v2_old, v2_new};
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(asked); i++) {
        check_int(asked[i], api_send(&fixture, &capture, "GET", "/openapi/v2", .accept = asked[i]),
                  200);
        check_str(asked[i], capture.content_type, v2_new);
        check(asked[i], capture.body.len > sizeof begins);
        check(asked[i], memcmp(capture.body.data, begins, sizeof begins) == 0);
    }
    check_int("people", api_send(&fixture, &capture, "GET", "/openapi/v2"), 200);
    check_str("people", capture.content_type, "application/json");
    check_has("people", capture.body.data, "{\"swagger\":\"2.0\"");
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_refers_to_every_group),
        cmocka_unit_test(the_patch_operation_lists_its_types_and_options),
        cmocka_unit_test(every_reference_is_in_its_document),
        cmocka_unit_test(v2_has_only_its_own_keywords),
        cmocka_unit_test(old_clients_get_protobuf_with_a_content_type_they_can_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
