/*
 * Tests that a spec which is split into a template and a patch is whole again when they are merged.
 */
#include "tests/unit.h"

#include "template/merge.h"
#include "template/split.h"

struct split_case {
    const char *name, *spec;
    const char *fields[3]; /* fields that are marked; NULL = no more */
    const char *template;  /* expected; NULL: nothing can be marked */
    const char *patch;
};

#define POD(members) "{'tasks':[{'name':'a','template':{'spec':{" members "}}}]}"

/* covers: everyday.md EVD-089 */
/* clang-format off */
static const struct split_case cases[] = {
    {"nothing is marked", "{'queue':'q'}", {NULL}, "{'queue':'q'}", "{}"},
    {"a member of the job", "{'queue':'q','maxRetry':'x'}", {"maxRetry"}, "{'queue':'q'}", "{'maxRetry':'x'}"},
    {"a task is found by its name",
     "{'tasks':[{'name':'a','replicas':1},{'name':'b','replicas':'x','maxRetry':1}]}", {"tasks[1].replicas"},
     "{'tasks':[{'name':'a','replicas':1},{'name':'b','maxRetry':1}]}", "{'tasks':[{'name':'b','replicas':'x'}]}"},
    {"tasks without names are found by their place",
     "{'tasks':[{'replicas':1},{'replicas':'x'}]}", {"tasks[1].replicas"},
     "{'tasks':[{'replicas':1},{}]}", "{'tasks':[{},{'replicas':'x'}]}"},
    {"what a patch of replicas would change goes with them",
     "{'minAvailable':2,'tasks':[{'name':'a','replicas':'x','minAvailable':1},{'name':'b','replicas':1,'minAvailable':1}]}",
     {"tasks[0].replicas"}, "{'tasks':[{'name':'a'},{'name':'b','replicas':1,'minAvailable':1}]}",
     "{'minAvailable':2,'tasks':[{'name':'a','replicas':'x','minAvailable':1}]}"},
    {"a list without names goes whole, wherever the finding is",
     "{'policies':[{'event':'e'},{'exitCode':'x'}],'queue':'q'}", {"policies[1].exitCode"},
     "{'queue':'q'}", "{'policies':[{'event':'e'},{'exitCode':'x'}]}"},
    {"a list whose elements are replaced goes whole",
     POD("'containers':[{'name':'c','ports':[{'containerPort':1},{'containerPort':'x'}],'image':'i'}]"),
     {"tasks[0].template.spec.containers[0].ports[1].containerPort"}, POD("'containers':[{'name':'c','image':'i'}]"),
     POD("'containers':[{'name':'c','ports':[{'containerPort':1},{'containerPort':'x'}]}]")},
    {"a key of a map", POD("'nodeSelector':{'example.com/a':'x','b':'y'},'containers':[]"),
     {"tasks[0].template.spec.nodeSelector[example.com/a]"}, POD("'nodeSelector':{'b':'y'},'containers':[]"),
     POD("'nodeSelector':{'example.com/a':'x'}")},
    {"a plugin", "{'plugins':{'svc':['--a'],'env':[]}}", {"plugins[svc]"}, "{'plugins':{'env':[]}}", "{'plugins':{'svc':['--a']}}"},
    {"a map as a whole", "{'plugins':{'svc':[]},'queue':'q'}", {"plugins"}, "{'queue':'q'}", "{'plugins':{'svc':[]}}"},
    {"several", "{'queue':'x','tasks':[{'name':'a','replicas':'y'}],'maxRetry':1}", {"tasks[0].replicas", "queue"},
     "{'tasks':[{'name':'a'}],'maxRetry':1}", "{'queue':'x','tasks':[{'name':'a','replicas':'y'}]}"},
    {"the name of a task stays", "{'tasks':[{'name':'x'}]}", {"tasks[0].name"}, NULL},
    {"the name of a container stays", POD("'containers':[{'name':'x'}]"), {"tasks[0].template.spec.containers[0].name"}, NULL},
    {"the list of tasks stays", "{'tasks':[{'name':'x'}]}", {"tasks"}, NULL},
    {"a member that is not there", "{'queue':'q'}", {"maxRetry"}, NULL},
    {"a task that is not there", "{'tasks':[]}", {"tasks[3].replicas"}, NULL},
    {"a template that is not there", "{'tasks':[{'name':'a'}]}", {"tasks[0].template.spec"}, NULL},
};
/* clang-format on */

static json_t *parse(const char *name, const char *text)
{
    json_error_t err;
    char *quoted = mem_strdup(text);
    json_t *value;

    for (char *c = quoted; *c; c++)
        if (*c == '\'')
            *c = '"';
    value = json_loads(quoted, JSON_DECODE_ANY, &err);
    if (!value)
        check_fail("%s: bad test text: %s in %s", name, err.text, quoted);
    mem_free(quoted);
    return value;
}

static void check_json(const char *name, const json_t *got, const char *wanted)
{
    scoped(json) json_t *want = parse(name, wanted);
    scoped(buf) struct buf text = {0}, want_text = {0};

    json_text(got, &text);
    json_text(want, &want_text);
    check_str(name, text.data, want_text.data);
}

static void parts_are_whole_when_they_are_merged(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct split_case *c = &cases[i];
        scoped(json) json_t *spec = parse(c->name, c->spec);
        scoped(json) json_t *moved = json_object();
        scoped(json) json_t *template = NULL, *patch = NULL, *whole = NULL;
        bool marked = true;

        for (size_t f = 0; f < countof(c->fields) && c->fields[f]; f++)
            marked = template_split_mark(spec, c->fields[f], moved) && marked;
        check_int(c->name, marked, c->template != NULL);
        template = template_split(spec, moved, &patch);
        check_json(c->name, template, c->template ? c->template : c->spec);
        check_json(c->name, patch, c->template ? c->patch : "{}");
        whole = template_merge(template, patch, "", NULL);
        check(c->name, json_equal(whole, spec));
    }
}

static void what_is_marked_cannot_be_marked_again(void **state)
{
    scoped(json) json_t *spec = parse("spec", "{'policies':[{'exitCode':'x'},{'exitCode':'y'}]}");
    scoped(json) json_t *moved = json_object();

    check("the first", template_split_mark(spec, "policies[0].exitCode", moved));
    check("the second is in the same list",
          !template_split_mark(spec, "policies[1].exitCode", moved));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_whole_when_they_are_merged),
        cmocka_unit_test(what_is_marked_cannot_be_marked_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
