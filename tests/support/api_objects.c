/*
 * Creates objects through the API.
 */
#include "tests/support/api_objects.h"
#include "tests/unit.h"

static const char template_a[] =
    "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobTemplate\","
    "\"metadata\":{\"name\":\"a\"},\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":1,"
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\","
    "\"image\":\"x\",\"command\":[\"true\"]}]}}}]}}";

const char api_pod_body[] =
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"initContainers\":[{\"name\":\"i\",\"image\":\"x\","
    "\"command\":[\"true\"]}],\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"command\":["
    "\"true\"]}]}}";

static void make(struct api_fixture *fixture, const char *collection, const char *body)
{
    scoped(capture) struct api_capture capture = {0};

    check_int(collection, api_send(fixture, &capture, "POST", collection, .body = body), 201);
}

void api_make_template(struct api_fixture *fixture)
{
    make(fixture, "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates", template_a);
}

void api_make_config_map(struct api_fixture *fixture, const char *name, const char *labels)
{
    scoped_str body = mem_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}}", name, labels);

    make(fixture, "/api/v1/namespaces/default/configmaps", body);
}
