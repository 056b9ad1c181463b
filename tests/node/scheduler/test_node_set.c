/*
 * Tests which pods a node accepts (labels, affinity, taints, named resources), and the parser of
 * --node-resources.
 */
#include "tests/unit.h"

#include "node/node_resources.h"
#include "tests/support/node_fixture.h"

static struct node_fixture *set_up(void)
{
    static const struct kv labels[] = {
        {"kubernetes.io/hostname", "here"}, {"disk", "ssd"}, {"rank", "5"}};
    const struct scheduler_node here = {"here", {4000, 8LL << 30, 4, {2}}, labels, countof(labels)};
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_scheduler_on(
        fixture, &(struct scheduler_options){&here, 1, {.names = {"example.com/gpu"}, .count = 1}});
    return fixture;
}

#define AFFINITY(key, operator, values)                                                            \
    ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"              \
    "'nodeSelectorTerms':[{'matchExpressions':[{'key':'" key "','operator':'"                      \
    operator"'" values "}]}]}}}"
#define REQUEST(name, amount)                                                                      \
    ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'limits':{'" name      \
    "':'" amount "'}}}]"

static void pod_that_fits_no_node_gives_the_reason(void **state)
{
    static const struct {
        const char *name, *spec, *why; /* `why`: part of the reason of a refusal; NULL: the pod is
                                        * accepted */
    } cases[] = {
        {"selector", ",'nodeSelector':{'disk':'ssd'}", NULL},
        {"other selector", ",'nodeSelector':{'disk':'hdd'}",
         "nodeSelector asks for disk=hdd, node here has ssd"},
        {"in", AFFINITY("disk", "In", ",'values':['hdd','ssd']"), NULL},
        {"not in", AFFINITY("disk", "NotIn", ",'values':['ssd']"),
         "nodeAffinity asks for disk NotIn [\\\"ssd\\\"], node here has ssd"},
        {"exists", AFFINITY("zone", "Exists", ""),
         "nodeAffinity asks for zone Exists , node here has no such label"},
        {"does not exist", AFFINITY("zone", "DoesNotExist", ""), NULL},
        {"greater", AFFINITY("rank", "Gt", ",'values':['4']"), NULL},
        {"less", AFFINITY("rank", "Lt", ",'values':['5']"), "nodeAffinity asks for rank Lt"},
        {"by name",
         ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
         "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':["
         "'here']}]}]}}}",
         NULL},
        {"gpu", REQUEST("example.com/gpu", "2"), NULL},
        {"too many", REQUEST("example.com/gpu", "3"),
         "can never fit this machine: needs 3 example.com/gpu, the node has 2"},
        {"unknown", REQUEST("other.com/fpga", "1"),
         "needs 1 other.com/fpga, the node has none: start with --node-resources other.com/fpga=1"},
        {"storage is not counted", REQUEST("ephemeral-storage", "1Gi"), NULL},
        {"too large", REQUEST("cpu", "5"),
         "can never fit this machine: needs 5 cpu, the node has 4"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct node_fixture *fixture = set_up();

        node_fixture_group(fixture, "g", 1, NULL);
        node_fixture_settle(fixture);
        node_fixture_pods(fixture, "g", 0, 1, cases[i].spec);
        node_fixture_advance(fixture, 100);
        check_int(cases[i].name, node_fixture_bound(fixture, "g-0"), cases[i].why == NULL);
        if (cases[i].why) {
            check_has(cases[i].name, node_fixture_status(fixture, &kind_pod, "g-0"), cases[i].why);
            check_has(cases[i].name, node_fixture_status(fixture, &kind_pod, "g-0"),
                      "\"Unschedulable\"");
            check_has(cases[i].name, node_fixture_status(fixture, &kind_pod_group, "g"),
                      cases[i].why);
        }
        node_fixture_free(fixture);
    }
}

static void named_resources_are_accounted_for(void **state)
{
    struct node_fixture *fixture = set_up();

    node_fixture_group(fixture, "a", 1, NULL);
    node_fixture_group(fixture, "b", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "a", 0, 1, REQUEST("example.com/gpu", "2"));
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "b", 0, 1, REQUEST("example.com/gpu", "1"));
    node_fixture_advance(fixture, 1500);
    check("the first has both",
          node_fixture_bound(fixture, "a-0") && !node_fixture_bound(fixture, "b-0"));
    check_has("the other waits", node_fixture_status(fixture, &kind_pod_group, "b"),
              "needs 1 example.com/gpu (0 of 2 free)");
    node_fixture_set_status(fixture, &kind_pod, "a-0", "{'phase':'Succeeded'}");
    node_fixture_settle(fixture);
    check("and gets it", node_fixture_bound(fixture, "b-0"));
    node_fixture_free(fixture);
}

