/*
 * Names in a step's patch: those of the template, and those that the patch adds.
 */
#include "tests/unit.h"

#include "api/types/kinds/jobflow/patch_names.h"
#include "tests/support/objects.h"

/* A job with the tasks main (containers main and side, init container prep) and worker. */
#define TEMPLATE                                                                                   \
    "{'tasks':[{'name':'main','replicas':1,'template':{'spec':{'containers':[{'name':'main'},"     \
    "{'name':'side'}],'initContainers':[{'name':'prep'}]}}},{'name':'worker','replicas':1,"        \
    "'template':{'spec':{'containers':[{'name':'work'}]}}}]}"
#define MAIN(members) "{'tasks':[{'name':'main','template':{'spec':{" members "}}}]}"
#define FIELD         "p.tasks[0].template.spec."

struct name_case {
    const char *name, *patch, *before;
    const char *field, *text; /* the finding; NULL: there is none */
};

/* clang-format off */
/* covers: jobflow.md 80 81 82; see 6.4 */
static const struct name_case cases[] = {
    {"known names", MAIN("'containers':[{'name':'side','args':['x']}],'initContainers':[{'name':'prep','image':'i'}]"), NULL, NULL, NULL},
    {"one that is like another", MAIN("'containers':[{'name':'sied','args':['x']}]"), NULL,
     FIELD "containers[0].name", "has no container \"sied\"; did you mean \"side\"?"},
    {"one that is like another, and whole", MAIN("'containers':[{'name':'sied','image':'i','command':['x']}]"), NULL,
     FIELD "containers[0].name", "did you mean \"side\"?"},
    {"one that is said to be new", MAIN("'containers':[{'name':'sied','$patch':'add'}]"), NULL, NULL, NULL},
    {"a part of another", MAIN("'containers':[{'name':'other','image':'i'}]"), NULL,
     FIELD "containers[0].name", "has no container \"other\", and as a new one it needs image and command"},
    {"another, whole", MAIN("'containers':[{'name':'other','image':'i','command':['x']}]"), NULL, NULL, NULL},
    {"another with arguments alone", MAIN("'containers':[{'name':'other','image':'i','args':['x']}]"), NULL, NULL, NULL},
    {"a new one that is there", MAIN("'containers':[{'name':'side','$patch':'add'}]"), NULL,
     FIELD "containers[0].name", "has a container \"side\" already"},
    {"an init container", MAIN("'initContainers':[{'name':'perp','args':['x']}]"), NULL,
     FIELD "initContainers[0].name", "has no init container \"perp\"; did you mean \"prep\"?"},
    {"a container of the other list", MAIN("'initContainers':[{'name':'side','args':['x']}]"), NULL,
     FIELD "initContainers[0].name", "has no init container \"side\""},
    {"a container of another task", "{'tasks':[{'name':'worker','template':{'spec':{'containers':[{'name':'side','args':['x']}]}}}]}", NULL,
     FIELD "containers[0].name", "task \"worker\" of the template has no container \"side\""},
    {"deleting what is not there", MAIN("'containers':[{'name':'other','$patch':'delete'}]"), NULL, NULL, NULL},
    {"without a name", MAIN("'containers':[{'args':['x']},{'args':['y']}]"), NULL, NULL, NULL},
    {"tasks without names", "{'tasks':[{'template':{'spec':{'containers':[{'name':'sied'}]}}},{}]}", NULL,
     FIELD "containers[0].name", "did you mean \"side\"?"},
    {"pods that are replaced", MAIN("'$patch':'replace','containers':[{'name':'n'}]"), NULL, NULL, NULL},
    {"one of the earlier patch", MAIN("'containers':[{'name':'other','args':['x']}]"),
     MAIN("'containers':[{'name':'other','image':'i','command':['x']}]"), NULL, NULL},
    {"what is added freely", MAIN("'volumes':[{'name':'v'}],'containers':[{'name':'main','env':[{'name':'N','value':'v'}],"
     "'volumeMounts':[{'name':'v','mountPath':'/v'}]}]"), NULL, NULL, NULL},
    {"a task that is like another", "{'tasks':[{'name':'wroker','template':{}}]}", NULL,
     "p.tasks[0].name", "the template has no task \"wroker\"; did you mean \"worker\"?"},
    {"a task with pods", "{'tasks':[{'name':'wroker','replicas':1,'template':{}}]}", NULL, NULL, NULL},
    {"a task that is said to be new", "{'tasks':[{'name':'wroker','$patch':'add'}]}", NULL, NULL, NULL},
    {"a new task that is there", "{'tasks':[{'name':'worker','$patch':'add'}]}", NULL,
     "p.tasks[0].name", "has a task \"worker\" already"},
    {"half a task", "{'tasks':[{'name':'other','replicas':1}]}", NULL,
     "p.tasks[0].name", "has no task \"other\", and as a new one it needs a template"},
    {"a task of the earlier patch", "{'tasks':[{'name':'other','replicas':2}]}", "{'tasks':[{'name':'other','template':{}}]}", NULL, NULL},
    {"no tasks", "{'queue':'q'}", NULL, NULL, NULL},
};
/* clang-format on */

static char *double_quoted(const char *text)
{
    char *quoted = mem_strdup(text);

    for (char *c = quoted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return quoted;
}

static json_t *parse(const char *text)
{
    scoped_str quoted = double_quoted(text);

    return json_loads(quoted, 0, NULL);
}

static void an_unknown_name_is_refused_unless_the_patch_adds_it(void **state)
{
    scoped_str body = double_quoted("{'spec':" TEMPLATE "}");
    scoped(object) struct object *template =
        sample_object(.name = "t", .kind = &kind_job_template, .body = body);

    for (size_t i = 0; i < countof(cases); i++) {
        const struct name_case *c = &cases[i];
        scoped(json) json_t *patch = parse(c->patch);
        scoped(json) json_t *before = c->before ? parse(c->before) : NULL;
        struct error_list errors = {0};

        assert_non_null(patch);
        jobflow_check_patch_names(job_spec_of(template), patch, before, "p", &errors);
        check_int(c->name, (long)errors.count, c->field != NULL);
        if (errors.count) {
            check_str(c->name, errors.items[0].field, c->field);
            check_has(c->name, errors.items[0].message, c->text);
        }
        error_list_release(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_name_is_refused_unless_the_patch_adds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
