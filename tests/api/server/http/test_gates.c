#include "tests/unit.h"

#include "tests/support/api.h"

/* Tests that spec.schedulingGates of pods can be changed as in kube-apiserver. */

#define PODS "/api/v1/namespaces/default/pods"
#define POD(more)                                                                                  \
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"       \
    "\"name\":\"c\",\"command\":[\"true\"]}]" more "}}"
#define GATES(list) ",\"schedulingGates\":[" list "]"
#define GATE(name)  "{\"name\":\"" name "\"}"
#define MERGE       "application/merge-patch+json"

static void gates_can_only_be_removed_and_hold_back_the_pod(void **state)
{
    static const struct {
        const char *name, *method, *target, *type, *body;
        int status;
        const char *says;
    } steps[] = {
        {"a node and a gate", "POST", PODS, NULL, POD(GATES(GATE("a")) ",\"nodeName\":\"n\""), 422,
         "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
        {"one twice", "POST", PODS, NULL, POD(GATES(GATE("a") "," GATE("a"))), 422,
         "spec.schedulingGates[1]: Duplicate value"},
        {"no name of a gate", "POST", PODS, NULL, POD(GATES(GATE("a b"))), 422,
         "name part must consist of alphanumeric characters"},
        {"two gates", "POST", PODS, NULL, POD(GATES(GATE("a") "," GATE("b"))), 201, "\"p\""},
        {"bound all the same", "POST", PODS "/p/binding", NULL, "{\"target\":{\"name\":\"n\"}}",
         409, "pod p has non-empty .spec.schedulingGates"},
        {"another gate", "PATCH", PODS "/p", MERGE,
         "{\"spec\":{\"schedulingGates\":[" GATE("a") "," GATE("c") "]}}", 422,
         "only deletion is allowed, but found new scheduling gate 'c'"},
        {"one less", "PATCH", PODS "/p", MERGE, "{\"spec\":{\"schedulingGates\":[" GATE("b") "]}}",
         200, "\"b\""},
        {"none", "PATCH", PODS "/p", MERGE, "{\"spec\":{\"schedulingGates\":null}}", 200, "\"p\""},
        {"bound", "POST", PODS "/p/binding", NULL, "{\"target\":{\"name\":\"n\"}}", 201, "Success"},
    };
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(steps); i++) {
        check_int(steps[i].name,
                  api_send(&fixture, &capture, steps[i].method, steps[i].target,
                           .body = steps[i].body, .content_type = steps[i].type),
                  steps[i].status);
        check_has(steps[i].name, capture.body.data, steps[i].says);
    }
    api_fixture_stop(&fixture);
}

static void a_gated_pod_has_the_status_of_one(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("made", api_send(&fixture, &capture, "POST", PODS, .body = POD(GATES(GATE("a")))),
              201);
    check_int("told",
              api_send(&fixture, &capture, "PATCH", PODS "/p/status", .content_type = MERGE,
                       .body = "{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                               "\"PodScheduled\",\"status\":\"False\",\"reason\":"
                               "\"SchedulingGated\",\"message\":\"m\"}]}}"),
              200);
    check_int("table",
              api_send(&fixture, &capture, "GET", PODS,
                       .accept = "application/json;as=Table;g=meta.k8s.io;v=v1"),
              200);
    check_has("status", capture.body.data, "\"SchedulingGated\"");
    api_fixture_stop(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_can_only_be_removed_and_hold_back_the_pod),
        cmocka_unit_test(a_gated_pod_has_the_status_of_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
