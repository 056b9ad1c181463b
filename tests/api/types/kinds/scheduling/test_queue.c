/*
 * Admission of Queues and PodGroups, and the writers of PodGroups.
 * covers: job.md ADM-64 ADM-65 ADM-66 ADM-67 ADM-68 ADM-69 ADM-70 ADM-71
 */
#include "api/types/kinds/scheduling/queue.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define QUEUE(name, spec)                                                                          \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " name               \
    "}\nspec: {" spec "}\n"
#define HIERARCHY(name, path, weights)                                                             \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " name               \
    ", annotations: {volcano.sh/hierarchy: " path ", volcano.sh/hierarchy-weights: " weights       \
    "}}\nspec: {}\n"
#define ANNOTATED(name, annotation)                                                                \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " name               \
    ", annotations: {" annotation "}}\nspec: {}\n"
#define GROUP(ns, spec)                                                                            \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, "              \
    "namespace: " ns "}\nspec: {" spec "}\n"
#define NAMESPACE(name, annotations)                                                               \
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: " name ", annotations: {" annotations "}}"  \
    "\n"

/* clang-format off */
static const struct verdict_case queues[] = {
    {"68: state Open",               QUEUE_YAML("q", "{}", "Open")},
    {"68: state Closed",             QUEUE_YAML("q", "{}", "Closed")},
    {"68: no state",                 QUEUE("q", "")},
    {"68: state Wrong",              QUEUE_YAML("q", "{}", "Wrong"), "status.state", "\"Wrong\""},
    {"69: deserved below guarantee", QUEUE("q", "deserved: {cpu: 1}, guarantee: {resource: {cpu: 2}}"), "spec.deserved[cpu]", "deserved[cpu]=1 must be >= guarantee[cpu]=2"},
    {"69: guarantee, not deserved",  QUEUE("q", "guarantee: {resource: {cpu: 2}}"), "spec.deserved[cpu]", "deserved[cpu] must be >= guarantee[cpu]=2"},
    {"69: deserved above capability", QUEUE("q", "capability: {cpu: 1}, deserved: {cpu: 1500m}"), "spec.deserved[cpu]", "deserved[cpu]=1500m must be <= capability[cpu]=1"},
    {"69: deserved of another",      QUEUE("q", "capability: {cpu: 1}, deserved: {memory: 1Gi}")},
    {"negative capability",          QUEUE("q", "capability: {cpu: -1}"), "spec.capability[cpu]", "greater than or equal to 0"},
    {"broken quantity",              QUEUE("q", "capability: {cpu: 1x}"), "spec.capability[cpu]", "1x"},
    {"weight too low",               QUEUE("q", "weight: -1"), "spec.weight", "spec.weight in body should be greater than or equal to 1"},
    {"weight 0",                     QUEUE("q", "weight: 0")},
    {"weight too high",              QUEUE("q", "weight: 65536"), "spec.weight", "65535"},
    {"71: its own parent",           QUEUE("q", "parent: q"), "spec.parent", "its own parent"},
    {"71: no such parent",           QUEUE("q", "parent: nowhere"), "spec.parent", "failed to get parent queue"},
    {"71: five deep",                QUEUE("q", "parent: l4")},
    {"71: six deep",                 QUEUE("q", "parent: l5"), "spec.parent", "at most 5 deep"},
    {"71: parent with pods",         QUEUE("q", "parent: busy"), "spec.parent", "has allocated pods"},
    {"more capability than above",   QUEUE("q", "parent: small, capability: {cpu: 3}"), "spec.capability[cpu]", "queue small above it"},
    {"as much as above",             QUEUE("q", "parent: small, capability: {cpu: 2}")},
    {"siblings deserve too much",    QUEUE("q", "parent: small, deserved: {cpu: 1500m}"), "spec.deserved[cpu]", "siblings together"},
    {"siblings deserve enough",      QUEUE("q", "parent: small, deserved: {cpu: 1}")},
    {"hierarchy",                    HIERARCHY("q", "root/sci/dev", "1/2/0.5")},
    {"hierarchy of other length",    HIERARCHY("q", "root/sci/dev", "1/2"), "metadata.annotations[volcano.sh/hierarchy]", "same length"},
    {"hierarchy without weights",    ANNOTATED("q", "volcano.sh/hierarchy: a"), "metadata.annotations[volcano.sh/hierarchy-weights]", "denied"},
    {"hierarchy, empty weights",     HIERARCHY("q", "a", "''"), "metadata.annotations[volcano.sh/hierarchy-weights]", "denied"},
    {"weights without hierarchy",    ANNOTATED("q", "volcano.sh/hierarchy-weights: 1/2"), "metadata.annotations[volcano.sh/hierarchy]", "same length"},
    {"hierarchy weight 0",           HIERARCHY("q", "root/sci/dev", "1/0/1"), "metadata.annotations[volcano.sh/hierarchy-weights]", "must be larger than 0"},
    {"hierarchy above another",      HIERARCHY("q", "root/old", "1/1"), "metadata.annotations[volcano.sh/hierarchy]", "sub path of queue dev"},
    {"hierarchy by whole parts",     HIERARCHY("q", "root/ol", "1/1")},
};

