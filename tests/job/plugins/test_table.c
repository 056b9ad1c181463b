/*
 * Tests the rank table of plugin hcclrank: it is made on request, and follows the pods it lists.
 *
 * covers: see O-P37 of job-plugins.md
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_fixture.h"

#define TABLE(count, servers, status)                                                              \
    "{\"version\":\"1.0\",\"server_count\":\"" count "\",\"server_list\":[" servers                \
    "],\"status\":\"" status "\"}\n"
#define SERVER(ip, devices)                                                                        \
    "{\"server_id\":\"" ip "\",\"host_nic_ip\":\"reserve\",\"device\":[" devices "]}"
#define DEVICE(id, rank)                                                                           \
    "{\"device_id\":\"" id "\",\"device_ip\":\"10.0.0." id "\",\"rank_id\":\"" rank "\"}"

static struct job_fixture *with_table(const char *tasks)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", tasks,
                           "minAvailable: 1;plugins: {hcclrank: [--rank-table]}");
    return fixture;
}

static void give_address(struct job_fixture *fixture, const char *name, const char *ip)
{
    const struct object *pod = job_fixture_get(fixture, &kind_pod, name);

    cluster_update_status(
        fixture->backend, NULL, pod,
        pod_status_blob(&(struct pod_status){.phase = POD_PENDING, .pod_ip = ip}));
    job_fixture_settle(fixture);
}

static void check_table(const char *when, struct job_fixture *fixture, const char *want)
{
    const struct object *map = job_fixture_get(fixture, &kind_config_map, "j-hccl");
    scoped(json) json_t *body = map ? object_body_json(map) : NULL;

    check_str(when,
              json_string_value(json_object_get(json_object_get(body, "data"), "rank_table.json")),
              want);
}

static bool has_record(struct job_fixture *fixture)
{
    const struct job_status *status = job_fixture_job(fixture, "j");

    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, "plugin-hcclrank") == 0)
            return true;
    return false;
}

static void the_table_lists_pods_by_rank_as_they_get_addresses(void **state)
{
    struct job_fixture *fixture = with_table("worker*2 other*1 master*1");

    check_table("at first", fixture, TABLE("0", "", "initializing"));
    give_address(fixture, "j-worker-1", "10.1.0.3");
    check_table("one", fixture, TABLE("1", SERVER("10.1.0.3", ""), "initializing"));
    give_address(fixture, "j-other-0", "10.1.0.9");
    give_address(fixture, "j-master-0", "10.1.0.1");
    check_table("masters first", fixture,
                TABLE("2", SERVER("10.1.0.1", "") "," SERVER("10.1.0.3", ""), "initializing"));
    give_address(fixture, "j-worker-0", "10.1.0.2");
    check_table("all", fixture,
                TABLE("3",
                      SERVER("10.1.0.1", "") "," SERVER("10.1.0.2", "") "," SERVER("10.1.0.3", ""),
                      "completed"));
    job_fixture_free(fixture);
}

static void devices_are_those_written_at_the_pods(void **state)
{
    struct job_fixture *fixture = with_table("master*1 worker*1");

    give_address(fixture, "j-master-0", "10.1.0.1");
    give_address(fixture, "j-worker-0", "10.1.0.2");
    job_fixture_patch(
        fixture, &kind_pod, "j-master-0",
        "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
        "ascend-910-configuration\":\"{\\\"devices\\\":[{\\\"device_id\\\":\\\"4\\\","
        "\\\"device_ip\\\":\\\"10.0.0.4\\\"},{\\\"device_id\\\":\\\"5\\\",\\\"device_ip\\\":"
        "\\\"10.0.0.5\\\"}]}\"}}}");
    job_fixture_patch(fixture, &kind_pod, "j-worker-0",
                      "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
                      "ascend-910-configuration\":\"{\\\"devices\\\":[{\\\"device_id\\\":\\\"0\\\","
                      "\\\"device_ip\\\":\\\"10.0.0.0\\\"}]}\"}}}");
    check_table("devices", fixture,
                TABLE("2",
                      SERVER("10.1.0.1", DEVICE("4", "0") "," DEVICE("5", "1")) "," SERVER(
                          "10.1.0.2", DEVICE("0", "2")),
                      "completed"));
    job_fixture_patch(fixture, &kind_pod, "j-worker-0",
                      "{\"metadata\":{\"annotations\":{\"ascend.kubectl.kubernetes.io/"
                      "ascend-910-configuration\":\"no json\"}}}");
    check_table(
        "what is no JSON lists no device", fixture,
        TABLE("2",
              SERVER("10.1.0.1", DEVICE("4", "0") "," DEVICE("5", "1")) "," SERVER("10.1.0.2", ""),
              "completed"));
    job_fixture_free(fixture);
}

static void pods_read_the_table_in_a_file(void **state)
{
    struct job_fixture *fixture = with_table("master*1");
    scoped(json) json_t *pod = object_body_json(job_fixture_get(fixture, &kind_pod, "j-master-0"));
    scoped_str text = json_dumps(pod, JSON_COMPACT);

    check_has("variable", text,
              "{\"name\":\"RANK_TABLE_FILE\",\"value\":\"/etc/hccl/rank_table.json\"}");
    check_has("its own address goes with its own name", text, "\"hostname\":\"j-master-0\"");
    check_has("mount", text, "{\"name\":\"j-hccl\",\"mountPath\":\"/etc/hccl\"}");
    check_has("volume", text, "{\"name\":\"j-hccl\",\"configMap\":{\"name\":\"j-hccl\"}}");
    job_fixture_free(fixture);
}

static void the_table_follows_and_goes_with_the_job(void **state)
{
    struct job_fixture *fixture = with_table("worker*2");
    int64_t revision;

    give_address(fixture, "j-worker-0", "10.1.0.1");
    give_address(fixture, "j-worker-1", "10.1.0.2");
    check("recorded, for it has made something", has_record(fixture));
    revision = job_fixture_get(fixture, &kind_config_map, "j-hccl")->revision;
    job_fixture_restart(fixture);
    check_int("nothing new", job_fixture_get(fixture, &kind_config_map, "j-hccl")->revision,
              revision);
    job_fixture_delete(fixture, &kind_config_map, "j-hccl");
    check_table("made again", fixture,
                TABLE("2", SERVER("10.1.0.1", "") "," SERVER("10.1.0.2", ""), "completed"));
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"spec\":{\"tasks\":[{\"name\":\"worker\",\"replicas\":1,\"minAvailable\":1,"
        "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_table("smaller", fixture, TABLE("1", SERVER("10.1.0.1", ""), "completed"));
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
    check("gone", !job_fixture_get(fixture, &kind_config_map, "j-hccl"));
    check("and its record", !has_record(fixture));
    job_fixture_free(fixture);
}

static void nobody_who_did_not_ask_gets_a_table(void **state)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "master*1", "plugins: {hcclrank: []}");
    check_int("no maps", (int64_t)job_fixture_count(fixture, &kind_config_map), 0);
    check("no record", !has_record(fixture));
    job_fixture_free(fixture);
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
