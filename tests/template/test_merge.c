/*
 * Tests the merge of patches into templates, given and expected as JSON text; minAvailable; the
 * cache of merged bodies.
 */
#include "tests/unit.h"

#include "template/instantiate.h"
#include "template/merge.h"

#define TASKS(containers)                                                                          \
    "{'tasks':[{'name':'main','replicas':1,'template':{'spec':{'containers':[" containers "]}}}]}"
#define POD(members)  "{'tasks':[{'name':'main','template':{'spec':{" members "}}}]}"
#define META(members) "{'tasks':[{'name':'main','template':{'metadata':{" members "}}}]}"

struct merge_case {
    const char *name, *spec, *patch;
    const char *want;  /* expected spec; NULL: the patch is refused */
    const char *field; /* field that the refusal names */
};

/* covers: jobflow.md 79 80 81 82 83 84 85 88a 88b */
/* clang-format off */
static const struct merge_case cases[] = {
    {"a patch changes the command of one container",
     TASKS("{'name':'a','image':'x','command':['1']},{'name':'b','command':['2']}"),
     "{'tasks':[{'name':'main','template':{'spec':{'containers':[{'name':'b','command':['3','4']}]}}}]}",
     TASKS("{'name':'a','image':'x','command':['1']},{'name':'b','command':['3','4']}"), NULL},
    {"a new container comes last", TASKS("{'name':'a'}"),
     "{'tasks':[{'name':'main','template':{'spec':{'containers':[{'name':'z','image':'i'}]}}}]}",
     TASKS("{'name':'a'},{'name':'z','image':'i'}"), NULL},
    {"a container that is said to be new", TASKS("{'name':'a'}"),
     "{'tasks':[{'name':'main','template':{'spec':{'containers':[{'name':'b','$patch':'add'}]}}}]}",
     TASKS("{'name':'a'},{'name':'b'}"), NULL},
    {"env: replaced, kept, appended",
     TASKS("{'name':'a','env':[{'name':'X','valueFrom':{'k':1}},{'name':'Y','value':'y'}]}"),
     TASKS("{'name':'a','env':[{'name':'Z','value':'z'},{'name':'X','value':'new'}]}"),
     TASKS("{'name':'a','env':[{'name':'X','value':'new'},{'name':'Y','value':'y'},{'name':'Z','value':'z'}]}"),
     NULL},
    {"a volume and a mount are added",
     POD("'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'a','volumeMounts':[{'name':'v','mountPath':'/v'}]}]"),
     POD("'volumes':[{'name':'w','configMap':{'name':'c'}}],'containers':[{'name':'a','volumeMounts':[{'name':'w','mountPath':'/w'}]}]"),
     POD("'volumes':[{'name':'v','emptyDir':{}},{'name':'w','configMap':{'name':'c'}}],'containers':[{'name':'a','volumeMounts':[{'name':'v','mountPath':'/v'},{'name':'w','mountPath':'/w'}]}]"),
     NULL},
    {"a mount that is found by its volume keeps its path",
     POD("'containers':[{'name':'a','volumeMounts':[{'name':'v','mountPath':'/v'}]}]"),
     POD("'containers':[{'name':'a','volumeMounts':[{'name':'v','readOnly':true}]}]"),
     POD("'containers':[{'name':'a','volumeMounts':[{'name':'v','readOnly':true,'mountPath':'/v'}]}]"),
     NULL},
    {"a zero replaces a value",
     "{'maxRetry':5,'queue':'q'}", "{'maxRetry':0}", "{'maxRetry':0,'queue':'q'}",
     NULL},
    {"an absent member changes nothing", "{'maxRetry':5}", "{}", "{'maxRetry':5}", NULL},
    {"null changes nothing",
     "{'maxRetry':5,'plugins':{'svc':[]}}", "{'maxRetry':null,'plugins':null}",
     "{'maxRetry':5,'plugins':{'svc':[]}}", NULL},
    {"empty members that typed clients write change nothing", TASKS("{'name':'a'}"),
     "{'tasks':[{'name':'main','replicas':2,'template':{'metadata':{'creationTimestamp':null},'spec':{'containers':null}}}]}",
     "{'tasks':[{'name':'main','replicas':2,'template':{'spec':{'containers':[{'name':'a'}]},'metadata':{}}}]}",
     NULL},
    {"an unnamed task is the only task", "{'tasks':[{'name':'main','replicas':1}]}",
     "{'tasks':[{'replicas':4}]}", "{'tasks':[{'name':'main','replicas':4}]}", NULL},
    {"unnamed tasks are as many as there are", "{'tasks':[{'name':'a'},{'name':'b'}]}",
     "{'tasks':[{'replicas':1},{'replicas':2}]}",
     "{'tasks':[{'name':'a','replicas':1},{'name':'b','replicas':2}]}", NULL},
    {"an unnamed task of two is refused", "{'tasks':[{'name':'a'},{'name':'b'}]}",
     "{'tasks':[{'replicas':1}]}", NULL, "p.tasks[0].name"},
    {"a second unnamed task of one is refused", "{'tasks':[{'name':'a'}]}",
     "{'tasks':[{'replicas':1},{'replicas':2}]}", NULL, "p.tasks[1].name"},
    {"a single unnamed variable keeps its name",
     TASKS("{'name':'a','env':[{'name':'X','value':'1'}]}"),
     TASKS("{'name':'a','env':[{'value':'2'}]}"),
     TASKS("{'name':'a','env':[{'value':'2','name':'X'}]}"), NULL},
    {"an unnamed container of two is refused with its path", TASKS("{'name':'a'},{'name':'b'}"),
     "{'tasks':[{'name':'main','template':{'spec':{'containers':[{'image':'i'}]}}}]}", NULL,
     "p.tasks[0].template.spec.containers[0].name"},
    {"an element that is no object is refused",
     "{'tasks':[{'name':'a'}]}", "{'tasks':['a']}", NULL, "p.tasks[0]"},
    {"a container is deleted", TASKS("{'name':'a'},{'name':'sidecar'}"),
     TASKS("{'name':'sidecar','$patch':'delete'}"), TASKS("{'name':'a'}"), NULL},
    {"deleting an absent container changes nothing",
     TASKS("{'name':'a'}"), TASKS("{'name':'b','$patch':'delete'}"),
     TASKS("{'name':'a'}"), NULL},
    {"a container is replaced", TASKS("{'name':'a','image':'x','command':['c']}"),
     TASKS("{'name':'a','image':'y','$patch':'replace'}"), TASKS("{'name':'a','image':'y'}"), NULL},
    {"an object is replaced",
     "{'tasks':[{'name':'main','template':{'spec':{'hostname':'h','containers':[]}}}]}",
     "{'tasks':[{'name':'main','template':{'spec':{'$patch':'replace','containers':[{'name':'n'}]}}}]}",
     "{'tasks':[{'name':'main','template':{'spec':{'containers':[{'name':'n'}]}}}]}", NULL},
    {"a member is deleted", POD("'affinity':{'x':1},'hostname':'h'"),
     POD("'affinity':{'$patch':'delete'}"), POD("'hostname':'h'"), NULL},
    {"an unknown directive is refused",
     TASKS("{'name':'a'}"), TASKS("{'name':'a','$patch':'remove'}"), NULL,
     "p.tasks[0].template.spec.containers[0]"},
    {"directives are not in the result", POD("'affinity':{'x':1}"),
     POD("'affinity':{'y':{'$retainKeys':['z'],'z':2}}"), POD("'affinity':{'y':{'z':2}}"), NULL},
    {"plugins are merged by key",
     "{'plugins':{'svc':['a'],'ssh':[]}}", "{'plugins':{'svc':['b'],'env':[]}}",
     "{'plugins':{'svc':['b'],'ssh':[],'env':[]}}", NULL},
    {"an empty list that is merged changes nothing",
     "{'plugins':{'svc':[]},'volumes':[{'mountPath':'/a'}]}",
     "{'plugins':{},'volumes':[]}", "{'plugins':{'svc':[]},'volumes':[{'mountPath':'/a'}]}", NULL},
    {"an empty list that replaces makes the list empty",
     "{'policies':[{'event':'*','action':'RestartJob'}]}",
     "{'policies':[]}", "{'policies':[]}", NULL},
    {"volumes of the job are merged by path",
     "{'volumes':[{'mountPath':'/a','volumeClaimName':'x'},{'mountPath':'/b'}]}",
     "{'volumes':[{'mountPath':'/a','volumeClaimName':'y'}]}",
     "{'volumes':[{'mountPath':'/a','volumeClaimName':'y'},{'mountPath':'/b'}]}", NULL},
    {"labels are merged by key", META("'labels':{'a':'1','b':'2'},'annotations':{'x':'y'}"),
     META("'labels':{'b':'3','c':'4'}"),
     META("'labels':{'a':'1','b':'3','c':'4'},'annotations':{'x':'y'}"), NULL},
    {"the node selector is merged by key",
     POD("'nodeSelector':{'a':'1'}"), POD("'nodeSelector':{'b':'2'}"),
     POD("'nodeSelector':{'a':'1','b':'2'}"), NULL},
    {"ports are merged by number and protocol",
     POD("'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP','name':'t'},{'containerPort':80,'protocol':'UDP'}]}]"),
     POD("'containers':[{'name':'a','ports':[{'containerPort':80,'name':'n'},{'containerPort':81}]}]"),
     POD("'containers':[{'name':'a','ports':[{'containerPort':80,'name':'n'},{'containerPort':80,'protocol':'UDP'},{'containerPort':81}]}]"),
     NULL},
    {"resources are merged by name",
     POD("'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1Gi'}}}]"),
     POD("'containers':[{'name':'a','resources':{'requests':{'cpu':'2'},'limits':{'cpu':'2'}}}]"),
     POD("'containers':[{'name':'a','resources':{'requests':{'cpu':'2','memory':'1Gi'},'limits':{'cpu':'2'}}}]"),
     NULL},
    {"tolerations are merged by three keys",
     POD("'tolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'}]"),
     POD("'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}]"),
     POD("'tolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'},{'key':'k','operator':'Exists','effect':'NoExecute'}]"),
     NULL},
    {"a toleration may be found by its key alone",
     POD("'tolerations':[{'key':'j'},{'key':'k','operator':'Exists','effect':'NoSchedule'}]"),
     POD("'tolerations':[{'key':'k','value':'v'}]"),
     POD("'tolerations':[{'key':'j'},{'key':'k','value':'v'}]"), NULL},
    {"host aliases are merged by address",
     POD("'hostAliases':[{'ip':'1.1.1.1','hostnames':['a']}]"),
     POD("'hostAliases':[{'ip':'1.1.1.1','hostnames':['b']}]"),
     POD("'hostAliases':[{'ip':'1.1.1.1','hostnames':['b']}]"), NULL},
    {"a new task comes last", "{'tasks':[{'name':'a'}]}", "{'tasks':[{'name':'b','replicas':2}]}",
     "{'tasks':[{'name':'a'},{'name':'b','replicas':2}]}", NULL},
    {"a task is deleted", "{'tasks':[{'name':'a'},{'name':'b'}]}",
     "{'tasks':[{'name':'a','$patch':'delete'}]}", "{'tasks':[{'name':'b'}]}", NULL},
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

static void check_json(const char *name, const json_t *got, const json_t *want)
{
    char *got_text, *want_text;

    if (json_equal(got, want))
        return;
    got_text = json_dumps(got, JSON_COMPACT);
    want_text = json_dumps(want, JSON_COMPACT);
    check_fail("%s: got\n  %s\nnot\n  %s", name, got_text, want_text);
}

static void patches_merge_by_the_table(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct merge_case *c = &cases[i];
        scoped(json) json_t *spec = parse(c->name, c->spec);
        scoped(json) json_t *before = json_deep_copy(spec);
        scoped(json) json_t *patch = parse(c->name, c->patch);
        scoped(json) json_t *patch_before = json_deep_copy(patch);
        scoped(json) json_t *want = c->want ? parse(c->name, c->want) : NULL;
        struct error err = {0};
        scoped(json) json_t *got = template_merge(spec, patch, "p", &err);

        if (want) {
            check_ok(c->name, got != NULL, err);
            check_json(c->name, got, want);
        } else {
            check_error(c->name, got != NULL, err, ERR_INVALID);
            check_str(c->name, err.field, c->field);
        }
        check_json(c->name, spec, before); /* the template is unchanged (Volcano issue 4720) */
        check_json(c->name, patch, patch_before);
    }
}