static const struct verdict_case groups[] = {
    {"64: open queue",        GROUP("ns", "minMember: 1, queue: default")},
    {"64: closed queue",      GROUP("ns", "minMember: 1, queue: closed"), "spec.queue", "status is `Closed`"},
    {"64: unknown queue",     GROUP("ns", "minMember: 1, queue: nowhere"), "spec.queue", "\"nowhere\" does not exist"},
    {"64: empty queue",       GROUP("ns", "minMember: 1, queue: \"\"")},
    {"65: both tiers",        GROUP("ns", "subGroupPolicy: [{name: a, networkTopology: {highestTierAllowed: 1, highestTierName: b}}]"),
                              "spec.subGroupPolicy[0].networkTopology", "pick one"},
    {"both tiers of a group", GROUP("ns", "networkTopology: {highestTierAllowed: 1, highestTierName: b}"), "spec.networkTopology", "pick one"},
    {"minTaskMember",         GROUP("ns", "minTaskMember: {a: 1}")},
    {"minTaskMember of text", GROUP("ns", "minTaskMember: {a: x}"), "spec.minTaskMember[a]", "number of pods"},
};
/* clang-format on */

static void queues_are_accepted_and_refused(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, QUEUE("l1", ""));
    fixture_add(&fixture, QUEUE("l2", "parent: l1"));
    fixture_add(&fixture, QUEUE("l3", "parent: l2"));
    fixture_add(&fixture, QUEUE("l4", "parent: l3"));
    fixture_add(&fixture, QUEUE("l5", "parent: l4"));
    fixture_add(&fixture, QUEUE("busy", "") "status: {state: Open, allocated: {pods: 2}}\n");
    fixture_add(&fixture, QUEUE("small", "capability: {cpu: 2}, deserved: {cpu: 2}"));
    fixture_add(&fixture, QUEUE("sibling", "parent: small, deserved: {cpu: 1}"));
    fixture_add(&fixture, HIERARCHY("dev", "root/old/dev", "1/1/1"));
    for (size_t i = 0; i < countof(queues); i++)
        check_verdict(&fixture, &queues[i], NULL);
    fixture_release(&fixture);
}

/* A Queue gets defaults for the fields that it lacks (ADM-67). */
static void a_queue_gets_defaults(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *bare = fixture_admit(&fixture, QUEUE("q", ""), NULL);

    check_int("weight", queue_spec_of(bare)->weight, 1);
    check_int("reclaimable", queue_spec_of(bare)->reclaimable, 1);

    scoped(object) struct object *zero =
        fixture_admit(&fixture, QUEUE("q", "weight: 0, reclaimable: false"), NULL);

    check_int("weight", queue_spec_of(zero)->weight, 1);
    check_int("reclaimable", queue_spec_of(zero)->reclaimable, 0);
    fixture_release(&fixture);
}

