/*
 * Tests the PodGroups of jobs: members, minimums, resources.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/quantity.h"
#include "job/model/resources.h"
#include "job/objects/podgroup.h"
#include "tests/support/manifest.h"

#define HEAD                                                                                       \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"                                           \
    "metadata: {name: j, namespace: ns, uid: u, labels: {team: a}, annotations: {note: b}}\n"

struct bench {
    struct job_spec_cache *cache;
    struct object *job, *group;
    struct job_model model;
};

static int32_t worker_first(void *ctx, const char *priority_class)
{
    return strcmp(priority_class, "high") == 0 ? 10 : strcmp(priority_class, "low") == 0 ? 1 : 0;
}

static struct bench set_up(const char *yaml, bool staged)
{
    struct bench bench = {job_spec_cache_new(NULL), manifest_raw(yaml)};
    struct job_podgroup_options options = {worker_first, NULL, staged};

    job_model_init(&bench.model, bench.job, job_compiled_spec_get(bench.cache, bench.job), NULL);
    bench.group = job_podgroup_build(&bench.model, job_podgroup_body(&bench.model, &options));
    return bench;
}

static void tear_down(struct bench *bench)
{
    job_model_release(&bench->model);
    job_spec_cache_free(bench->cache);
    object_unref(bench->group);
    object_unref(bench->job);
}

static const char *resource(const struct object *group, const char *name)
{
    const struct str_map *map = &podgroup_spec_of(group)->min_resources;

    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, name) == 0)
            return map->items[i].value;
    return NULL;
}

static void check_resource(const char *name, const struct object *group, const char *key,
                           const char *want)
{
    const char *text = resource(group, key);
    quantity_nano got = 0, wanted = 0;

    if (!text)
        check_fail("%s: no %s", name, key);
    assert_true(quantity_parse(text, &got, NULL));
    assert_true(quantity_parse(want, &wanted, NULL));
    if (got != wanted)
        check_fail("%s: %s is %s, not %s", name, key, text, want);
}

/* covers: job.md PG-01 */
static void a_podgroup_carries_what_the_job_says(void **unused)
{
    struct bench bench =
        set_up(HEAD "spec: {queue: q, minAvailable: 3, priorityClassName: high, tasks: [\n"
                    "  {name: a, replicas: 2, template: {spec: {}}}, {name: b, replicas: 2, "
                    "minAvailable: 1, template: {spec: {}}}]}",
               false);
    const struct podgroup_spec *spec = podgroup_spec_of(bench.group);

    assert_string_equal(object_name(bench.group), "j-u");
    assert_string_equal(object_namespace(bench.group), "ns");
    assert_string_equal(meta_controller(bench.group->meta)->uid, "u");
    assert_string_equal(meta_label(bench.group->meta, "team"), "a");
    assert_string_equal(meta_annotation(bench.group->meta, "note"), "b");
    assert_int_equal(spec->min_member, 3);
    assert_string_equal(spec->queue, "q");
    assert_string_equal(spec->priority_class, "high");
    assert_int_equal(spec->min_task_member.count, 2);
    assert_int_equal(spec->min_task_member.items[0].value, 2);
    assert_int_equal(spec->min_task_member.items[1].value, 1);
    tear_down(&bench);
}

/* covers: job.md PG-02 PRT-09 PG-03 */
static void partitions_are_sub_groups(void **unused)
{
    static const struct {
        const char *min;
        int32_t members, groups;
    } rows[] = {{"0", 6, 0}, {"1", 3, 1}, {"2", 6, 2}};

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str yaml = mem_printf(
            HEAD
            "spec: {minAvailable: 1, networkTopology: {mode: soft, highestTierName: t2}, tasks: "
            "[{name: a, replicas: 6,\n"
            "  partitionPolicy: {totalPartitions: 2, partitionSize: 3, minPartitions: %s,\n"
            "    networkTopology: {mode: hard, highestTierAllowed: 1}}, template: {spec: {}}}]}",
            rows[i].min);
        struct bench bench = set_up(yaml, false);
        const struct podgroup_spec *spec = podgroup_spec_of(bench.group);
        json_t *entry = json_array_get(spec->sub_group_policy, 0);

        check_int(rows[i].min, spec->min_task_member.items[0].value, rows[i].members);
        check_int(rows[i].min, json_array_size(spec->sub_group_policy), 1);
        check_int(rows[i].min, json_integer_value(json_object_get(entry, "minSubGroups")),
                  rows[i].groups);
        check_int(rows[i].min, json_integer_value(json_object_get(entry, "subGroupSize")), 3);
        check_str(rows[i].min,
                  json_string_value(json_array_get(json_object_get(entry, "matchLabelKeys"), 0)),
                  "volcano.sh/partition-id");
        check_int(rows[i].min,
                  json_integer_value(json_object_get(json_object_get(entry, "networkTopology"),
                                                     "highestTierAllowed")),
                  1);
        check_str(rows[i].min,
                  json_string_value(json_object_get(spec->network_topology, "highestTierName")),
                  "t2");
        tear_down(&bench);
    }
}

