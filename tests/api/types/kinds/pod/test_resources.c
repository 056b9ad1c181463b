/*
 * Resources of pods: what is accepted, the defaults in the object, requests and quality of service.
 * The texts and verdicts are those of Kubernetes 1.34.
 */
#include "api/types/kinds/pod/pod.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define POD(spec)                                                                                  \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {" spec "}\n"
#define CPU(value)                   "resources: {requests: {cpu: " value "}}"
#define ONE(resources)               "{name: c, command: [x], resources: {" resources "}}"
#define CONTAINER(members)           POD("containers: [" ONE(members) "]")
#define WHOLE(resources, containers) POD("resources: {" resources "}, containers: [" containers "]")

/* clang-format off */
static const struct verdict_case cases[] = {
    {"request above limit",          CONTAINER("requests: {cpu: 2}, limits: {cpu: 1}"), "spec.containers[0].resources.requests", "cpu limit of 1"},
    {"huge pages",                   CONTAINER("limits: {cpu: 1, hugepages-2Mi: 4Mi}")},
    {"huge pages without a limit",   CONTAINER("requests: {cpu: 1, hugepages-2Mi: 4Mi}"), "spec.containers[0].resources.limits", "non overcommitable"},
    {"fewer huge pages than limit",  CONTAINER("requests: {hugepages-2Mi: 2Mi}, limits: {cpu: 1, hugepages-2Mi: 4Mi}"), "spec.containers[0].resources.requests", "must be equal to hugepages-2Mi limit"},
    {"huge pages alone",             CONTAINER("limits: {hugepages-2Mi: 4Mi}"), "spec.containers[0].resources", "HugePages require cpu or memory"},
    {"half a huge page",             CONTAINER("limits: {cpu: 1, hugepages-2Mi: 3Mi}"), "spec.containers[0].resources.limits[hugepages-2Mi]", "not positive integer multiple"},
    {"no size of a huge page",       CONTAINER("limits: {cpu: 1, hugepages-x: 3Mi}")},
    {"half a GPU",                   CONTAINER("limits: {nvidia.com/gpu: 500m}"), "spec.containers[0].resources.limits[nvidia.com/gpu]", "\"500m\": must be an integer"},
    {"a request of a part",          CONTAINER("requests: {example.com/db: \"1.5\"}"), "spec.containers[0].resources.requests[example.com/db]", "must be an integer"},
    {"whole GPUs in thousandths",    CONTAINER("limits: {nvidia.com/gpu: 2000m}")},
    {"of the pod",                   WHOLE("requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 4, hugepages-2Mi: 4Mi}", ONE("requests: {cpu: 2}, limits: {cpu: 3}"))},
    {"of the pod, nothing",          WHOLE("", ONE("requests: {cpu: 2}"))},
    {"GPU of the pod",               WHOLE("limits: {nvidia.com/gpu: 1}", ONE("")), "spec.resources.limits[nvidia.com/gpu]", "Unsupported value"},
    {"disk of the pod",              WHOLE("requests: {ephemeral-storage: 1Gi}", ONE("")), "spec.resources.requests[ephemeral-storage]", "supported values: \"cpu\", \"hugepages-\", \"memory\""},
    {"claims of the pod",            WHOLE("claims: [{name: a}]", ONE("")), "spec.resources.claims", "claims may not be set"},
    {"negative request of the pod",  WHOLE("requests: {cpu: -1}", ONE("")), "spec.resources.requests[cpu]", "greater than or equal to 0"},
    {"request above the pod's limit", WHOLE("requests: {cpu: 2}, limits: {cpu: 1}", ONE("")), "spec.resources.requests", "cpu limit of 1"},
    {"request below the containers'", WHOLE("requests: {cpu: 1}", "{name: a, command: [x], " CPU("1") "}, {name: b, command: [x], " CPU("500m") "}"), "spec.resources.requests[cpu]", "aggregate container requests of 1500m"},
    {"request below the peak at start", POD("resources: {requests: {memory: 1Gi}}, initContainers: [" ONE("limits: {memory: 2Gi}") "], containers: [{name: d, command: [x]}]"),
                                     "spec.resources.requests[memory]", "aggregate container requests of 2Gi"},
    {"container limit above the pod's", WHOLE("limits: {memory: 1Gi}", ONE("limits: {memory: 2Gi}, requests: {memory: 1Mi}")), "spec.containers[0].resources.limits[memory]", "pod limits of 1Gi"},
    {"init container limit above the pod's", POD("resources: {limits: {memory: 1Gi}}, initContainers: [" ONE("limits: {memory: 2Gi}, requests: {memory: 1Mi}") "], containers: [{name: d, command: [x]}]")},
    {"sum of limits above the pod's", WHOLE("limits: {memory: 1Gi}", ONE("limits: {memory: 1Gi}, requests: {memory: 1Mi}") ", {name: d, command: [x], resources: {limits: {memory: 1Gi}, requests: {memory: 1Mi}}}")},
    {"huge pages above the pod's",   WHOLE("limits: {cpu: 1, hugepages-2Mi: 2Mi}, requests: {hugepages-2Mi: 2Mi}", ONE("limits: {cpu: 1, hugepages-2Mi: 4Mi}")), "spec.resources.limits[hugepages-2Mi]", "aggregate container limits of 4Mi"},
    {"huge pages of the pod, no limit", WHOLE("requests: {cpu: 1, hugepages-2Mi: 2Mi}", ONE("")), "spec.resources.limits", "non overcommitable"},
};
/* clang-format on */