static void legacy_hierarchy_annotations_begin_at_root(void **state)
{
    static const struct {
        const char *name, *yaml, *path, *weights;
    } cases[] = {
        {"prefixed", HIERARCHY("q", "sci/dev", "2/0.5"), "root/sci/dev", "1/2/0.5"},
        {"as it is", HIERARCHY("q", "root/sci", "1/2"), "root/sci", "1/2"},
    };
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *queue = fixture_admit(&fixture, cases[i].yaml, NULL);

        check(cases[i].name, queue != NULL);
        check_str(cases[i].name, meta_annotation(queue->meta, "volcano.sh/hierarchy"),
                  cases[i].path);
        check_str(cases[i].name, meta_annotation(queue->meta, "volcano.sh/hierarchy-weights"),
                  cases[i].weights);
    }
    fixture_release(&fixture);
}

/* All findings are reported at once (ADM-65, ADM-69, ADM-71). */
static void all_findings_are_reported_at_once(void **state)
{
    static const struct {
        const char *name, *yaml, *fields[4];
    } cases[] = {
        {"group",
         GROUP("ns", "queue: closed, subGroupPolicy: [{name: a, networkTopology: "
                     "{highestTierAllowed: 1, highestTierName: b}}]"),
         {"spec.subGroupPolicy[0].networkTopology", "spec.queue"}},
        {"queue",
         QUEUE("q", "parent: nowhere, capability: {cpu: 1, memory: -1}, deserved: {cpu: 2}, "
                    "guarantee: {resource: {pods: 3}}"),
         {"spec.capability[memory]", "spec.deserved[cpu]", "spec.deserved[pods]", "spec.parent"}},
    };
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, QUEUE_YAML("closed", "{}", "Closed"));
    for (size_t i = 0; i < countof(cases); i++) {
        check(cases[i].name, !fixture_admit(&fixture, cases[i].yaml, NULL));
        for (size_t j = 0; j < countof(cases[i].fields) && cases[i].fields[j]; j++)
            check(cases[i].fields[j], has_finding(&fixture.errors, cases[i].fields[j], ""));
    }
    fixture_release(&fixture);
}

static void a_queue_is_never_above_itself(void **state)
{
    struct admission_fixture fixture;
    const struct object *up;
    static const struct verdict_case loop = {"loop", QUEUE("up", "parent: down"), "spec.parent",
                                             "would be above itself"};

    fixture_init(&fixture);
    up = fixture_add(&fixture, QUEUE("up", ""));
    fixture_add(&fixture, QUEUE("down", "parent: up"));
    check_verdict(&fixture, &loop, up);
    fixture_release(&fixture);
}

/* There are more queues than any fixed table could hold. */
static void every_sibling_counts(void **state)
{
    static const struct verdict_case one_more = {"one more",
                                                 QUEUE("more", "parent: wide, deserved: {cpu: 1}"),
                                                 "spec.deserved[cpu]", "siblings together"};
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, QUEUE("wide", "deserved: {cpu: 70}"));
    for (int i = 0; i < 70; i++) {
        scoped_str yaml =
            mem_printf("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: "
                       "s%d}\nspec: {parent: wide, deserved: {cpu: 1}}\n",
                       i);

        fixture_add(&fixture, yaml);
    }
    check_verdict(&fixture, &one_more, NULL);
    fixture_release(&fixture);
}

