#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "api/types/text/jsonpath.h"
#include "cli/client/wait_condition.h"

struct path_case {
    const char *path, *want; /* `want`: the condition as parsed; NULL: refused */
};

#define DOC                                                                                        \
    "{\"status\":{\"state\":{\"phase\":\"Running\"},\"n\":3,\"no\":null,\"list\":[{\"a\":1},"      \
    "{\"a\":2}],\"a.b\":\"dot\"}}"

static const struct path_case paths[] = {
    {"{.status.state.phase}", "Running"},
    {".status.state.phase", "Running"},
    {"{$.status.n}", "3"},
    {"{.status.nothing.here}", ""},
    {"{.status.no}", ""},
    {"{.status.list[0].a}", "1"},
    {"{.status.list[-1].a}", "2"},
    {"{.status.list[9].a}", ""},
    {"{.status.list[*].a}", "1 2"},
    {"{.status.a\\.b}", "dot"},
    {"{.status['a.b']}", "dot"},
    {"{.status.list[0]}", "{\"a\":1}"},
    {"phase: {.status.state.phase}{\"\\n\"}", "phase: Running\n"},
    {"{.status.list[}", NULL},
    {"{.status", NULL},
    {"{..a}", NULL},
    {"{range .items}", NULL},
    {"{.list[?(@.a)]}", NULL},
    {"status", NULL},
};

static void paths_give_what_they_lead_to(void **state)
{
    scoped(json) json_t *doc = json_loads(DOC, 0, NULL);

    for (size_t i = 0; i < countof(paths); i++) {
        scoped(buf) struct buf out = {0};
        struct error err = {0};
        bool ok = jsonpath_print(doc, paths[i].path, &out, &err);

        if (paths[i].want) {
            check_ok(paths[i].path, ok, err);
            check_str(paths[i].path, out.data ? out.data : "", paths[i].want);
        } else {
            check(paths[i].path, !ok);
            check_int(paths[i].path, err.code, ERR_BAD_REQUEST);
        }
    }
}

#define FLOW(phase) "{\"kind\":\"JobFlow\",\"status\":{\"state\":{\"phase\":\"" phase "\"}}}"
#define POD                                                                                        \
    "{\"kind\":\"Pod\",\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","     \
    "\"status\":\"False\"}]}}"

struct condition_case {
    const char *for_, *object; /* `object`: the object that is judged; NULL: it was deleted */
    enum condition_verdict want;
};

/* covers: kube-api.md 129 */
static const struct condition_case conditions[] = {
    {NULL, FLOW("Running"), CONDITION_NOT_YET},
    {NULL, FLOW("Succeed"), CONDITION_MET},
    {NULL, FLOW("Failed"), CONDITION_NEVER},
    {NULL, NULL, CONDITION_NOT_YET},
    {NULL, POD, CONDITION_NOT_YET},
    {"delete", NULL, CONDITION_MET},
    {"delete", POD, CONDITION_NOT_YET},
    {"phase=Running", FLOW("Running"), CONDITION_MET},
    {"phase=Succeed", FLOW("Running"), CONDITION_NOT_YET},
    {"phase=Succeed", FLOW("Failed"), CONDITION_NEVER},
    {"condition=Succeed", FLOW("Succeed"), CONDITION_MET},
    {"condition=Ready", POD, CONDITION_NOT_YET},
    {"condition=ready=false", POD, CONDITION_MET},
    {"condition=Ready", NULL, CONDITION_NOT_YET},
    {"jsonpath={.status.state.phase}=Running", FLOW("Running"), CONDITION_MET},
    {"jsonpath={.status.state.phase}=Running", FLOW("Pending"), CONDITION_NOT_YET},
    {"jsonpath=.status.state.phase=Running", FLOW("Running"), CONDITION_MET},
    {"jsonpath={.status.state.phase}", FLOW("Pending"), CONDITION_MET},
    {"jsonpath={.status.nothing}", FLOW("Pending"), CONDITION_NOT_YET},
};

static void conditions_are_met_or_not_or_never(void **state)
{
    for (size_t i = 0; i < countof(conditions); i++) {
        const struct condition_case *c = &conditions[i];
        const char *name = c->for_ ? c->for_ : "(the end)";
        scoped(json) json_t *object = c->object ? json_loads(c->object, 0, NULL) : NULL;
        struct condition condition;
        struct error err = {0};

        check_ok(name, condition_parse(c->for_, &condition, &err), err);
        check_int(name, condition_evaluate(&condition, object, &err), c->want);
        check_int(name, err.code, ERR_NONE);
        condition_release(&condition);
    }
}

static void what_is_no_condition_is_refused(void **state)
{
    static const char *const texts[] = {"",          "Ready",        "condition=",     "phase=",
                                        "jsonpath=", "jsonpath={.a", "jsonpath={.a}b", "deleted"};

    for (size_t i = 0; i < countof(texts); i++) {
        struct condition condition;
        struct error err = {0};

        check_error(texts[i], condition_parse(texts[i], &condition, &err), err, ERR_BAD_REQUEST);
        check_has(texts[i], err.message, "unrecognized condition");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_give_what_they_lead_to),
        cmocka_unit_test(conditions_are_met_or_not_or_never),
        cmocka_unit_test(what_is_no_condition_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
