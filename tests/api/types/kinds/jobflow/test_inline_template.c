/*
 * Steps that contain their template: what admission accepts and refuses, and which template a
 * script stands for. covers: everyday.md EVD-083 EVD-086 EVD-250
 */
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define FLOW(steps)                                                                                \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f, namespace: ns}\n"    \
    "spec:\n  parameters: [{name: x, default: \"1\"}]\n  flows: [" steps "]\n"
#define POD(members)                                                                               \
    "{name: w, template: {spec: {containers: [{name: c, command: [echo]" members "}]}}}"
#define TEMPLATE(members) "{name: a, jobTemplate: {spec: {" members "}}}"

/* clang-format off */
static const struct verdict_case cases[] = {
    {"a script alone is a step",             FLOW("{name: a, run: echo hi}")},
    {"a script has image and variables",     FLOW("{name: a, run: echo, image: busybox, env: [{name: X, value: \"1\"}]}")},
    {"EVD-086: run and jobTemplateName",     FLOW("{name: a, run: echo, jobTemplateName: t}"), "spec.flows[0]", "write run, jobTemplate or jobTemplateName, and only one"},
    {"EVD-086: run and jobTemplate",         FLOW("{name: a, run: echo, jobTemplate: {spec: {tasks: [" POD("") "]}}}"), "spec.flows[0]", "and only one"},
    {"EVD-086: image without run",           FLOW("{name: a, image: busybox}"), "spec.flows[0].image", "belongs to run; a template says it in its container"},
    {"EVD-086: env without run",             FLOW("{name: a, env: [{name: X, value: \"1\"}]}"), "spec.flows[0].env", "belongs to run"},
    {"EVD-086: run with a switch",           FLOW("{name: a, run: echo, switch: {default: [b]}}, {name: b}"), "spec.flows[0].run", "a step with a switch makes no job"},
    {"EVD-086: jobTemplate with a switch",   FLOW("{name: a, jobTemplate: {spec: {tasks: []}}, switch: {default: [b]}}, {name: b}"), "spec.flows[0].jobTemplate", "makes no job"},
    {"EVD-083: a parameter in a script",     FLOW("{name: a, run: \"train --lr $(params.x)\"}"), "spec.flows[0].run",
                                             "$(params.x) is not pasted into a script: write env: [{name: NAME, value: $(params.x)}], and \"$NAME\" here"},
    {"EVD-083: an item in quotes",           FLOW("{name: a, run: \"echo '$(item)'\", for: {items: [b]}}"), "spec.flows[0].run", "$(item) is not pasted"},
    {"EVD-083: an output in a comment",      FLOW("{name: b, run: echo}, {name: a, run: \"# $(steps.b.outputs.k)\", dependsOn: {targets: [b]}}"), "spec.flows[1].run", "$(steps.b.outputs.k) is not pasted"},
    {"EVD-083: the flow's name in a here-document", FLOW("{name: a, run: \"cat <<E\\n$(flow.name)\\nE\"}"), "spec.flows[0].run", "$(flow.name) is not pasted"},
    {"$(date) is the shell's",               FLOW("{name: a, run: \"echo $(date) $((1+1)) $(flow.txt)\"}")},
    {"a variable may hold a reference",      FLOW("{name: a, run: echo, env: [{name: X, value: $(params.x)}]}")},
    {"a variable's reference is checked",    FLOW("{name: a, run: echo, env: [{name: X, value: $(params.y)}]}"), "spec.flows[0].env", "no parameter of that name"},
    {"EVD-250: every iteration of what is no loop", FLOW("{name: b, run: echo}, {name: a, run: echo, dependsOn: {targets: [b]}, env: [{name: X, value: $(steps.b.*.outputs.k)}]}"), "spec.flows[1].env", "$(steps.b.*.outputs.k): step b has no iterations, because it has no for: write $(steps.b.outputs.k)"},
    {"an output comes from an earlier step", FLOW("{name: b, run: echo}, {name: a, run: echo, env: [{name: X, value: $(steps.b.outputs.k)}]}"), "spec.flows[1].env", "does not wait for it"},
    {"a variable's name is checked",         FLOW("{name: a, run: echo, env: [{name: \"a=b\", value: \"1\"}]}"), "spec.flows[0].env[0].name", "has no '='"},
    {"an empty script",                      FLOW("{name: a, run: \"\"}"), "spec.flows[0].run", "at least 1 chars"},
    {"a template in the step",               FLOW(TEMPLATE("tasks: [" POD("") "]"))},
    {"a template is checked as a job is",    FLOW(TEMPLATE("minAvailable: 9, tasks: [" POD("") "]")), "spec.flows[0].jobTemplate.spec.minAvailable", "greater than total replicas"},
    {"a template needs containers",          FLOW(TEMPLATE("tasks: [{name: w, template: {spec: {}}}]")), "spec.flows[0].jobTemplate.spec.tasks[0].template.spec.containers", "Required value"},
    {"a number may be a reference",          FLOW(TEMPLATE("tasks: [{name: w, replicas: $(params.x), template: {spec: {containers: [{name: c}]}}}]"))},
    {"a reference is checked",               FLOW(TEMPLATE("tasks: [{name: w, replicas: $(params.y), template: {spec: {containers: [{name: c}]}}}]")), "spec.flows[0].jobTemplate", "no parameter of that name"},
    {"no reference in a template's script",  FLOW(TEMPLATE("tasks: [" "{name: w, template: {spec: {containers: [{name: c, command: [sh, -c, \"echo $(params.x)\"]}]}}}" "]")), "spec.flows[0].jobTemplate.spec.tasks[0].template.spec.containers[0].command[2]", "params.x"},
    {"a template without spec",              FLOW("{name: a, jobTemplate: {}}"), "spec.flows[0].jobTemplate.spec", "Required value"},
    {"an unknown member of the template",    FLOW(TEMPLATE("task: []")), "spec.flows[0].jobTemplate.spec.task", "did you mean \"tasks\""},
    {"labels that the flow sets",            FLOW("{name: a, jobTemplate: {metadata: {labels: {volcano.sh/createdByJobFlow: x}}, spec: {tasks: [" POD("") "]}}}"), "spec.flows[0].jobTemplate.metadata.labels[volcano.sh/createdByJobFlow]", "Forbidden"},
    {"words of other engines",               FLOW("{name: a, script: echo}"), "spec.flows[0].script", "write run"},
    {"template of other engines",            FLOW("{name: a, template: t}"), "spec.flows[0].template", "write jobTemplate (here) or jobTemplateName (by name)"},
    {"names of pods stay within 63 characters", FLOW("{name: a23456789012345678901234567890123456789012345678901234567, run: echo}"), "spec.flows[0].name", "a pod of task main would be named"},
};
/* clang-format on */

static void verdicts(void **state)
{
    check_verdicts(cases, countof(cases));
}

/* The expansion that 3.1 gives, and a script that reaches the shell as it is written. */
static void a_script_stands_for_one_container(void **state)
{
    struct flow_step step = {.name = "a", .run = "echo $HOME $(date) $$", .image = "busybox"};
    const struct meta draft = {.namespace = "ns", .name = "f", .uid = ""};
    scoped(object) struct object *flow =
        object_new(&kind_job_flow, meta_new(&draft), blob_new("{}", 2), NULL);
    scoped(object) struct object *template = jobflow_inline_template(flow, &step);

    assert_string_equal(object_name(template), "f-a");
    assert_string_equal(object_namespace(template), "ns");
    assert_string_equal(template->body->text,
                        "{\"spec\":{\"tasks\":[{\"name\":\"main\",\"replicas\":1,\"template\":"
                        "{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
                        "\"command\":[\"/bin/sh\",\"-ec\",\"echo $$HOME $$(date) $$$$\"],"
                        "\"image\":\"busybox\"}]}}}]}}");
}

static void a_template_has_one_replica_and_no_restarts(void **state)
{
    static const char written[] =
        "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"tasks\":[{\"name\":\"x\","
        "\"template\":{\"spec\":{\"containers\":[]}}},{\"name\":\"y\",\"replicas\":3,\"template\":"
        "{\"spec\":{\"restartPolicy\":\"Always\",\"containers\":[]}}}]}}";
    scoped(json) json_t *job_template = json_loads(written, 0, NULL);
    struct flow_step step = {.name = "a", .job_template = job_template};
    const struct meta draft = {.namespace = "ns", .name = "f", .uid = ""};
    scoped(object) struct object *flow =
        object_new(&kind_job_flow, meta_new(&draft), blob_new("{}", 2), NULL);
    scoped(object) struct object *template = jobflow_inline_template(flow, &step);

    assert_string_equal(meta_label(template->meta, "a"), "b");
    assert_string_equal(
        template->body->text,
        "{\"spec\":{\"tasks\":[{\"name\":\"x\",\"template\":{\"spec\":{\"containers\":[],"
        "\"restartPolicy\":\"Never\"}},\"replicas\":1},{\"name\":\"y\",\"replicas\":3,\"template\":"
        "{\"spec\":{\"restartPolicy\":\"Always\",\"containers\":[]}}}]}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(a_script_stands_for_one_container),
        cmocka_unit_test(a_template_has_one_replica_and_no_restarts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