static void updates_keep_the_sums_of_the_tree(void **state)
{
    struct admission_fixture fixture;
    const struct object *small, *root;
    static const struct verdict_case changes[] = {
        {"less than the children deserve", QUEUE("small", "deserved: {cpu: 500m}"),
         "spec.deserved[cpu]", "children together"},
        {"less than a child may use", QUEUE("small", "capability: {cpu: 1}"),
         "spec.capability[cpu]", "a child has it"},
        {"enough", QUEUE("small", "capability: {cpu: 4}, deserved: {cpu: 3}")},
    };
    static const struct verdict_case change_of_root = {
        "root", QUEUE("root", "capability: {cpu: 1}"), "spec", "queue root may not change"};

    fixture_init(&fixture);
    small = fixture_add(&fixture, QUEUE("small", ""));
    root = fixture_add(&fixture, QUEUE("root", ""));
    fixture_add(&fixture,
                QUEUE("child", "parent: small, deserved: {cpu: 1}, capability: {cpu: 2}"));
    for (size_t i = 0; i < countof(changes); i++)
        check_verdict(&fixture, &changes[i], small);
    check_verdict(&fixture, &change_of_root, root);
    fixture_release(&fixture);
}

/* Some queues cannot be deleted (ADM-70). */
static void some_queues_cannot_be_deleted(void **state)
{
    struct admission_fixture fixture;
    struct error err = {0};

    fixture_init(&fixture);

    const struct object *plain = fixture_add(&fixture, QUEUE_YAML("plain", "{}", "Open"));
    const struct object *above = fixture_add(&fixture, QUEUE("above", ""));
    const struct object *root = fixture_add(&fixture, QUEUE("root", ""));

    fixture_add(&fixture, QUEUE("below", "parent: above"));
    check_ok("plain", kind_queue.validate_delete(&fixture.adm, plain, &err), err);
    check_error("default", kind_queue.validate_delete(&fixture.adm, fixture.objects[0], &err), err,
                ERR_FORBIDDEN);
    check_has("default", err.message, "`default` queue can not be deleted");
    check_error("root", kind_queue.validate_delete(&fixture.adm, root, &err), err, ERR_FORBIDDEN);
    check_error("above", kind_queue.validate_delete(&fixture.adm, above, &err), err, ERR_FORBIDDEN);
    check_has("above", err.message, "1 child queues");
    fixture_release(&fixture);
}

static void pod_groups_are_accepted_and_refused(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, QUEUE_YAML("closed", "{}", "Closed"));
    for (size_t i = 0; i < countof(groups); i++)
        check_verdict(&fixture, &groups[i], NULL);
    fixture_release(&fixture);
}

/* An annotation of a namespace may name the queue of its jobs (ADM-66). */
static void a_namespace_may_name_the_queue(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, QUEUE_YAML("q", "{}", "Open"));
    fixture_add(&fixture, NAMESPACE("with", "scheduling.volcano.sh/queue-name: q"));
    fixture_add(&fixture, NAMESPACE("without", ""));

    scoped(object) struct object *with =
        fixture_admit(&fixture, GROUP("with", "minMember: 1"), NULL);
    scoped(object) struct object *without =
        fixture_admit(&fixture, GROUP("without", "minMember: 1"), NULL);
    scoped(object) struct object *unknown =
        fixture_admit(&fixture, GROUP("unknown", "minMember: 1"), NULL);
    scoped(object) struct object *own =
        fixture_admit(&fixture, GROUP("with", "minMember: 1, queue: q"), NULL);

    check_str("with", podgroup_spec_of(with)->queue, "q");
    check_str("without", podgroup_spec_of(without)->queue, "default");
    check_str("unknown", podgroup_spec_of(unknown)->queue, "default");
    check_str("own", podgroup_spec_of(own)->queue, "q");
    fixture_release(&fixture);
}

