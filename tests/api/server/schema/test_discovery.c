#include "tests/unit.h"

#include "api/server/rest/resources.h"
#include "tests/support/api_objects.h"

/* Tests discovery, as one document per group and aggregated. */

#define AGGREGATED(version)                                                                        \
    "application/json;g=apidiscovery.k8s.io;v=" version ";as=APIGroupDiscoveryList"

static void every_kind_is_in_a_group(void **state)
{
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        const struct api_group *group = api_groups;

        while (group->name && (strcmp(group->name, kind->group) != 0 ||
                               strcmp(group->version, kind->version) != 0))
            group++;
        check(kind->name, group->name);
    }
}

struct document {
    const char *name, *target, *accept, *kind, *content_type, *has;
};

/* covers: kube-api.md 23 24 */
static const struct document documents[] = {
    /* clang-format off */
    {"core versions", "/api", NULL, "APIVersions", "application/json", "\"versions\":[\"v1\"]"},
    {"with a slash", "/api/", NULL, "APIVersions", "application/json", "serverAddressByClientCIDRs"},
    {"groups", "/apis", NULL, "APIGroupList", "application/json",
     "\"preferredVersion\":{\"groupVersion\":\"flow.volcano.sh/v1alpha1\",\"version\":\"v1alpha1\"}"},
    {"a group", "/apis/flow.volcano.sh", NULL, "APIGroup", "application/json", "\"name\":\"flow.volcano.sh\""},
    {"its resources", "/apis/flow.volcano.sh/v1alpha1", NULL, "APIResourceList", "application/json",
     "{\"name\":\"jobflows/status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"JobFlow\","
     "\"verbs\":[\"get\",\"patch\",\"update\"]}"},
    {"core resources", "/api/v1", NULL, "APIResourceList", "application/json",
     "{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,\"group\":\"policy\",\"version\":\"v1\","
     "\"kind\":\"Eviction\",\"verbs\":[\"create\"]}"},
    {"namespaces go one by one", "/api/v1", NULL, "APIResourceList", "application/json",
     "\"kind\":\"Namespace\",\"verbs\":[\"create\",\"delete\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]"},
    {"reviews are created only", "/apis/authorization.k8s.io/v1", NULL, "APIResourceList", "application/json",
     "\"kind\":\"SelfSubjectAccessReview\",\"verbs\":[\"create\"]"},
    {"aggregated core", "/api", AGGREGATED("v2") ",application/json", "APIGroupDiscoveryList", AGGREGATED("v2"),
     "\"items\":[{\"metadata\":{\"creationTimestamp\":null},\"versions\":[{\"version\":\"v1\""},
    {"aggregated rest", "/apis", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io,application/json",
     "APIGroupDiscoveryList", AGGREGATED("v2"),
     "\"subresources\":[{\"subresource\":\"status\",\"responseKind\":{\"group\":\"flow.volcano.sh\""},
    {"the older one", "/apis", AGGREGATED("v2beta1"), "APIGroupDiscoveryList", AGGREGATED("v2beta1"),
     "\"apiVersion\":\"apidiscovery.k8s.io/v2beta1\""},
    {"an unknown one", "/apis", AGGREGATED("v9") ",application/json", "APIGroupList", "application/json", "groups"},
    {"no such group", "/apis/nope.io", NULL, "Status", "application/json", "\"code\":404"},
    {"no such version", "/apis/flow.volcano.sh/v9", NULL, "Status", "application/json", "\"code\":404"},
    /* clang-format on */
};

static void documents_list_the_resources(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(documents); i++) {
        const struct document *c = &documents[i];

        api_send(&fixture, &capture, "GET", c->target, .accept = c->accept);
        check_at(&capture, "kind", c->kind);
        check_str(c->name, capture.content_type, c->content_type);
        check_has(c->name, capture.body.data, c->has);
        check(c->name, !strstr(capture.headers.data ? capture.headers.data : "", "ETag"));
    }
    api_fixture_stop(&fixture);
}

/* Clients use the first group that has a resource of this name: `get jobs` means batch.volcano.sh.
 * */
static void volcano_groups_come_first(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("groups", api_send(&fixture, &capture, "GET", "/apis"), 200);
    check_at(&capture, "groups.0.name", "batch.volcano.sh");
    check_at(&capture, "groups.1.name", "flow.volcano.sh");
    check_int("written", api_send(&fixture, &capture, "POST", "/apis", .body = "{}"), 404);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_in_a_group),
        cmocka_unit_test(documents_list_the_resources),
        cmocka_unit_test(volcano_groups_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
