/*
 * Tests api/types/patch/patch and strategic. covers: kube-api.md 98 111; reliability.md L-12 FZ-05;
 * see kube-api.md 10.2 to 10.4
 */
#include "tests/unit.h"

#include "api/types/patch/patch.h"

static char *json_text_of(const char *quoted)
{
    char *text = mem_strdup(quoted);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

static json_t *json_of(const char *quoted)
{
    scoped_str text = json_text_of(quoted);
    json_t *doc = json_loads(text, JSON_DECODE_ANY, NULL);

    check(quoted, doc != NULL);
    return doc;
}

static const struct field port_fields[] = {
    {"port", FIELD_I32, FIELD_PASS}, {"name", FIELD_STR, FIELD_PASS}, {0}};
static const struct schema port_schema = {"Port", port_fields};
static const struct field container_fields[] = {
    {"name", FIELD_STR, FIELD_PASS},
    {"image", FIELD_STR, FIELD_PASS},
    {"command", FIELD_STR_LIST, FIELD_PASS},
    {"ports", FIELD_LIST, FIELD_PASS, &port_schema, .merge_key = "port"},
    {0}};
static const struct schema container_schema = {"Container", container_fields};
static const struct field spec_fields[] = {
    {"containers", FIELD_LIST, FIELD_PASS, &container_schema, .merge_key = "name"},
    {"tolerations", FIELD_LIST, FIELD_PASS, &port_schema},
    {"cidrs", FIELD_STR_LIST, FIELD_PASS, .merge_key = ""},
    {"strategy.steps", FIELD_LIST, FIELD_PASS, &port_schema, .merge_key = "name"},
    {0}};
static const struct schema spec_schema = {"Spec", spec_fields};
static const struct field pod_fields[] = {{"spec", FIELD_OBJECT, FIELD_PASS, &spec_schema}, {0}};
static const struct schema pod_schema = {"Pod", pod_fields};

static json_t *strategic(const json_t *doc, const json_t *patch, struct error *err)
{
    return patch_strategic(&pod_schema, doc, patch, err);
}

struct patch_case {
    const char *doc, *patch;
    const char *result; /* expected result; NULL: an error with `code` and a message that contains
                         * `message` */
    enum error_code code;
    const char *message;
};

static void check_cases(json_t *(*apply)(const json_t *, const json_t *, struct error *),
                        const struct patch_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct patch_case *c = &cases[i];
        scoped(json) json_t *doc = json_of(c->doc), *before = json_of(c->doc);
        scoped(json) json_t *patch = json_of(c->patch), *patch_before = json_of(c->patch);
        struct error err = {0};
        scoped(json) json_t *result = apply(doc, patch, &err);

        if (c->result) {
            scoped(json) json_t *want = json_of(c->result);
            scoped(buf) struct buf got_text = {0}, want_text = {0};

            check_ok(c->patch, result, err);
            json_text(result, &got_text);
            json_text(want, &want_text);
            check_str(c->patch, got_text.data, want_text.data);
        } else {
            check_error(c->patch, result, err, c->code);
            check_has(c->patch, err.message, c->message);
        }
        check(c->patch, json_equal(doc, before) && json_equal(patch, patch_before));
    }
}

