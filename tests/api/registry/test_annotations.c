/*
 * Tests that annotations with a meaning are checked when they are written, also by a write that
 * changes nothing else, and that an object with an old invalid annotation can still be changed.
 * covers: jobflow.md 171 173; everyday.md EVD-237 EVD-238; see an annotation is written alone
 */
#include "tests/unit.h"

#include <string.h>

#include "base/mem.h"
#include "tests/support/registry_fixture.h"

#define POLICY "flow.volcano.sh/failure-policy"
#define LIMIT  "flow.volcano.sh/history-limit"
#define AGE    "flow.volcano.sh/history-max-age"
#define RETRY  "volcano.sh/jobFlowRetry"
#define FROM   "volcano.sh/jobFlowRetryFrom"

#define SPEC "{'flows':[{'name':'a','run':'true'}]}"

/* Returns a flow; owned. `annotations` are members of an object. */
static char *flow_json(const char *name, const char *annotations)
{
    return mem_printf("{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow','metadata':{"
                      "'name':'%s','namespace':'default','annotations':{%s}},'spec':" SPEC "}",
                      name, annotations);
}

/* Returns a trigger whose template has these annotations; owned. */
static char *trigger_json(const char *annotations)
{
    return mem_printf("{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'FlowTrigger','metadata':{"
                      "'name':'t','namespace':'default'},'spec':{'flowTemplate':{'metadata':{"
                      "'annotations':{%s}},'spec':" SPEC "}}}",
                      annotations);
}

static bool annotate(struct registry_fixture *fixture, const char *key, const char *value)
{
    scoped_str patch = mem_printf("{'metadata':{'annotations':{'%s':%s}}}", key, value);

    return registry_fixture_patch(fixture, &kind_job_flow, "f", patch);
}

static void check_finding(const struct registry_fixture *fixture, const char *field,
                          const char *text)
{
    registry_fixture_failed(fixture, ERR_INVALID, text);
    check_str("field", fixture->errors.items[0].field, field);
}

static void an_annotation_written_alone_is_checked(void **state)
{
    /* clang-format off */
    static const struct {
        const char *key, *good, *bad, *text;
    } cases[] = {
        {POLICY, "'abort'", "'go'",   "supported values: \"stop\", \"abort\", \"continue\""},
        {LIMIT,  "'0'",     "'1001'", "\"1001\": must be a number from 0 to 1000"},
        {LIMIT,  "'1000'",  "'-1'",   "\"-1\": must be a number from 0 to 1000"},
        {AGE,    "'720h'",  "'soon'", "\"soon\": must be a duration above 0"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(registry_fixture) struct registry_fixture *fixture =
            registry_fixture_new(NULL, NULL);
        scoped_str flow = flow_json("f", "");
        scoped_str field = mem_printf("metadata.annotations[%s]", cases[i].key);

        registry_fixture_create(fixture, flow);
        check("refused", !annotate(fixture, cases[i].key, cases[i].bad));
        check_finding(fixture, field, cases[i].text);
        check("a good value", annotate(fixture, cases[i].key, cases[i].good));
        check("refused in its place", !annotate(fixture, cases[i].key, cases[i].bad));
        check("removed", annotate(fixture, cases[i].key, "null"));
    }
}

static void a_retry_value_written_alone_has_at_most_253_bytes(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    scoped_str flow = flow_json("f", "");
    char value[300] = "'";

    memset(value + 1, 'x', 254);
    strcpy(value + 255, "'");
    registry_fixture_create(fixture, flow);
    check("254 bytes", !annotate(fixture, RETRY, value));
    check_finding(fixture, "metadata.annotations[" RETRY "]",
                  "Too long: may not be longer than 253 bytes");
    strcpy(value + 254, "'");
    check("253 bytes", annotate(fixture, RETRY, value));
}

/* The second body is equal to one that was admitted before, and its annotation is checked anyway. */
static void a_flow_with_a_known_body_is_checked(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    scoped_str good = flow_json("f", "");
    scoped_str bad = flow_json("g", "'" LIMIT "':'many'");

    registry_fixture_create(fixture, good);
    registry_fixture_refuses(fixture, bad, ERR_INVALID, "\"many\": must be a number");
}

static void all_findings_are_reported_at_once(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_refuses(
        fixture,
        "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow','metadata':{'name':'f',"
        "'namespace':'default','annotations':{'" POLICY "':'go','" LIMIT "':'many'}},"
        "'spec':{'flows':[{'name':'a','run':'true','dependsOn':{'targets':['x']}}]}}",
        ERR_INVALID, "");
    check_int("the target and both annotations", fixture->errors.count, 3);
}

/* The mode upstream accepts what the own mode refuses. A restart then changes the mode. */
static void an_old_invalid_annotation_prevents_no_other_change(void **state)
{
    scoped_str directory = test_path("old");
    const struct registry_options upstream = {.upstream_compat = true,
                                              .flows = {.deletion_protection = true}};
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(directory, &upstream);
    scoped_str flow = flow_json("f", "'" POLICY "':'go','" LIMIT "':'many','" FROM "':'zz'");
    scoped_str trigger = trigger_json("'" LIMIT "':'many'");

    registry_fixture_create(fixture, flow);
    registry_fixture_create(fixture, trigger);
    fixture->options = (struct registry_options){.flows = {.deletion_protection = true}};
    registry_fixture_restart(fixture);
    check("a label", registry_fixture_patch(fixture, &kind_job_flow, "f",
                                            "{'metadata':{'labels':{'a':'b'}}}"));
    check("the spec",
          registry_fixture_patch(fixture, &kind_job_flow, "f", "{'spec':{'suspend':true}}"));
    check("another annotation", annotate(fixture, AGE, "'1h'"));
    check("another invalid value", !annotate(fixture, LIMIT, "'more'"));
    check_finding(fixture, "metadata.annotations[" LIMIT "]", "\"more\"");
    check("a rerun of a step that does not exist", !annotate(fixture, RETRY, "'1'"));
    check("a valid value", annotate(fixture, LIMIT, "'1'"));

    check("the spec of the trigger",
          registry_fixture_patch(fixture, &kind_flow_trigger, "t", "{'spec':{'suspend':true}}"));
    check("the annotation in its template",
          !registry_fixture_patch(fixture, &kind_flow_trigger, "t",
                                  "{'spec':{'flowTemplate':{'metadata':{'annotations':{"
                                  "'" LIMIT "':'more'}}}}}"));
    check_finding(fixture, "spec.flowTemplate.metadata.annotations[" LIMIT "]", "\"more\"");
}

static void the_template_of_a_trigger_is_checked(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    scoped_str bad = trigger_json("'" POLICY "':'go'");
    scoped_str good = trigger_json("'" POLICY "':'abort'");

    registry_fixture_refuses(fixture, bad, ERR_INVALID, "\"go\": supported values");
    check_str("field", fixture->errors.items[0].field,
              "spec.flowTemplate.metadata.annotations[" POLICY "]");
    registry_fixture_create(fixture, good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_annotation_written_alone_is_checked),
        cmocka_unit_test(a_retry_value_written_alone_has_at_most_253_bytes),
        cmocka_unit_test(a_flow_with_a_known_body_is_checked),
        cmocka_unit_test(all_findings_are_reported_at_once),
        cmocka_unit_test(an_old_invalid_annotation_prevents_no_other_change),
        cmocka_unit_test(the_template_of_a_trigger_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
