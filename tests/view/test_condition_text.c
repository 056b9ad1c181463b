/*
 * Tests the texts of conditions with the values that they compare.
 */
#include "tests/unit.h"

#include "api/types/text/yaml.h"
#include "base/buf.h"
#include "view/condition_text.h"

#define STATUS                                                                                     \
    "status: {state: {phase: Running}, nodes: ["                                                   \
    "{name: train, phase: Completed, jobs: [f-train], outputs: {accuracy: '0.9633', name: "        \
    "small}, "                                                                                     \
    "attempts: [{attempt: 1, exitCodes: {main: [9]}}, {attempt: 2, exitCodes: {main: [0], w: "     \
    "[3]}}]}, {name: load, phase: Failed, attempts: [{attempt: 1, exitCodes: {main: [2]}}]}, "     \
    "{name: l, phase: Running}, {name: l-0, step: l, iteration: 0, phase: Completed, outputs: "    \
    "{loss: '9'}, attempts: [{attempt: 1}]}, {name: l-1, step: l, iteration: 1, phase: "           \
    "Completed, outputs: {loss: '5'}, attempts: [{attempt: 1}]}, {name: gone, phase: Skipped}], "  \
    "conditions: {f-train: {taskStatusCount: {w: {phase: {Succeeded: 2, Failed: 1}}}}}}"

static const char flow[] =
    "{kind: JobFlow, metadata: {name: f}, spec: {parameters: [{name: env, value: prod}, {name: "
    "least, default: '0.99'}], flows: [{name: train}, {name: load}, {name: gone}, {name: l, for: "
    "{until: {}, maxIterations: 9}}, {name: later}]}, " STATUS "}";

/* clang-format off */
static const struct {
    const char *terms, *text;
    bool false_only;
} cases[] = {
    {"{target: train, output: {key: accuracy, operator: Gt, values: ['0.999']}}", "accuracy 0.9633 > 0.999 is false"},
    {"{target: train, output: {key: accuracy, operator: Lt, values: ['0.999']}}", "accuracy 0.9633 < 0.999 is true"},
    {"{target: train, not: true, output: {key: accuracy, operator: Gt, values: ['0.9']}}", "not (accuracy 0.9633 > 0.9) is false"},
    {"{target: train, output: {key: accuracy, operator: Gt, values: [$(params.least)]}}", "accuracy 0.9633 > 0.99 is false"},
    {"{target: train, output: {key: name, values: [small]}}", "name small = small is true"},
    {"{target: train, output: {key: name, operator: NotIn, values: [small]}}", "name small != small is false"},
    {"{target: train, output: {key: name, operator: In, values: [large, huge]}}", "name small in (large, huge) is false"},
    {"{target: train, output: {key: name, operator: NotIn, values: [large, huge]}}", "name small not in (large, huge) is true"},
    {"{target: train, output: {key: name, operator: Exists}}", "name exists is true"},
    {"{target: train, output: {key: name, operator: DoesNotExist}}", "name does not exist is false"},
    {"{target: train, output: {key: none, operator: Exists}}", "none exists is false"},
    {"{target: train, output: {key: none, operator: Gt, values: ['1']}}", "none (none) > 1 is false"},
    {"{target: l, output: {key: loss, operator: Lt, values: ['3']}}", "loss 5 < 3 is false"},
    {"{target: load, phases: [Failed]}", "phase of load Failed = Failed is true"},
    {"{target: train, phases: [Failed, Terminated]}", "phase of train Completed in (Failed, Terminated) is false"},
    {"{target: gone, phases: [Skipped]}", "phase of gone Skipped = Skipped is true"},
    {"{target: later, phases: [Failed]}", "phase of later (none) = Failed is false"},
    {"{target: load, exitCode: {values: [2]}}", "exit code of load 2 = 2 is true"},
    {"{target: train, exitCode: {operator: In, values: [9]}}", "exit code of train 0 = 9 is false"},
    {"{target: train, exitCode: {taskName: w, operator: Gt, values: [3]}}", "exit code of train/w 3 > 3 is false"},
    {"{target: train, taskStatus: {taskName: w, phase: Completed, minCount: 3}}", "Completed pods of train/w 2 >= 3 is false"},
    {"{target: train, taskStatus: {taskName: w, phase: Failed}}", "Failed pods of train/w 1 >= 1 is true"},
    {"{parameter: {name: env, values: [dev]}}", "parameter env prod = dev is false"},
    {"{target: load, phases: [Failed]}, {target: load, exitCode: {values: [3]}}", "exit code of load 2 = 3 is false", true},
    {"{target: load, phases: [Failed]}, {target: load, exitCode: {values: [3]}}",
     "phase of load Failed = Failed is true; exit code of load 2 = 3 is false"},
    {"{target: load, phases: [Failed]}", "phase of load Failed = Failed is true", true},
};
/* clang-format on */

static void terms_show_their_values(void **state)
{
    struct yaml_stream *stream = yaml_parse(flow, strlen(flow), &yaml_limits_default, NULL);
    scoped(flow_view) struct flow_view *view =
        flow_view_from_document(yaml_document(stream, 0), NULL);

    assert_non_null(view);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = mem_printf("{terms: [%s]}", cases[i].terms);
        struct yaml_stream *condition = yaml_parse(text, strlen(text), &yaml_limits_default, NULL);
        scoped(buf) struct buf out = {0};

        assert_non_null(condition);
        condition_write(view, yaml_document(condition, 0), cases[i].false_only, &out);
        check_str(cases[i].terms, out.data, cases[i].text);
        yaml_stream_free(condition);
    }
    yaml_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_show_their_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