static void node(struct node_fixture *fixture, const char *spec)
{
    if (!node_fixture_get(fixture, &kind_node, "here"))
        node_fixture_create(
            fixture, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'here'},'spec':{}}");
    node_fixture_patch(fixture, &kind_node, "here", "{'spec':%s}", spec);
    node_fixture_settle(fixture);
}

static void cordoned_or_tainted_node_accepts_only_tolerating_pods(void **state)
{
    static const struct {
        const char *name, *node, *why, *toleration, *free;
    } cases[] = {
        {"cordoned", "{'unschedulable':true}", "node here is cordoned and takes no new pods",
         ",'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]",
         "{'unschedulable':null}"},
        {"tainted", "{'taints':[{'key':'team','value':'ml','effect':'NoSchedule'}]}",
         "node here has taint team=ml:NoSchedule: add a toleration or remove the taint",
         ",'tolerations':[{'key':'team','value':'ml','effect':'NoSchedule'}]", "{'taints':null}"},
        {"all", "{'taints':[{'key':'team','effect':'NoExecute'}]}",
         "node here has taint team:NoExecute", ",'tolerations':[{'operator':'Exists'}]",
         "{'taints':[{'key':'team','effect':'PreferNoSchedule'}]}"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct node_fixture *fixture = set_up();

        node(fixture, cases[i].node);
        node_fixture_group(fixture, "g", 1, NULL);
        node_fixture_settle(fixture);
        node_fixture_pods(fixture, "g", 0, 1, NULL);
        node_fixture_group(fixture, "t", 1, NULL);
        node_fixture_settle(fixture);
        node_fixture_pods(fixture, "t", 0, 1, cases[i].toleration);
        node_fixture_settle(fixture);
        check_has(cases[i].name, node_fixture_status(fixture, &kind_pod, "g-0"), cases[i].why);
        check("it is not taken", !node_fixture_bound(fixture, "g-0"));
        check("a tolerating pod is bound", node_fixture_bound(fixture, "t-0"));
        node(fixture, cases[i].free);
        check("until that is over", node_fixture_bound(fixture, "g-0"));
        node_fixture_free(fixture);
    }
}

static void node_resources_are_parsed_or_rejected(void **state)
{
    static const struct {
        const char *text, *wrong; /* `wrong`: part of the refusal; NULL: the text is valid */
    } cases[] = {
        {"", NULL},
        {"cpu=4,memory=8Gi,nvidia.com/gpu=2", NULL},
        {"cpu", "must be NAME=QUANTITY"},
        {"=4", "must be NAME=QUANTITY"},
        {"cpu=much", "must be a quantity"},
        {"cpu=-1", "must be a quantity"},
        {"memory=0", "no pod could run"},
        {"pods=3", "--max-pods"},
        {"a=1,a=2", "is there twice"},
        {"a b=1", "is not the name of a resource"},
        {"a=1,b=1,c=1,d=1", "three named resources"},
        {"cpu=1,,memory=1Gi", "must be NAME=QUANTITY"},
    };
    struct machine_resources got;
    struct error err;

    for (size_t i = 0; i < countof(cases); i++) {
        err = (struct error){0};
        check_int(cases[i].text, machine_resources_parse(cases[i].text, &got, &err),
                  cases[i].wrong == NULL);
        if (cases[i].wrong)
            check_has(cases[i].text, err.message, cases[i].wrong);
    }
    assert_true(machine_resources_parse(cases[1].text, &got, &err));
    check_int("cpu", got.cpu_milli, 4000);
    check_int("memory", got.memory_bytes, 8LL << 30);
    check_str("gpu", got.extras.names[0], "nvidia.com/gpu");
    check_int("gpus", got.extra[0], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pod_that_fits_no_node_gives_the_reason),
        cmocka_unit_test(named_resources_are_accounted_for),
        cmocka_unit_test(cordoned_or_tainted_node_accepts_only_tolerating_pods),
        cmocka_unit_test(node_resources_are_parsed_or_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