static struct object *make_template(const char *name, const char *spec)
{
    scoped(json) json_t *members = json_object();
    const struct meta draft = {
        .namespace = "default", .name = name, .uid = "u", .deletion_grace_s = -1};

    json_object_set_new(members, "spec", parse(name, spec));
    return object_new(&kind_job_template, meta_new(&draft), object_body_from_json(members), NULL);
}

struct minimum_case {
    const char *name, *spec, *patch, *want;
};

/* clang-format off */
static const struct minimum_case minimums[] = {
    {"minAvailable of job and task follow the replicas",
     "{'minAvailable':3,'tasks':[{'name':'a','replicas':3,'minAvailable':3}]}",
     "{'tasks':[{'replicas':5}]}",
     "{'minAvailable':5,'tasks':[{'name':'a','replicas':5,'minAvailable':5}]}"},
    {"a minAvailable below the replicas stays",
     "{'minAvailable':2,'tasks':[{'name':'a','replicas':3}]}",
     "{'tasks':[{'replicas':5}]}", "{'minAvailable':2,'tasks':[{'name':'a','replicas':5}]}"},
    {"a minAvailable in the patch counts", "{'minAvailable':3,'tasks':[{'name':'a','replicas':3}]}",
     "{'minAvailable':1,'tasks':[{'replicas':5}]}",
     "{'minAvailable':1,'tasks':[{'name':'a','replicas':5}]}"},
    {"a minAvailable of the task in the patch counts",
     "{'minAvailable':3,'tasks':[{'name':'a','replicas':3}]}",
     "{'tasks':[{'replicas':5,'minAvailable':4}]}",
     "{'minAvailable':3,'tasks':[{'name':'a','replicas':5,'minAvailable':4}]}"},
    {"an absent minAvailable stays absent",
     "{'tasks':[{'name':'a','replicas':3}]}", "{'tasks':[{'replicas':5}]}",
     "{'tasks':[{'name':'a','replicas':5}]}"},
    {"minAvailable stays when two tasks change their sizes",
     "{'minAvailable':5,'tasks':[{'name':'a','replicas':2,'minAvailable':2},{'name':'b','replicas':3,'minAvailable':3}]}",
     "{'tasks':[{'name':'a','replicas':3},{'name':'b','replicas':2}]}",
     "{'minAvailable':5,'tasks':[{'name':'a','replicas':3,'minAvailable':3},{'name':'b','replicas':2,'minAvailable':2}]}"},
    {"minAvailable of the job does not count a deleted task",
     "{'minAvailable':5,'tasks':[{'name':'a','replicas':2},{'name':'b','replicas':3}]}",
     "{'tasks':[{'name':'b','$patch':'delete'}]}",
     "{'minAvailable':2,'tasks':[{'name':'a','replicas':2}]}"},
    {"minAvailable stays when replicas do not change",
     "{'minAvailable':1,'queue':'q','tasks':[{'name':'a','replicas':1}]}",
     "{'queue':'r'}", "{'minAvailable':1,'queue':'r','tasks':[{'name':'a','replicas':1}]}"},
};
/* clang-format on */