static const struct patch_case json_cases[] = {
    {"{'a':1}", "[]", "{'a':1}"},
    {"{'a':1}", "[{'op':'add','path':'/b','value':[1]}]", "{'a':1,'b':[1]}"},
    {"{'a':1}", "[{'op':'add','path':'/a','value':null}]", "{'a':null}"},
    {"{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2},{'op':'add','path':'/a/-','value':4}]",
     "{'a':[1,2,3,4]}"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2]}"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/2','value':2}]", NULL, ERR_INVALID,
     "operation 0 (add /a/2): the list has no such index"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/01','value':2}]", NULL, ERR_INVALID, "no such index"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/b','value':2}]", NULL, ERR_INVALID, "no such index"},
    {"{'a':1}", "[{'op':'add','path':'/b/c','value':2}]", NULL, ERR_INVALID, "nothing to add to"},
    {"{'a':1}", "[{'op':'add','path':'','value':[2]}]", "[2]"},
    {"{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}"},
    {"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}"},
    {"{'a':1}", "[{'op':'remove','path':'/b'}]", NULL, ERR_INVALID, "there is no such member"},
    {"{'a':[1]}", "[{'op':'remove','path':'/a/-'}]", NULL, ERR_INVALID, "there is no such member"},
    {"{'a':1}", "[{'op':'replace','path':'/a','value':{}}]", "{'a':{}}"},
    {"{'a':1}", "[{'op':'replace','path':'/b','value':1}]", NULL, ERR_INVALID,
     "operation 0 (replace /b)"},
    {"{'a':{'x':1},'b':{}}", "[{'op':'move','from':'/a/x','path':'/b/y'}]", "{'a':{},'b':{'y':1}}"},
    {"{'a':[1,2,3]}", "[{'op':'move','from':'/a/0','path':'/a/2'}]", "{'a':[2,3,1]}"},
    {"{'a':{}}", "[{'op':'move','from':'/a','path':'/a/b'}]", NULL, ERR_INVALID,
     "cannot be moved into itself"},
    {"{'a':{'x':1}}",
     "[{'op':'copy','from':'/a','path':'/b'},{'op':'add','path':'/a/y','value':2}]",
     "{'a':{'x':1,'y':2},'b':{'x':1}}"},
    {"{'a':1}", "[{'op':'copy','from':'/x','path':'/b'}]", NULL, ERR_INVALID,
     "no member at \"from\""},
    {"{'a':{'b':[1]}}", "[{'op':'test','path':'/a','value':{'b':[1]}}]", "{'a':{'b':[1]}}"},
    {"{'a':1}", "[{'op':'add','path':'/b','value':1},{'op':'test','path':'/a','value':2}]", NULL,
     ERR_INVALID, "operation 1 (test /a): the test failed"},
    {"{'a/b':1,'m~n':2}",
     "[{'op':'remove','path':'/a~1b'},{'op':'replace','path':'/m~0n','value':3}]", "{'m~n':3}"},
    {"{'':1}", "[{'op':'replace','path':'/','value':2}]", "{'':2}"},
    {"{}", "[{'op':'frob','path':'/a'}]", NULL, ERR_INVALID, "op is one of"},
    {"{}", "[{'op':'add','path':'a','value':1}]", NULL, ERR_BAD_REQUEST, "begins with '/'"},
    {"{}", "[{'op':'add','path':'/~2','value':1}]", NULL, ERR_BAD_REQUEST, "'~' in a path"},
    {"{}", "[{'op':'add','path':'/a'}]", NULL, ERR_INVALID, "a value is required"},
    {"{}", "[{'op':'add','value':1}]", NULL, ERR_INVALID, "a path is required"},
    {"{}", "[{'op':'move','path':'/a'}]", NULL, ERR_INVALID, "\"from\" is required"},
    {"{}", "[5]", NULL, ERR_BAD_REQUEST, "an operation is an object"},
    {"{}", "{'a':1}", NULL, ERR_BAD_REQUEST,
     "cannot unmarshal object into Go value of type jsonpatch.Patch"},
};

static void json_patches_follow_rfc_6902(void **state)
{
    check_cases(patch_json, json_cases, countof(json_cases));
}

