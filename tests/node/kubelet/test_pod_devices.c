/*
 * Tests which devices pods get from the kubelet, with a scripted runtime on the embedded cluster.
 * Ref: everyday.md 15.
 */
#include "tests/unit.h"

#include "tests/support/kubelet_fixture.h"

static const char *ids[] = {"0", "1"}, *variables[] = {"CUDA_VISIBLE_DEVICES"};
static struct device_resource gpu = {DEVICE_GPU, {ids, countof(ids)}, {variables, 1}};
static const struct device_list two_gpus = {.resources = {&gpu, 1}};

static struct kubelet_options with_gpus(int64_t max_pods)
{
    struct kubelet_options options = kubelet_fixture_options(max_pods);

    options.devices = &two_gpus;
    options.extras = (struct resource_names){{DEVICE_GPU}, 1, false};
    options.capacity.extra[0] = 2;
    return options;
}

static struct node_fixture *new_node(int64_t max_pods)
{
    struct node_fixture *fixture = node_fixture_new();
    const struct kubelet_options options = with_gpus(max_pods);

    node_fixture_start_kubelet(fixture, &options);
    return fixture;
}

static void make_pod(struct node_fixture *fixture, const char *name, int gpus)
{
    char text[256];

    snprintf(text, sizeof text,
             ",'command':['true'],'resources':{'limits':{'nvidia.com/gpu':'%d'}}", gpus);
    kubelet_fixture_pod(fixture, name, text, NULL);
}

static const char *env_of(struct node_fixture *fixture, const char *name)
{
    const struct scripted_pod *pod = node_fixture_started(fixture, name);

    return pod ? pod->env : "not started";
}

#define GIVEN(id)                                                                                  \
    "\"allocatedResourcesStatus\":[{\"name\":\"nvidia.com/gpu\",\"resources\":[{\"resourceID\":"   \
    "\"" id "\",\"health\":\"Healthy\"}"

/* covers: everyday.md EVD-303 EVD-312 */
static void pods_get_devices_of_their_own(void **state)
{
    struct node_fixture *fixture = new_node(10);

    make_pod(fixture, "a", 1);
    make_pod(fixture, "b", 1);
    make_pod(fixture, "c", 2);
    kubelet_fixture_pod(fixture, "plain", NULL, NULL);
    check_has("the first", env_of(fixture, "a"), "CUDA_VISIBLE_DEVICES=0;");
    check_has("the second", env_of(fixture, "b"), "CUDA_VISIBLE_DEVICES=1;");
    check_has("none", env_of(fixture, "plain"), "CUDA_VISIBLE_DEVICES=;");
    check("no device is left", !node_fixture_started(fixture, "c"));
    check_has("status", node_fixture_status(fixture, &kind_pod, "a"), GIVEN("0"));
    node_fixture_report_running(fixture, "a");
    check_has("status", node_fixture_status(fixture, &kind_pod, "a"), GIVEN("0"));
    node_fixture_report_ended(fixture, "a", 0);
    check_has("status", node_fixture_status(fixture, &kind_pod, "a"), GIVEN("0"));
    check("one is left", !node_fixture_started(fixture, "c"));
    node_fixture_report_ended(fixture, "b", 0);
    check_has("both", env_of(fixture, "c"), "CUDA_VISIBLE_DEVICES=0,1;");
    node_fixture_free(fixture);
}

/* covers: everyday.md EVD-305 */
static void a_container_cannot_name_devices_itself(void **state)
{
    struct node_fixture *fixture = new_node(10);

    kubelet_fixture_pod(fixture, "a",
                        ",'command':['$(CUDA_VISIBLE_DEVICES)'],'env':[{'name':'CUDA_VISIBLE_"
                        "DEVICES','value':'7'}],'resources':{'limits':{'nvidia.com/gpu':'1'}}",
                        NULL);
    kubelet_fixture_pod(fixture, "b",
                        ",'command':['true'],'env':[{'name':'CUDA_VISIBLE_DEVICES','value':'7'}]",
                        NULL);
    check_has("its own", env_of(fixture, "a"), "CUDA_VISIBLE_DEVICES=0;");
    check_str("argument", node_fixture_started(fixture, "a")->argv, "0");
    check_has("one that has none may", env_of(fixture, "b"), "CUDA_VISIBLE_DEVICES=7;");
    node_fixture_free(fixture);
}

/* covers: everyday.md EVD-311 */
static void a_pod_that_requests_more_than_there_are_fails(void **state)
{
    struct node_fixture *fixture = new_node(10);

    make_pod(fixture, "a", 3);
    check_int("failed", node_fixture_pod_phase(fixture, "a"), POD_FAILED);
    check_has("why", node_fixture_status(fixture, &kind_pod, "a"),
              "\"message\":\"the pod requests 3 nvidia.com/gpu, and the node has 2\",\"reason\":"
              "\"UnexpectedAdmissionError\"");
    node_fixture_free(fixture);
}

