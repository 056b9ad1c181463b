#include "tests/support/kubelet_fixture.h"

struct kubelet_options kubelet_fixture_options(int64_t max_pods)
{
    return (struct kubelet_options){
        .node_name = "here",
        .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = max_pods},
        .intents_ahead = scheduler_ahead(max_pods),
        .volumes = {.sim = true, .data_dir = "/data"},
    };
}

struct node_fixture *kubelet_fixture_new(int64_t max_pods)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(max_pods);

    options.volumes.sim = false;
    options.volumes.host_paths.any = true;
    node_fixture_start_kubelet(fixture, &options);
    return fixture;
}

void kubelet_fixture_pod(struct node_fixture *fixture, const char *name, const char *container,
                         const char *spec)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},"
        "'spec':{'nodeName':'here','restartPolicy':'Never','containers':[{'name':'c',"
        "'image':'i'%s}]%s}}",
        name, container ? container : "," KUBELET_FIXTURE_COMMAND, spec ? spec : "");
    node_fixture_settle(fixture);
}