static void pods_are_accepted_and_refused(void **state)
{
    check_verdicts(cases, countof(cases));
}

struct request_case {
    const char *name, *yaml;
    int64_t cpu_milli;
    const char *qos;
};

/* clang-format off */
static const struct request_case requests[] = {
    {"nothing", POD("containers: [{name: c, command: [x]}]"), 0, "BestEffort"},
    {"sum of regular ones", POD("containers: [{name: a, command: [x], " CPU("1") "}, {name: b, command: [x], " CPU("2") "}]"), 3000, "Burstable"},
    {"a larger init container", POD("initContainers: [{name: i, command: [x], " CPU("5") "}], containers: [{name: a, command: [x], " CPU("1") "}]"), 5000, "Burstable"},
    {"a sidecar runs beside all", POD("initContainers: [{name: s, command: [x], restartPolicy: Always, " CPU("2") "}, {name: i, command: [x], " CPU("4") "}], "
                                      "containers: [{name: a, command: [x], " CPU("1") "}]"), 6000, "Burstable"},
    {"the pod's own request", POD("resources: {requests: {cpu: 100}}, containers: [{name: a, command: [x], " CPU("1") "}]"), 100000, "Burstable"},
    {"the pod's limit is its request", POD("resources: {limits: {cpu: 3, memory: 1Gi}}, containers: [{name: a, command: [x]}]"), 3000, "Guaranteed"},
    {"requests of containers come before the pod's limit", POD("resources: {limits: {cpu: 3}}, containers: [{name: a, command: [x], " CPU("1") "}]"), 1000, "Burstable"},
    {"limits are requests", POD("containers: [{name: a, command: [x], resources: {limits: {cpu: 1, memory: 1Gi}}}]"), 1000, "Guaranteed"},
};
/* clang-format on */

static void requests_add_up(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(requests); i++) {
        scoped(object) struct object *pod = fixture_admit(&fixture, requests[i].yaml, NULL);

        check(requests[i].name, pod != NULL);
        check_int(requests[i].name, pod_spec_requests(pod_spec_of(pod)).cpu_milli,
                  requests[i].cpu_milli);
        check_str(requests[i].name, pod_qos_class(pod_spec_of(pod)), requests[i].qos);
    }
    fixture_release(&fixture);
}

struct default_case {
    const char *name, *yaml, *resources;
};

/* clang-format off */
static const struct default_case defaults[] = {
    {"nothing", WHOLE("", ONE("requests: {cpu: 1}")), "{}"},
    {"a request alone", WHOLE("requests: {cpu: 2}", ONE("requests: {memory: 1Gi}")), "{\"requests\":{\"cpu\":2}}"},
    {"the limit", WHOLE("limits: {cpu: 2, memory: 1Gi}", ONE("")), "{\"limits\":{\"cpu\":2,\"memory\":\"1Gi\"},\"requests\":{\"cpu\":2,\"memory\":\"1Gi\"}}"},
    {"the containers before the limit", WHOLE("limits: {cpu: 2}", "{name: a, command: [x], " CPU("500m") "}, {name: b, command: [x], resources: {limits: {cpu: 1, memory: 64Mi}}}"),
     "{\"limits\":{\"cpu\":2},\"requests\":{\"cpu\":\"1500m\",\"memory\":\"64Mi\"}}"},
    {"a container that asks for nothing of it", WHOLE("limits: {cpu: 2}", ONE("requests: {cpu: 0}")), "{\"limits\":{\"cpu\":2},\"requests\":{\"cpu\":\"0\"}}"},
    {"its own request before all", WHOLE("requests: {cpu: 1500m}, limits: {cpu: 2}", ONE("requests: {cpu: 1}")), "{\"requests\":{\"cpu\":\"1500m\"},\"limits\":{\"cpu\":2}}"},
    {"GPUs are left to the containers", WHOLE("limits: {cpu: 2}", ONE("limits: {nvidia.com/gpu: 1}")), "{\"limits\":{\"cpu\":2},\"requests\":{\"cpu\":2}}"},
    {"huge pages", WHOLE("requests: {cpu: 2}", ONE("limits: {cpu: 1, hugepages-2Mi: 4Mi}")),
     "{\"requests\":{\"cpu\":2,\"hugepages-2Mi\":\"4Mi\"},\"limits\":{\"hugepages-2Mi\":\"4Mi\"}}"},
};
/* clang-format on */

static void defaults_are_shown_in_the_object(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(defaults); i++) {
        scoped(object) struct object *pod = fixture_admit(&fixture, defaults[i].yaml, NULL);
        scoped(json) json_t *body = pod ? object_body_json(pod) : NULL;
        char *text = json_dumps(json_object_get(json_object_get(body, "spec"), "resources"),
                                JSON_COMPACT | JSON_ENCODE_ANY);

        check_str(defaults[i].name, text, defaults[i].resources);
        free(text);
    }
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_accepted_and_refused),
        cmocka_unit_test(requests_add_up),
        cmocka_unit_test(defaults_are_shown_in_the_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