/* The examples of RFC 7386, appendix A, without the patches that are not objects. */
static const struct patch_case merge_cases[] = {
    {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
    {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
    {"{'a':'b'}", "{'a':null}", "{}"},
    {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
    {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
    {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
    {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
    {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
    {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
    {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
    {"{'a':1}", "['c']", NULL, ERR_BAD_REQUEST, "error decoding patch"},
    {"{'a':1}", "null", NULL, ERR_BAD_REQUEST, "error decoding patch"},
};

static void merge_patches_follow_rfc_7386(void **state)
{
    check_cases(patch_merge, merge_cases, countof(merge_cases));
}

#define TWO                                                                                        \
    "{'spec':{'containers':[{'name':'a','image':'x','command':['p']},{'name':'b','image':'y'}]}}"

static const struct patch_case strategic_cases[] = {
    {TWO, "{'spec':{'containers':[{'name':'b','image':'z'}]}}",
     "{'spec':{'containers':[{'name':'a','image':'x','command':['p']},{'name':'b','image':'z'}]}}"},
    {TWO, "{'spec':{'containers':[{'name':'c','image':'z','command':null}]}}",
     "{'spec':{'containers':[{'name':'c','image':'z'},{'name':'a','image':'x','command':['p']},{'"
     "name':'b','image':'y'}]}}"},
    {TWO, "{'spec':{'containers':[{'name':'b','image':'z'},{'name':'c','image':'z'}]}}",
     "{'spec':{'containers':[{'name':'a','image':'x','command':['p']},{'name':'b','image':'z'},{'"
     "name':'c','image':'z'}]}}"},
    {TWO, "{'spec':{'containers':[{'name':'a','$patch':'delete'}]}}",
     "{'spec':{'containers':[{'name':'b','image':'y'}]}}"},
    {TWO, "{'spec':{'containers':[{'name':'none','$patch':'delete'}]}}", TWO},
    {TWO, "{'spec':{'containers':[{'$patch':'replace'},{'name':'c'}]}}",
     "{'spec':{'containers':[{'name':'c'}]}}"},
    {TWO, "{'spec':{'containers':[{'name':'a','$patch':'replace','image':'q'}]}}",
     "{'spec':{'containers':[]}}"},
    {TWO, "{'spec':{'containers':[{'name':'a','command':['q','r']}]}}",
     "{'spec':{'containers':[{'name':'a','image':'x','command':['q','r']},{'name':'b','image':'y'}]"
     "}}"},
    {TWO, "{'spec':{'containers':[{'name':'a','command':null}]}}",
     "{'spec':{'containers':[{'name':'a','image':'x'},{'name':'b','image':'y'}]}}"},
    {TWO, "{'spec':{'containers':[{'image':'q'}]}}", NULL, ERR_INVALID,
     "spec: containers: a list entry of the patch does not contain the merge key \"name\""},
    {TWO, "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}}",
     "{'spec':{'containers':[{'name':'b','image':'y'},{'name':'a','image':'x','command':['p']}]}}"},
    {TWO,
     "{'spec':{'$setElementOrder/"
     "containers':[{'name':'n'},{'name':'b'},{'name':'a'}],'containers':[{'name':'n'}]}}",
     "{'spec':{'containers':[{'name':'n'},{'name':'b','image':'y'},{'name':'a','image':'x','"
     "command':['p']}]}}"},
    {"{'spec':{'containers':[{'name':'u'},{'name':'a'},{'name':'v'},{'name':'b'}]}}",
     "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}}",
     "{'spec':{'containers':[{'name':'u'},{'name':'b'},{'name':'a'},{'name':'v'}]}}"},
    {"{'spec':{'tolerations':[{'port':1}]}}", "{'spec':{'tolerations':[{'port':2}]}}",
     "{'spec':{'tolerations':[{'port':2}]}}"},
    {"{'spec':{'cidrs':['a','b']}}", "{'spec':{'cidrs':['b','c']}}",
     "{'spec':{'cidrs':['a','b','c']}}"},
    {"{'spec':{'cidrs':['a','b','a']}}", "{'spec':{'$deleteFromPrimitiveList/cidrs':['a','x']}}",
     "{'spec':{'cidrs':['b']}}"},
    {"{'spec':{'cidrs':['a','b','c']}}", "{'spec':{'$setElementOrder/cidrs':['c','a']}}",
     "{'spec':{'cidrs':['c','a','b']}}"},
    {"{'spec':{'strategy':{'steps':[{'name':'s','port':1}]}}}",
     "{'spec':{'strategy':{'steps':[{'name':'s','port':2}]}}}",
     "{'spec':{'strategy':{'steps':[{'name':'s','port':2}]}}}"},
    {"{'spec':{'containers':[{'name':'a','ports':[{'port':1,'name':'p'},{'port':2}]}]}}",
     "{'spec':{'containers':[{'name':'a','ports':[{'port':2,'name':'q'}]}]}}",
     "{'spec':{'containers':[{'name':'a','ports':[{'port':1,'name':'p'},{'port':2,'name':'q'}]}]}"
     "}"},
    {"{'spec':{'x':{'k':1,'l':2}}}", "{'spec':{'x':{'$patch':'replace','m':3}}}",
     "{'spec':{'x':{'m':3}}}"},
    {"{'spec':{'x':{'k':1,'l':2}}}", "{'spec':{'x':{'$patch':'delete'}}}", "{'spec':{'x':{}}}"},
    {"{'spec':{'x':{'k':1,'l':2}}}", "{'spec':{'x':{'$patch':'merge','m':3}}}",
     "{'spec':{'x':{'k':1,'l':2,'m':3}}}"},
    {"{'spec':{'x':{'k':1,'l':2}}}", "{'spec':{'x':{'$patch':'turn'}}}", NULL, ERR_INVALID,
     "$patch is one of replace, delete, merge, not \"turn\""},
    {"{'spec':{'x':{'k':1,'l':2}}}", "{'spec':{'x':{'$retainKeys':['l','m'],'m':3}}}",
     "{'spec':{'x':{'l':2,'m':3}}}"},
    {"{'metadata':{'finalizers':['a'],'ownerReferences':[{'uid':'1','name':'x'}]}}",
     "{'metadata':{'finalizers':['b'],'ownerReferences':[{'uid':'1','name':'y'},{'uid':'2'}]}}",
     "{'metadata':{'finalizers':['b','a'],'ownerReferences':[{'uid':'1','name':'y'},{'uid':'2'}]}"
     "}"},
    {"{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':{'b':'2','a':null}}}",
     "{'metadata':{'labels':{'b':'2'}}}"},
    {"{'data':{'a':[1]}}", "{'data':{'a':[2]}}", "{'data':{'a':[2]}}"},
    {"{}", "[]", NULL, ERR_BAD_REQUEST, "error decoding patch"},
    {"[]", "{}", NULL, ERR_INVALID, "only an object can be patched"},
};

static void strategic_patches_merge_by_the_schema(void **state)
{
    check_cases(strategic, strategic_cases, countof(strategic_cases));
}

static void operations_are_bounded(void **state)
{
    for (size_t count = 10000; count <= 100000; count = count == 10000 ? 10001 : count * 10 - 10) {
        scoped(json) json_t *doc = json_object(), *patch = json_array();
        struct error err = {0};

        for (size_t i = 0; i < count; i++)
            json_array_append_new(
                patch, json_pack("{s:s,s:s,s:i}", "op", "add", "path", "/a", "value", 1));

        scoped(json) json_t *result = patch_json(doc, patch, &err);

        if (count == 10000)
            check_ok("10000", result, err);
        else
            check_error("more", result, err, ERR_TOO_LARGE);
    }
}

static void copies_are_bounded(void **state)
{
    scoped(json) json_t *doc = json_of("{'a':[1,2,3,4,5,6,7,8,9,10]}");
    scoped(json) json_t *patch = json_array();
    struct error err = {0};

    for (int i = 0; i < 30; i++) /* each copy doubles the size of the document */
        json_array_append_new(
            patch, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/a", "path", "/a/-"));
    check_error("doubling", patch_json(doc, patch, &err), err, ERR_TOO_LARGE);
    check_has("doubling", err.message, "exceed 3 MiB");
}

static void results_are_not_nested_deeper_than_documents(void **state)
{
    scoped(json) json_t *doc = json_of("{'a':{}}");
    scoped(json) json_t *patch = json_array();
    struct error err = {0};

    for (int i = 0; i < 200; i++) {
        json_array_append_new(patch,
                              json_pack("{s:s,s:s,s:s}", "op", "move", "from", "/a", "path", "/b"));
        json_array_append_new(patch,
                              json_pack("{s:s,s:s,s:{}}", "op", "add", "path", "/a", "value"));
        json_array_append_new(
            patch, json_pack("{s:s,s:s,s:s}", "op", "move", "from", "/b", "path", "/a/b"));
    }
    check_error("depth", patch_json(doc, patch, &err), err, ERR_INVALID);
    check_has("depth", err.message, "nested too deeply");
}

static void long_lists_do_not_take_quadratic_time(void **state)
{
    scoped(json) json_t *doc = json_of("{'spec':{'cidrs':['x']}}");
    scoped(json) json_t *patch = json_of("{'spec':{'cidrs':[]}}");
    json_t *list = json_object_get(json_object_get(patch, "spec"), "cidrs");
    struct error err = {0};

    for (int i = 0; i < 100000; i++) {
        scoped_str text = mem_printf("%d", i);

        json_array_append_new(list, json_string(text));
    }
    check_error("long", strategic(doc, patch, &err), err, ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_patches_follow_rfc_6902),
        cmocka_unit_test(merge_patches_follow_rfc_7386),
        cmocka_unit_test(strategic_patches_merge_by_the_schema),
        cmocka_unit_test(operations_are_bounded),
        cmocka_unit_test(copies_are_bounded),
        cmocka_unit_test(results_are_not_nested_deeper_than_documents),
        cmocka_unit_test(long_lists_do_not_take_quadratic_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
