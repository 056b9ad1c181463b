/*
 * The rank table of plugin hcclrank: made on request, and follows the pods it lists.
 *
 * covers: see O-P37 of job-plugins.md
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_fixture.h"

#define TABLE(count, servers, status)                                                              \
    "{\"version\":\"1.0\",\"server_count\":\"" count "\",\"server_list\":[" servers                \
    "],\"status\":\"" status "\"}\n"
#define SERVER(ip, devices)                                                                        \
    "{\"server_id\":\"" ip "\",\"host_nic_ip\":\"reserve\",\"device\":[" devices "]}"
#define DEVICE(id, rank)                                                                           \
    "{\"device_id\":\"" id "\",\"device_ip\":\"10.0.0." id "\",\"rank_id\":\"" rank "\"}"

static struct stage *with_table(const char *tasks)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", tasks, "minAvailable: 1;plugins: {hcclrank: [--rank-table]}");
    return stage;
}

static void give_address(struct stage *stage, const char *name, const char *ip)
{
    const struct object *pod = stage_get(stage, &kind_pod, name);

    cluster_update_status(
        stage->backend, NULL, pod,
        pod_status_blob(&(struct pod_status){.phase = POD_PENDING, .pod_ip = ip}));
    stage_settle(stage);
}

static void check_table(const char *when, struct stage *stage, const char *want)
{
    const struct object *map = stage_get(stage, &kind_config_map, "j-hccl");
    scoped(json) json_t *body = map ? object_body_json(map) : NULL;

    check_str(when,
              json_string_value(json_object_get(json_object_get(body, "data"), "rank_table.json")),
              want);
}

static bool has_record(struct stage *stage)
{
    const struct job_status *status = stage_job(stage, "j");

    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, "plugin-hcclrank") == 0)
            return true;
    return false;
}

static void the_table_lists_pods_by_rank_as_they_get_addresses(void **state)
{
    struct stage *stage = with_table("worker*2 other*1 master*1");

    check_table("at first", stage, TABLE("0", "", "initializing"));
    give_address(stage, "j-worker-1", "10.1.0.3");
    check_table("one", stage, TABLE("1", SERVER("10.1.0.3", ""), "initializing"));
    give_address(stage, "j-other-0", "10.1.0.9");
    give_address(stage, "j-master-0", "10.1.0.1");
    check_table("masters first", stage,
                TABLE("2", SERVER("10.1.0.1", "") "," SERVER("10.1.0.3", ""), "initializing"));
    give_address(stage, "j-worker-0", "10.1.0.2");
    check_table("all", stage,
                TABLE("3",
                      SERVER("10.1.0.1", "") "," SERVER("10.1.0.2", "") "," SERVER("10.1.0.3", ""),
                      "completed"));
    stage_free(stage);
}

static void devices_are_those_written_at_the_pods(void **state)
{
    struct stage *stage = with_table("master*1 worker*1");

    give_address(stage, "j-master-0", "10.1.0.1");
    give_address(stage, "j-worker-0", "10.1.0.2");
    stage_patch(
        stage, &kind_pod, "j-master-0",
        "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
        "ascend-910-configuration\":\"{\\\"devices\\\":[{\\\"device_id\\\":\\\"4\\\","
        "\\\"device_ip\\\":\\\"10.0.0.4\\\"},{\\\"device_id\\\":\\\"5\\\",\\\"device_ip\\\":"
        "\\\"10.0.0.5\\\"}]}\"}}}");
    stage_patch(stage, &kind_pod, "j-worker-0",
                "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
                "ascend-910-configuration\":\"{\\\"devices\\\":[{\\\"device_id\\\":\\\"0\\\","
                "\\\"device_ip\\\":\\\"10.0.0.0\\\"}]}\"}}}");
    check_table("devices", stage,
                TABLE("2",
                      SERVER("10.1.0.1", DEVICE("4", "0") "," DEVICE("5", "1")) "," SERVER(
                          "10.1.0.2", DEVICE("0", "2")),
                      "completed"));
    stage_patch(stage, &kind_pod, "j-worker-0",
                "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
                "ascend-910-configuration\":\"no json\"}}}");
    check_table(
        "what is no JSON lists no device", stage,
        TABLE("2",
              SERVER("10.1.0.1", DEVICE("4", "0") "," DEVICE("5", "1")) "," SERVER("10.1.0.2", ""),
              "completed"));
    stage_free(stage);
}

static void pods_read_the_table_in_a_file(void **state)
{
    struct stage *stage = with_table("master*1");
    scoped(json) json_t *pod = object_body_json(stage_get(stage, &kind_pod, "j-master-0"));
    scoped_str text = json_dumps(pod, JSON_COMPACT);

    check_has("variable", text,
              "{\"name\":\"RANK_TABLE_FILE\",\"value\":\"/etc/hccl/rank_table.json\"}");
    check_has("its own address goes with its own name", text, "\"hostname\":\"j-master-0\"");
    check_has("mount", text, "{\"name\":\"j-hccl\",\"mountPath\":\"/etc/hccl\"}");
    check_has("volume", text, "{\"name\":\"j-hccl\",\"configMap\":{\"name\":\"j-hccl\"}}");
    stage_free(stage);
}

static void the_table_follows_and_goes_with_the_job(void **state)
{
    struct stage *stage = with_table("worker*2");
    int64_t revision;

    give_address(stage, "j-worker-0", "10.1.0.1");
    give_address(stage, "j-worker-1", "10.1.0.2");
    check("recorded, for it has made something", has_record(stage));
    revision = stage_get(stage, &kind_config_map, "j-hccl")->revision;
    stage_restart(stage);
    check_int("nothing new", stage_get(stage, &kind_config_map, "j-hccl")->revision, revision);
    stage_delete(stage, &kind_config_map, "j-hccl");
    check_table("made again", stage,
                TABLE("2", SERVER("10.1.0.1", "") "," SERVER("10.1.0.2", ""), "completed"));
    stage_patch(stage, &kind_job, "j",
                "{\"spec\":{\"tasks\":[{\"name\":\"worker\",\"replicas\":1,\"minAvailable\":1,"
                "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
                "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_table("smaller", stage, TABLE("1", SERVER("10.1.0.1", ""), "completed"));
    stage_pods(stage, POD_RUNNING);
    stage_pods(stage, POD_SUCCEEDED);
    check_str("phase", stage_phase(stage, "j"), "Completed");
    check("gone", !stage_get(stage, &kind_config_map, "j-hccl"));
    check("and its record", !has_record(stage));
    stage_free(stage);
}

static void nobody_who_did_not_ask_gets_a_table(void **state)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "master*1", "plugins: {hcclrank: []}");
    check_int("no maps", (int64_t)stage_count(stage, &kind_config_map), 0);
    check("no record", !has_record(stage));
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_lists_pods_by_rank_as_they_get_addresses),
        cmocka_unit_test(devices_are_those_written_at_the_pods),
        cmocka_unit_test(pods_read_the_table_in_a_file),
        cmocka_unit_test(the_table_follows_and_goes_with_the_job),
        cmocka_unit_test(nobody_who_did_not_ask_gets_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
