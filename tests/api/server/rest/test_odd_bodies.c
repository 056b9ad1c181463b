/*
 * Tests bodies with duplicate members, unknown members, or values of a wrong type. The responses
 * are those of kube-apiserver 1.33 (tests/system/differential.py).
 *
 * covers: kube-api.md 45 98; see 11.2
 */
#include "tests/unit.h"

#include "tests/support/api.h"

#define CM    "/api/v1/namespaces/default/configmaps"
#define JT    "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates"
#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"
#define JSON  "application/json-patch+json"
#define YAML  "application/yaml"
#define TWICE "{'metadata':{'name':'c'},'data':{'k':'1','k':'2'}}"
#define TMPL                                                                                       \
    "{'apiVersion':'flow.volcano.sh/"                                                              \
    "v1alpha1','kind':'JobTemplate','metadata':{'name':'t'},'spec':{"
#define TASKS                                                                                      \
    "'tasks':[{'name':'t','replicas':1,'replicas':2,'template':{'spec':{'containers':[{'name':'c'" \
    ",'image':'x','command':['true']}]}}}]}}"
#define BROKEN                                                                                     \
    "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "

/* clang-format off */
static const struct odd {
    const char *name, *method, *target, *type, *body;
    int status;
    const char *at, *text; /* a path in the response, and the text expected there */
    const char *warning;   /* expected warning; NULL: there is none */
} odds[] = {
    {"a member twice is warned of, and the last holds", "POST", CM "?dryRun=All", NULL, TWICE, 201,
     "data.k", "2", "299 - \"duplicate field \\\"data.k\\\"\""},
    {"unknown members ignored", "POST", CM "?dryRun=All&fieldValidation=Ignore", NULL, TWICE, 201, "data.k", "2", NULL},
    {"strictly it is refused", "POST", CM "?fieldValidation=Strict", NULL, TWICE, 400,
     "message", BROKEN "duplicate field \"data.k\"", NULL},
    {"with unknown members", "POST", JT "?fieldValidation=Strict", NULL, TMPL "'bogus':1," TASKS, 400,
     "message", "JobTemplate in version \"v1alpha1\" cannot be handled as a JobTemplate: strict decoding error: "
     "duplicate field \"spec.tasks[0].replicas\", unknown field \"spec.bogus\"", NULL},
    {"a key of YAML twice", "POST", CM "?dryRun=All", YAML, "metadata: {name: c}\ndata:\n  k: '1'\n  k: '2'\n", 201,
     "data.k", "2", "duplicate field \\\"k\\\" (line 4)"},
    {"a key of YAML twice, strictly", "POST", CM "?fieldValidation=Strict", YAML, "metadata: {name: c}\ndata:\n  k: '1'\n  k: '2'\n", 400,
     "message", BROKEN "duplicate field \"k\" (line 4)", NULL},
    {"two documents", "POST", CM, YAML, "metadata: {name: c}\n---\nmetadata: {name: d}\n", 400, "reason", "BadRequest", NULL},
    {"it is there", "POST", CM, NULL, "{'metadata':{'name':'c','finalizers':['x.io/a']},'data':{'k':'0'}}", 201, "data.k", "0", NULL},
    {"a merge says it twice", "PATCH", CM "/c?dryRun=All", MERGE, "{'data':{'k':'1','k':'2'}}", 200,
     "data.k", "2", "duplicate field \\\"data.k\\\""},
    {"a merge says it twice, strictly", "PATCH", CM "/c?fieldValidation=Strict", MERGE, "{'data':{'k':'1','k':'2'}}", 422,
     "message", "patch: Invalid value: strict decoding error: duplicate field \"data.k\"", NULL},
    {"an operation has one member more", "PATCH", CM "/c?dryRun=All", JSON, "[{'op':'add','path':'/data/z','value':'1','foo':{}}]", 200,
     "data.z", "1", "json patch unknown field \\\"[0].foo\\\""},
    {"an operation has one member more, strictly", "PATCH", CM "/c?fieldValidation=Strict", JSON, "[{'op':'add','path':'/data/z','value':'1','foo':{}}]",
     422, "message", "patch: Invalid value: strict decoding error: json patch unknown field \"[0].foo\"", NULL},
    {"an operation has a member twice", "PATCH", CM "/c?dryRun=All", JSON, "[{'op':'add','path':'/data/x','path':'/data/y','value':'1'}]", 200,
     "data.y", "1", "json patch duplicate field \\\"[0].path\\\""},
    {"an operation is a text", "PATCH", CM "/c", JSON, "['x']", 400, "reason", "BadRequest", NULL},
    {"a merge of a wrong type", "PATCH", CM "/c", MERGE, "{'data':7}", 422, "details.causes.0.field", "patch", NULL},
    {"a replacement of a wrong type", "PUT", CM "/c", NULL, "{'metadata':{'name':'c'},'data':7}", 400, "reason", "BadRequest", NULL},
    {"the whole is replaced, without its place", "PATCH", CM "/c?dryRun=All", JSON,
     "[{'op':'replace','path':'','value':{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':{'k':'9'}}}]", 200, "data.k", "9", NULL},
    {"its name is taken away", "PATCH", CM "/c", JSON, "[{'op':'remove','path':'/metadata/name'}]", 400,
     "message", "the name of the object (c based on URL) was undeterminable: name must be provided", NULL},
    {"its metadata becomes a list", "PATCH", CM "/c", MERGE, "{'metadata':[]}", 400, "reason", "BadRequest", NULL},
    {"applied says it twice", "PATCH", CM "/c?fieldManager=m&dryRun=All", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':{'n':'1','n':'2'}}", 200, "data.n", "2", "duplicate field"},
    {"applied says it twice, strictly", "PATCH", CM "/c?fieldManager=m&fieldValidation=Strict", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':{'n':'1','n':'2'}}", 400,
     "message", "error strict decoding YAML: duplicate field \"n\" (line 1)", NULL},
    {"applied metadata is a list", "PATCH", CM "/c?fieldManager=m", APPLY, "{'apiVersion':'v1','kind':'ConfigMap','metadata':[]}", 400,
     "reason", "BadRequest", NULL},
    {"an applied finalizer stands behind those that were there", "PATCH", CM "/c?fieldManager=m&dryRun=All", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','finalizers':['x.io/b']}}", 200, "metadata.finalizers.1", "x.io/b", NULL},
    {"an applied null is an empty text", "PATCH", CM "/c?fieldManager=m&dryRun=All", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':{'n':null}}", 200, "data.n", "", NULL},
    {"applied with the revision of one that is gone", "PATCH", CM "/new?fieldManager=m&dryRun=All", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'new','resourceVersion':'7'}}", 201, "metadata.name", "new", NULL},
    {"an owner twice", "POST", CM "?dryRun=All", NULL,
     "{'metadata':{'name':'o','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u'},{'apiVersion':'v1','kind':'Pod','name':'q','uid':'v'},"
     "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u'}]}}", 201, "metadata.ownerReferences.2.name", NULL, "the owner with the UID u is named once"},
    {"a null among the data", "POST", CM "?dryRun=All", NULL, "{'metadata':{'name':'n'},'data':{'k':null}}", 201, "data.k", "", NULL},
    {"a list of a time that is none", "GET", CM "?timeoutSeconds=x", NULL, NULL, 400, "reason", "BadRequest", NULL},
    {"a deletion by something else", "DELETE", CM "/c", NULL, "{'kind':'Foo','apiVersion':'v1'}", 400,
     "message", "the body of a deletion must be DeleteOptions, not \"Foo\"", NULL},
    {"it is still there as it was", "GET", CM "/c", NULL, NULL, 200, "data.k", "0", NULL},
};
/* clang-format on */

/* Returns a body with single quotes replaced by double ones; YAML stays as it is. */
static char *unquoted(const char *text, bool is_yaml)
{
    char *body = mem_strdup(text);

    for (char *c = body; c && *c && !is_yaml; c++)
        if (*c == '\'')
            *c = '"';
    return body;
}

static void odd_bodies_are_answered_as_by_kube_apiserver(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(odds); i++) {
        const struct odd *c = &odds[i];
        scoped_str body = unquoted(c->body, c->type && strcmp(c->type, YAML) == 0);
        scoped_str at = NULL;
        const char *headers;

        check_int(c->name,
                  api_send(&fixture, &capture, c->method, c->target, .body = body,
                           .content_type = c->type),
                  c->status);
        at = api_capture_at(&capture, c->at);
        check_str(c->name, at, c->text);
        headers = capture.headers.data ? capture.headers.data : "";
        if (c->warning)
            check_has(c->name, headers, c->warning);
        else
            check(c->name, !strstr(headers, "Warning:"));
    }
    api_fixture_stop(&fixture);
}

/* The size and cost of a response do not grow with the number of duplicates in the body. */
static void too_many_duplicates_are_only_counted(void **state)
{
    enum { TIMES = 50000 };
    scoped(capture) struct api_capture capture = {0};
    scoped(buf) struct buf body = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    buf_str(&body, "{\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"\"");
    for (int i = 0; i < TIMES; i++)
        buf_str(&body, ",\"k\":\"\"");
    buf_str(&body, "}}");
    check_int("strict",
              api_send(&fixture, &capture, "POST", CM "?fieldValidation=Strict", .body = body.data),
              400);
    check_has("counted", capture.body.data, "more");
    check("bounded", capture.body.len < 64 << 10);
    check_int("warned", api_send(&fixture, &capture, "POST", CM, .body = body.data), 201);
    check("bounded", capture.headers.len < 16 << 10);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_bodies_are_answered_as_by_kube_apiserver),
        cmocka_unit_test(too_many_duplicates_are_only_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
