#include "tests/unit.h"

#include "api/server/schema/crd.h"
#include "api/types/kinds/crd_document.h"
#include "tests/support/api.h"

/* Tests that CustomResourceDefinitions describe the custom kinds and are read-only. */

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/* Checks that every node of a structural schema has a type, unless it allows any value. */
static void check_structural(const char *where, const json_t *schema, int depth)
{
    const json_t *properties = json_object_get(schema, "properties"), *member;
    const char *name;

    check(where, depth < 60);
    check(where, json_object_get(schema, "type") ||
                     json_object_get(schema, "x-kubernetes-int-or-string") ||
                     json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
    check(where, !json_object_get(schema, "$ref") && !json_object_get(schema, "oneOf") &&
                     !json_object_get(schema, "x-kubernetes-patch-merge-key"));
    json_object_foreach((json_t *)(size_t)properties, name, member)
    {
        check_structural(name, member, depth + 1);
    }
    if (json_object_get(schema, "items"))
        check_structural(where, json_object_get(schema, "items"), depth + 1);
    if (json_is_object(json_object_get(schema, "additionalProperties")))
        check_structural(where, json_object_get(schema, "additionalProperties"), depth + 1);
}

static void every_custom_kind_has_a_structural_definition(void **state)
{
    size_t n = 0;

    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        scoped(json) json_t *definition = NULL;
        const json_t *version;

        if (!kind_is_custom(kind))
            continue;
        n++;
        definition = crd_document(kind, CRD_SERVED);
        version =
            json_array_get(json_object_get(json_object_get(definition, "spec"), "versions"), 0);
        check(kind->name,
              json_object_get(version, "subresources") ? kind->has_status : !kind->has_status);
        check_structural(kind->name,
                         json_object_get(json_object_get(version, "schema"), "openAPIV3Schema"), 0);
    }
    check_int("kinds", n, 8);
}

static const struct refusal {
    const char *name, *method, *target, *body;
    int status;
} requests[] = {
    {"list", "GET", CRDS, NULL, 200},
    {"get", "GET", CRDS "/jobflows.flow.volcano.sh", NULL, 200},
    {"of no kind", "GET", CRDS "/pods.v1", NULL, 404},
    {"create", "POST", CRDS, "{}", 405},
    {"replace", "PUT", CRDS "/jobflows.flow.volcano.sh", "{}", 405},
    {"delete", "DELETE", CRDS "/jobflows.flow.volcano.sh", NULL, 405},
    {"delete all", "DELETE", CRDS, NULL, 405},
};

static void definitions_are_read_only(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;
    scoped_str text = NULL;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(requests); i++)
        check_int(requests[i].name,
                  api_send(&fixture, &capture, requests[i].method, requests[i].target,
                           .body = requests[i].body),
                  requests[i].status);
    api_send(&fixture, &capture, "GET",
             CRDS "?fieldSelector=metadata.name%3Djobs.batch.volcano.sh");
    text = api_capture_at(&capture, "items.0.status.conditions.1.type");
    check_str("established", text, "Established");
    api_fixture_stop(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_custom_kind_has_a_structural_definition),
        cmocka_unit_test(definitions_are_read_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