/* covers: everyday.md EVD-307 EVD-308 */
static void devices_stay_with_a_pod_until_it_has_ended(void **state)
{
    struct node_fixture *fixture = new_node(10);
    const struct kubelet_options options = with_gpus(10);

    make_pod(fixture, "a", 1);
    make_pod(fixture, "b", 1);
    node_fixture_report_running(fixture, "a");
    node_fixture_report_running(fixture, "b");
    node_fixture_delete(fixture, &kind_pod, "a", 0);
    node_fixture_settle(fixture);
    make_pod(fixture, "c", 1);
    check("its process still runs", !node_fixture_started(fixture, "c"));
    node_fixture_report_ended(fixture, "a", 137);
    check_has("it has ended", env_of(fixture, "c"), "CUDA_VISIBLE_DEVICES=0;");
    node_fixture_report_running(fixture, "c");

    node_fixture_stop(fixture);
    for (size_t i = 1; i < fixture->n_pods; i++)
        fixture->found[fixture->n_found++] = fixture->pods[i].uid;
    node_fixture_start_kubelet(fixture, &options);
    make_pod(fixture, "d", 1);
    check("both are known", !node_fixture_started(fixture, "d"));
    node_fixture_report_ended(fixture, "b", 0);
    check_has("that of b", env_of(fixture, "d"), "CUDA_VISIBLE_DEVICES=1;");
    node_fixture_free(fixture);
}

/* covers: everyday.md EVD-310 */
static void a_pod_without_object_may_have_any_device(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    const struct kubelet_options options = with_gpus(10);
    struct scripted_pod *orphan = &fixture->pods[0];

    strcpy(orphan->uid, "orphan");
    strcpy(orphan->name, "orphan");
    orphan->running = true;
    fixture->n_pods = fixture->running = 1;
    fixture->found[fixture->n_found++] = orphan->uid;
    node_fixture_start_kubelet(fixture, &options);
    make_pod(fixture, "a", 1);
    kubelet_fixture_pod(fixture, "plain", NULL, NULL);
    check("others start", node_fixture_started(fixture, "plain") != NULL);
    check("no device is given out", !node_fixture_started(fixture, "a"));
    node_fixture_report_ended(fixture, "orphan", 137);
    check_has("after its end", env_of(fixture, "a"), "CUDA_VISIBLE_DEVICES=0;");
    node_fixture_free(fixture);
}

static void a_pod_that_waits_for_an_object_keeps_no_device(void **state)
{
    struct node_fixture *fixture = new_node(10);

    kubelet_fixture_pod(fixture, "a",
                        ",'command':['true'],'resources':{'limits':{'nvidia.com/gpu':'2'}},"
                        "'envFrom':[{'configMapRef':{'name':'m'}}]",
                        NULL);
    make_pod(fixture, "b", 2);
    check_has("b has them", env_of(fixture, "b"), "CUDA_VISIBLE_DEVICES=0,1;");
    check("a's status names none",
          !strstr(node_fixture_status(fixture, &kind_pod, "a"), "allocatedResourcesStatus"));
    node_fixture_create(fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m',"
                                 "'namespace':'default'},'data':{'A':'1'}}");
    node_fixture_settle(fixture);
    check("a waits for b", !node_fixture_started(fixture, "a"));
    node_fixture_report_ended(fixture, "b", 0);
    check_has("a has them", env_of(fixture, "a"), "CUDA_VISIBLE_DEVICES=0,1;");
    node_fixture_free(fixture);
}

static void a_pod_deleted_before_its_start_gives_them_back(void **state)
{
    struct node_fixture *fixture = new_node(10);

    kubelet_fixture_pod(fixture, "a",
                        ",'command':['true'],'resources':{'limits':{'nvidia.com/gpu':'2'}},"
                        "'envFrom':[{'configMapRef':{'name':'m'}}]",
                        NULL);
    node_fixture_delete(fixture, &kind_pod, "a", 0);
    node_fixture_settle(fixture);
    make_pod(fixture, "b", 2);
    check_has("b has them", env_of(fixture, "b"), "CUDA_VISIBLE_DEVICES=0,1;");
    node_fixture_delete(fixture, &kind_pod, "b", 0);
    make_pod(fixture, "c", 1);
    check("b has not ended", !node_fixture_started(fixture, "c"));
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_get_devices_of_their_own),
        cmocka_unit_test(a_container_cannot_name_devices_itself),
        cmocka_unit_test(a_pod_that_requests_more_than_there_are_fails),
        cmocka_unit_test(devices_stay_with_a_pod_until_it_has_ended),
        cmocka_unit_test(a_pod_without_object_may_have_any_device),
        cmocka_unit_test(a_pod_that_waits_for_an_object_keeps_no_device),
        cmocka_unit_test(a_pod_deleted_before_its_start_gives_them_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
