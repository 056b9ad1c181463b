/*
 * Tests node/proxy/endpoints_controller: the Endpoints and EndpointSlices written for Services.
 */
#include "tests/unit.h"

#include "node/proxy/endpoints_controller.h"
#include "tests/support/node_fixture.h"

static const struct kubelet_options options = {
    .node_name = "here",
    .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = 8},
    .intents_ahead = 8,
    .volumes = {.data_dir = "/data"},
};

static struct endpoints_controller *set_up(struct node_fixture **out)
{
    *out = node_fixture_new();
    node_fixture_start_kubelet(*out, &options);
    return endpoints_controller_start((*out)->cluster, "here");
}

static void tear_down(struct node_fixture *fixture, struct endpoints_controller *endpoints)
{
    endpoints_controller_stop(endpoints);
    node_fixture_free(fixture);
}

static void pod(struct node_fixture *fixture, const char *name, const char *more)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default',"
        "'labels':{'app':'web'}},'spec':{'nodeName':'here','restartPolicy':'Never',"
        "'containers':[{'name':'c','image':'i','command':['serve'],"
        "'ports':[{'name':'http','containerPort':8080}]}]%s}}",
        name, more);
    node_fixture_settle(fixture);
}

static void service(struct node_fixture *fixture, const char *spec)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'web','namespace':'default',"
        "'labels':{'tier':'front'}},'spec':{%s}}",
        spec);
    node_fixture_advance(fixture, 200);
}

/* Returns the text of an object's body, "" when there is no such object. */
static const char *text_of(struct node_fixture *fixture, const struct kind *kind, const char *name)
{
    static char text[4096];
    const struct object *object = cluster_get(fixture->cluster, kind, "default", name);
    scoped(json) json_t *body = object ? object_body_json(object) : NULL;
    char *dumped = body ? json_dumps(body, JSON_COMPACT) : NULL;

    snprintf(text, sizeof text, "%s", dumped ? dumped : "");
    free(dumped);
    return text;
}

static const char *endpoints_text(struct node_fixture *fixture)
{
    return text_of(fixture, &kind_endpoints, "web");
}

static void visit_slice(void *arg, const struct object *slice)
{
    *(const struct object **)arg = slice;
}

static const struct object *slice_of(struct node_fixture *fixture)
{
    const struct object *slice = NULL;

    cluster_each(fixture->cluster, &kind_endpoint_slice, "default", visit_slice, &slice);
    return slice;
}

/* covers: see local-runtime.md 3.5; see job-plugins.md O-P17 */
static void a_pod_is_listed_from_its_start_and_ready_when_it_is(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);

    service(fixture,
            "'selector':{'app':'web'},'ports':[{'name':'x','port':80,'targetPort':'http'}]");
    check_str("no endpoints", endpoints_text(fixture), "{}");
    pod(fixture, "p", "");
    node_fixture_advance(fixture, 200);
    check_has("started", endpoints_text(fixture), "\"notReadyAddresses\":[{\"ip\":\"127.");
    check_has("its own port", endpoints_text(fixture),
              "\"ports\":[{\"name\":\"x\",\"port\":8080,\"protocol\":\"TCP\"}]");
    check_has("the pod", endpoints_text(fixture),
              "\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\"");
    node_fixture_report_running(fixture, "p");
    node_fixture_advance(fixture, 200);
    check_has("ready", endpoints_text(fixture), "\"addresses\":[{\"ip\":\"127.");
    check("no longer listed as not ready", !strstr(endpoints_text(fixture), "notReady"));
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_advance(fixture, 200);
    check_str("ended", endpoints_text(fixture), "{}");
    tear_down(fixture, endpoints);
}

