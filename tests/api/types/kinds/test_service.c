/*
 * Admission of Services. Ref: Kubernetes pkg/apis/core/validation ValidateService.
 */
#include "tests/unit.h"

#include "tests/api/types/kinds/admission_fixture.h"

#define SPEC(text)                                                                                 \
    "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\nspec: {" text "}\n"

/* clang-format off */
static const struct verdict_case services[] = {
    {"two ports", SPEC("ports: [{name: a, port: 80}, {name: b, port: 81}]")},
    {"one port of two protocols", SPEC("ports: [{name: a, port: 53}, {name: b, port: 53, protocol: UDP}]")},
    {"the highest port", SPEC("ports: [{port: 65535, targetPort: http-2}]")},
    {"a port for nodes", SPEC("type: NodePort, ports: [{port: 80, nodePort: 30080}]")},
    {"port 0", SPEC("ports: [{port: 0}]"), "spec.ports[0].port", "Invalid value: 0: must be between 1 and 65535, inclusive"},
    {"port 70000", SPEC("ports: [{port: 70000}]"), "spec.ports[0].port", "Invalid value: 70000"},
    {"a negative port", SPEC("ports: [{port: -1}]"), "spec.ports[0].port", "Invalid value: -1"},
    {"no number", SPEC("ports: [{name: a}]"), "spec.ports[0].port", ""},
    {"several without names", SPEC("ports: [{name: a, port: 80}, {port: 81}]"), "spec.ports[1].name", "Required value"},
    {"one name twice", SPEC("ports: [{name: a, port: 80}, {name: a, port: 81}]"), "spec.ports[1].name", "Duplicate value: \"a\""},
    {"one port twice", SPEC("ports: [{name: a, port: 80}, {name: b, port: 80}]"), "spec.ports[1]", "Duplicate value: port 80/TCP"},
    {"a name in capitals", SPEC("ports: [{name: Web, port: 80}]"), "spec.ports[0].name", "Invalid value: \"Web\""},
    {"an unknown protocol", SPEC("ports: [{port: 80, protocol: HTTP}]"), "spec.ports[0].protocol", "\"TCP\""},
    {"target port 0", SPEC("ports: [{port: 80, targetPort: 0}]"), "spec.ports[0].targetPort", "Invalid value: 0"},
    {"target port without a letter", SPEC("ports: [{port: 80, targetPort: \"80\"}]"), "spec.ports[0].targetPort", "at least one letter"},
    {"a long target port", SPEC("ports: [{port: 80, targetPort: sixteen-letters-}]"), "spec.ports[0].targetPort", "15 characters"},
    {"a port for nodes of none", SPEC("ports: [{port: 80, nodePort: 30080}]"), "spec.ports[0].nodePort", "may not be used when `type` is 'ClusterIP'"},
    {"a name without a name", SPEC("type: ExternalName"), "spec.externalName", "Required value"},
    {"a headless balancer", SPEC("type: LoadBalancer, clusterIP: None, ports: [{port: 80}]"), "spec.clusterIPs[0]", "may not be set to 'None'"},
    {"no address", SPEC("clusterIP: here, ports: [{port: 80}]"), "spec.clusterIPs[0]", "Invalid value: \"here\""},
    {"a selector of no label", SPEC("selector: {a: \"b c\"}, ports: [{port: 80}]"), "spec.selector", "Invalid value: \"b c\""},
    {"a selector without a key", SPEC("selector: {\"-\": b}, ports: [{port: 80}]"), "spec.selector", "Invalid value: \"-\""},
};
/* clang-format on */

static void findings_name_their_field(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(services); i++)
        check_verdict(&fixture, &services[i], NULL);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_name_their_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