static void minimum_follows_replicas(void **state)
{
    for (size_t i = 0; i < countof(minimums); i++) {
        const struct minimum_case *c = &minimums[i];
        struct template_cache *cache = template_cache_new();
        scoped(object) struct object *template = make_template(c->name, c->spec);
        scoped(json) json_t *patch = parse(c->name, c->patch);
        scoped(json) json_t *want = parse(c->name, c->want);
        const struct template_patch how = {.spec = patch, .owner = template->body};
        struct error err = {0};
        scoped(blob) struct blob *body = template_instantiate(cache, template, &how, &err);
        scoped(json) json_t *got = NULL;

        check_ok(c->name, body != NULL, err);
        got = json_loads(body->text, 0, NULL);
        check_json(c->name, json_object_get(got, "spec"), want);
        template_cache_free(cache);
    }
}

/* A template may be made, or change, after the flow was admitted. */
static void names_are_checked_when_the_job_is_made(void **state)
{
    struct template_cache *cache = template_cache_new();
    scoped(object) struct object *template =
        make_template("t", TASKS("{'name':'main','image':'x','command':['c']}"));
    scoped(json) json_t *patch = parse("p", TASKS("{'name':'mian','args':['x']}"));
    const struct template_patch how = {.spec = patch, .step = 3};
    struct error err = {0};

    check("refused", !template_instantiate(cache, template, &how, &err));
    check_str("field", err.field,
              "spec.flows[3].patch.spec.tasks[0].template.spec.containers[0].name");
    check_has("text", err.message, "did you mean \"main\"?");
    template_cache_free(cache);
}