/* covers: job.md PG-09 */
static void resources_in_all_their_forms(void **unused)
{
    static const struct kv want[] = {
        {"cpu", "2"},
        {"requests.cpu", "2"},
        {"limits.cpu", "2"},
        {"memory", "2000Mi"},
        {"requests.memory", "2000Mi"},
        {"limits.memory", "2000Mi"},
        {"nvidia.com/gpu", "2"},
        {"requests.nvidia.com/gpu", "2"},
        {"pods", "2"},
        {"count/pods", "2"},
    };
    struct bench bench = set_up(
        HEAD "spec: {minAvailable: 2, tasks: [\n"
             "  {name: a, replicas: 1, template: &t {spec: {containers: [{name: c, resources: {\n"
             "    requests: {cpu: 1, memory: 1000Mi, nvidia.com/gpu: 1}, limits: {cpu: 1, memory: "
             "1000Mi, nvidia.com/gpu: 1}}}]}}},\n"
             "  {name: b, replicas: 1, template: *t}]}",
        false);

    for (size_t i = 0; i < countof(want); i++)
        check_resource("PG-09", bench.group, want[i].key, want[i].value);
    assert_null(resource(bench.group, "limits.nvidia.com/gpu"));
    tear_down(&bench);
}

struct minimum_case {
    const char *name;
    int m;
    const char *master_min, *worker_min, *worker_class;
    const char *cpu, *pods;
};