static void a_service_may_publish_pods_that_are_not_ready(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);

    service(fixture, "'clusterIP':'None','selector':{'app':'web'},'publishNotReadyAddresses':true");
    pod(fixture, "p", ",'hostname':'p','subdomain':'web'");
    node_fixture_advance(fixture, 200);
    check_has("listed", endpoints_text(fixture), "\"addresses\":[{\"ip\":\"127.");
    check_has("with its name in the domain", endpoints_text(fixture), "\"hostname\":\"p\"");
    check("a headless Service has no ports", !strstr(endpoints_text(fixture), "ports"));
    tear_down(fixture, endpoints);
}

static void a_slice_has_the_same_endpoints(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);
    const struct object *slice;

    service(fixture, "'selector':{'app':'web'},'ports':[{'port':53,'protocol':'UDP'}]");
    pod(fixture, "p", "");
    node_fixture_report_running(fixture, "p");
    node_fixture_advance(fixture, 200);
    slice = slice_of(fixture);
    check("a slice exists", slice);
    check_str("found by", meta_label(slice->meta, "kubernetes.io/service-name"), "web");
    check_str("labels of the Service", meta_label(slice->meta, "tier"), "front");
    check_has("ready", text_of(fixture, &kind_endpoint_slice, object_name(slice)),
              "\"conditions\":{\"ready\":true,\"serving\":true,\"terminating\":false}");
    check_has("port", text_of(fixture, &kind_endpoint_slice, object_name(slice)),
              "\"ports\":[{\"port\":53,\"protocol\":\"UDP\"}]");
    tear_down(fixture, endpoints);
}

static void a_pod_that_comes_and_goes_at_once_costs_no_write(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);
    int64_t revision;

    service(fixture, "'selector':{'app':'web'},'ports':[{'port':80}]");
    revision = cluster_get(fixture->cluster, &kind_endpoints, "default", "web")->revision;
    pod(fixture, "p", "");
    node_fixture_report_running(fixture, "p");
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_advance(fixture, 200);
    check_int("the same",
              cluster_get(fixture->cluster, &kind_endpoints, "default", "web")->revision, revision);
    tear_down(fixture, endpoints);
}

static void endpoints_are_deleted_with_their_service_unless_a_client_wrote_them(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Endpoints','metadata':{'name':'db','namespace':"
                        "'default'},'subsets':[{'addresses':[{'ip':'10.0.0.9'}]}]}");
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'db','namespace':"
                        "'default'},'spec':{'ports':[{'port':5432}]}}");
    service(fixture, "'selector':{'app':'web'},'ports':[{'port':80}]");
    check_has("written by hand", text_of(fixture, &kind_endpoints, "db"), "10.0.0.9");
    check("the controller's slice", slice_of(fixture));
    node_fixture_delete(fixture, &kind_service, "web", -1);
    node_fixture_advance(fixture, 200);
    check_str("gone", endpoints_text(fixture), "");
    check("the slice, too", !slice_of(fixture));
    check_has("the foreign object stays", text_of(fixture, &kind_endpoints, "db"), "10.0.0.9");
    tear_down(fixture, endpoints);
}

static void a_foreign_write_is_overwritten_at_the_next_change(void **state)
{
    struct node_fixture *fixture;
    struct endpoints_controller *endpoints = set_up(&fixture);

    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Endpoints','metadata':{'name':'web','namespace':"
                 "'default'},'subsets':[{'addresses':[{'ip':'10.0.0.9'}]}]}");
    service(fixture, "'selector':{'app':'web'},'ports':[{'port':80}]");
    check_str("the controller's", endpoints_text(fixture), "{}");
    tear_down(fixture, endpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_listed_from_its_start_and_ready_when_it_is),
        cmocka_unit_test(a_service_may_publish_pods_that_are_not_ready),
        cmocka_unit_test(a_slice_has_the_same_endpoints),
        cmocka_unit_test(a_pod_that_comes_and_goes_at_once_costs_no_write),
        cmocka_unit_test(endpoints_are_deleted_with_their_service_unless_a_client_wrote_them),
        cmocka_unit_test(a_foreign_write_is_overwritten_at_the_next_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