/* covers: jobflow.md 86 88; see DC-03 */
static void equal_asks_share_one_body(void **state)
{
    struct template_cache *cache = template_cache_new();
    scoped(object) struct object *template =
        make_template("t", "{'tasks':[{'name':'a','replicas':1}]}");
    scoped(blob) struct blob *owner = blob_new("{}", 2);
    scoped(json) json_t *job_spec = parse("p", "{'queue':'q','maxRetry':1}");
    scoped(json) json_t *spec = parse("p", "{'queue':'r'}");
    const struct template_patch both = {job_spec, spec, owner, 1};
    const struct template_patch other = {job_spec, NULL, owner, 2};
    scoped(blob) struct blob *plain = template_instantiate(cache, template, NULL, NULL);
    scoped(blob) struct blob *one = template_instantiate(cache, template, &both, NULL);
    scoped(blob) struct blob *again = template_instantiate(cache, template, &both, NULL);
    scoped(blob) struct blob *two = template_instantiate(cache, template, &other, NULL);

    check("no patch: the template's own bytes", plain == template->body);
    check("the same step: the same body", one == again);
    check_has("jobSpec first, then spec", one->text, "\"queue\":\"r\"");
    check_has("jobSpec first, then spec", one->text, "\"maxRetry\":1");
    check_has("each step its own", two->text, "\"queue\":\"q\"");
    check("the template is as before", !strstr(template->body->text, "queue"));
    template_cache_free(cache);
}

static void the_cache_is_bounded(void **state)
{
    struct template_cache *cache = template_cache_new();
    scoped(object) struct object *template = make_template("t", "{'tasks':[{'name':'a'}]}");
    scoped(json) json_t *patch = parse("p", "{'queue':'q'}");

    for (uint32_t i = 0; i < 5000; i++) {
        const struct template_patch how = {patch, NULL, template->body, i};

        blob_unref(template_instantiate(cache, template, &how, NULL));
    }
    check("holds what it may", atomic_load(&template->body->refs) < 2 * 1024 + 10);
    template_cache_free(cache);
    check_int("lets go", atomic_load(&template->body->refs), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_merge_by_the_table),
        cmocka_unit_test(minimum_follows_replicas),
        cmocka_unit_test(names_are_checked_when_the_job_is_made),
        cmocka_unit_test(equal_asks_share_one_body),
        cmocka_unit_test(the_cache_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