/* covers: job.md PG-10 PG-11 PG-12 PG-13 PG-14 PG-15 PG-16 PG-17 */
static void min_resources_of_the_gang(void **unused)
{
    /* clang-format off */
    static const struct minimum_case cases[] = {
        {"PG-10", 3, "1", "1", "low",  "200m", "3"},
        {"PG-11", 3, "1", NULL, "low", "250m", "3"},
        {"PG-12", 2, "1", "1", "low",  "150m", "2"},
        {"PG-13a", 2, "2", "1", "low", "100m", "2"},
        {"PG-13b", 2, "1", "2", "low", "100m", "2"},
        {"PG-14", 3, "2", "2", "low",  "200m", "3"},
        {"PG-15", 3, "1", "1", "high", "250m", "3"},
        {"PG-16", 4, "1", "1", "high", "300m", "4"},
        {"PG-17", 3, "0", "1", "high", "250m", "3"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        const struct minimum_case *c = &cases[i];
        scoped_str worker_min =
            c->worker_min ? mem_printf("minAvailable: %s,", c->worker_min) : mem_strdup("");
        scoped_str yaml = mem_printf(
            HEAD "spec: {minAvailable: %d, tasks: [\n"
                 "  {name: master, replicas: 2, minAvailable: %s, template: {spec: "
                 "{priorityClassName: low,\n"
                 "    containers: [{name: c, resources: {requests: {cpu: 50m}}}]}}},\n"
                 "  {name: worker, replicas: 2, %s template: {spec: {priorityClassName: %s,\n"
                 "    containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}]}",
            c->m, c->master_min, worker_min, c->worker_class);
        struct bench bench = set_up(yaml, false);

        check_resource(c->name, bench.group, "cpu", c->cpu);
        check_resource(c->name, bench.group, "pods", c->pods);
        tear_down(&bench);
    }
}

static void usage_counts_init_containers_sidecars_and_overhead(void **unused)
{
    scoped(json) json_t *template =
        json_loads("{\"spec\":{\"overhead\":{\"cpu\":\"10m\"},"
                   "\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\"}}},"
                   "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"100m\"}}},"
                   "{\"resources\":{\"requests\":{\"cpu\":\"600m\"}}}],"
                   "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"200m\"}}},{"
                   "\"resources\":{\"requests\":{\"cpu\":\"300m\"}}}]}}",
                   0, NULL);
    scoped(usage) struct usage usage = {0};

    usage_of_template(template, &usage);
    /* A pod needs max(containers 500 + sidecar 100, init 500, sidecar 100 + init 600) +
     * overhead. */
    assert_int_equal((int64_t)(usage_get(&usage, "cpu") / 1000000), 710);
    assert_int_equal((int64_t)(usage_get(&usage, "requests.cpu") / 1000000), 710);
    assert_int_equal((int64_t)usage_get(&usage, "limits.cpu"), 0);
}

/* covers: job.md PG-04 PG-05 SCL-07 */
static void what_the_core_follows_is_compared_by_value(void **unused)
{
    static const struct {
        const char *name, *spec;
        bool differs;
    } rows[] = {
        {"equal amounts do not differ",
         "{minMember: 1, minTaskMember: {a: 1}, queue: default, priorityClassName: high, "
         "minResources: {pods: 1, count/pods: '1000m'}}",
         false},
        {"a minimum of an unknown task does not count",
         "{minMember: 1, minTaskMember: {a: 1, z: 3}, queue: default, priorityClassName: high, "
         "minResources: {pods: 1, count/pods: 1}}",
         false},
        {"another queue does not count",
         "{minMember: 1, minTaskMember: {a: 1}, queue: other, priorityClassName: high, "
         "minResources: {pods: 1, count/pods: 1}}",
         false},
        {"another priority class counts",
         "{minMember: 1, minTaskMember: {a: 1}, queue: default, priorityClassName: low, "
         "minResources: {pods: 1, count/pods: 1}}",
         true},
        {"another minMember counts",
         "{minMember: 2, minTaskMember: {a: 1}, queue: default, priorityClassName: high, "
         "minResources: {pods: 1, count/pods: 1}}",
         true},
        {"missing minimums of tasks count",
         "{minMember: 1, queue: default, priorityClassName: high, minResources: {pods: 1, "
         "count/pods: 1}}",
         true},
        {"other resources count",
         "{minMember: 1, minTaskMember: {a: 1}, queue: default, priorityClassName: high, "
         "minResources: {pods: 2, count/pods: 1}}",
         true},
    };
    struct bench bench = set_up(HEAD "spec: {queue: default, minAvailable: 1, priorityClassName: "
                                     "high, tasks: [{name: a, replicas: 1, template: {spec: {}}}]}",
                                false);

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str yaml = mem_printf("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, "
                                     "metadata: {name: j-u, namespace: ns}, spec: %s}",
                                     rows[i].spec);
        scoped(object) struct object *group = manifest_raw(yaml);

        check_int(rows[i].name, job_podgroup_differs(group, bench.group->body), rows[i].differs);
    }
    tear_down(&bench);
}

/* covers: see O-57 */
static void a_staged_gang_starts_with_the_tasks_that_can_start(void **unused)
{
    struct bench bench = set_up(
        HEAD
        "spec: {minAvailable: 5, tasks: [{name: a, replicas: 2, minAvailable: 2, template: {spec: "
        "{}}},\n"
        "  {name: b, replicas: 3, minAvailable: 3, dependsOn: {name: [a]}, template: {spec: {}}}]}",
        true);
    const struct podgroup_spec *spec = podgroup_spec_of(bench.group);

    assert_int_equal(spec->min_member, 2);
    assert_int_equal(spec->min_task_member.count, 1);
    check_resource("staged", bench.group, "pods", "2");
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_podgroup_carries_what_the_job_says),
        cmocka_unit_test(partitions_are_sub_groups),
        cmocka_unit_test(resources_in_all_their_forms),
        cmocka_unit_test(min_resources_of_the_gang),
        cmocka_unit_test(usage_counts_init_containers_sidecars_and_overhead),
        cmocka_unit_test(what_the_core_follows_is_compared_by_value),
        cmocka_unit_test(a_staged_gang_starts_with_the_tasks_that_can_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