static void a_written_spec_reads_back(void **state)
{
    struct task_minimum minimums[] = {{"a", 2}, {"b", 1}};
    struct str_pair resources[] = {{"cpu", "3"}};
    struct podgroup_spec spec = {.min_member = 3, .queue = "q", .has_min_resources = true};

    spec.min_task_member.items = minimums;
    spec.min_task_member.count = countof(minimums);
    spec.min_resources = (struct str_map){resources, countof(resources)};

    struct blob *blob = podgroup_spec_blob(&spec);
    struct blob *again = podgroup_spec_blob(&spec);

    assert_ptr_equal(blob, again);
    assert_ptr_equal(blob->admitted_as, &kind_pod_group);
    check_str("text", blob->text,
              "{\"spec\":{\"minMember\":3,\"minTaskMember\":{\"a\":2,\"b\":1},\"queue\":\"q\","
              "\"minResources\":{\"cpu\":\"3\"}}}");
    blob_unref(again);

    struct meta draft = {.namespace = "ns", .name = "g", .deletion_grace_s = -1};
    scoped(object) struct object *left = object_new(&kind_pod_group, meta_new(&draft), blob, NULL);
    scoped(object) struct object *read =
        object_new(&kind_pod_group, meta_new(&draft), blob_new(blob->text, blob->len), NULL);

    for (int i = 0; i < 2; i++) {
        const struct podgroup_spec *got = podgroup_spec_of(i ? left : read);

        check_int("members", got->min_member, 3);
        check_str("queue", got->queue, "q");
        check_int("tasks", got->min_task_member.count, 2);
        check_str("task", got->min_task_member.items[1].key, "b");
        check_int("task", got->min_task_member.items[0].value, 2);
        check_int("resources", got->has_min_resources, 1);
        check_str("cpu", got->min_resources.items[0].value, "3");
    }
}

static void a_written_status_reads_back(void **state)
{
    struct podgroup_condition condition = {"Unschedulable", "True", "NotEnoughResources", "3/4",
                                           1000000000000};
    struct podgroup_status status = {.phase = PODGROUP_INQUEUE, .running = 2};

    status.conditions.items = &condition;
    status.conditions.count = 1;

    struct meta draft = {.namespace = "ns", .name = "g", .deletion_grace_s = -1};
    struct blob *blob = podgroup_status_blob(&status);
    scoped(object) struct object *left =
        object_new(&kind_pod_group, meta_new(&draft), blob_intern("{}", 2), blob);
    scoped(object) struct object *read = object_new(
        &kind_pod_group, meta_new(&draft), blob_intern("{}", 2), blob_new(blob->text, blob->len));

    check_str("text", blob->text,
              "{\"phase\":\"Inqueue\",\"conditions\":[{\"type\":\"Unschedulable\",\"status\":"
              "\"True\",\"lastTransitionTime\":"
              "\"2001-09-09T01:46:40Z\",\"reason\":\"NotEnoughResources\",\"message\":\"3/"
              "4\"}],\"running\":2}");
    for (int i = 0; i < 2; i++) {
        const struct podgroup_status *got = podgroup_status_of(i ? left : read);

        check_int("phase", got->phase, PODGROUP_INQUEUE);
        check_int("running", got->running, 2);
        check_str("reason", got->conditions.items[0].reason, "NotEnoughResources");
        check_int("time", got->conditions.items[0].at_ms, 1000000000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_are_accepted_and_refused),
        cmocka_unit_test(a_queue_gets_defaults),
        cmocka_unit_test(legacy_hierarchy_annotations_begin_at_root),
        cmocka_unit_test(all_findings_are_reported_at_once),
        cmocka_unit_test(a_queue_is_never_above_itself),
        cmocka_unit_test(every_sibling_counts),
        cmocka_unit_test(updates_keep_the_sums_of_the_tree),
        cmocka_unit_test(some_queues_cannot_be_deleted),
        cmocka_unit_test(pod_groups_are_accepted_and_refused),
        cmocka_unit_test(a_namespace_may_name_the_queue),
        cmocka_unit_test(a_written_spec_reads_back),
        cmocka_unit_test(a_written_status_reads_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
