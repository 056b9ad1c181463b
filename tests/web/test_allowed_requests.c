/*
 * The table of what passes, walked cell by cell: each known and some unknown resources and
 * subresources with each method. The verbs expected here are written from the specification, not
 * from the table.
 *
 * covers: web.md WEB-050 WEB-052 WEB-054
 */
#include "tests/unit.h"

#include "api/server/rest/resources.h"
#include "web/allowed_requests.h"

/* Letters: g get, l list, c create, p patch, a apply, d delete; A applies, and its answer passes without data. */
static const struct {
    const char *path, *verbs;
} spec[] = {
    /* clang-format off */
    {"apis/flow.volcano.sh/v1alpha1/namespaces/n/jobflows",                              "glcpad"},
    {"apis/flow.volcano.sh/v1alpha1/namespaces/n/jobtemplates",                          "glcpad"},
    {"apis/batch.volcano.sh/v1alpha1/namespaces/n/jobs",                                 "glcad"},
    {"apis/flow.volcano.sh/v1alpha1/namespaces/n/flowtriggers",                          "gl"},
    {"apis/batch.volcano.sh/v1alpha1/namespaces/n/cronjobs",                             "gl"},
    {"apis/bus.volcano.sh/v1alpha1/namespaces/n/commands",                               "lc"},
    {"apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups",                        "gl"},
    {"apis/scheduling.volcano.sh/v1beta1/queues",                                        "gla"},
    {"api/v1/namespaces/n/pods",                                                         "gld"},
    {"api/v1/namespaces/n/events",                                                       "gl"},
    {"api/v1/namespaces",                                                                "gla"},
    {"api/v1/nodes",                                                                     "gl"},
    {"api/v1/namespaces/n/configmaps",                                                   "A"},
    {"api/v1/namespaces/n/services",                                                     "A"},
    {"api/v1/namespaces/n/persistentvolumeclaims",                                       "A"},
    {"api/v1/namespaces/n/secrets",                                                      "A"},
    {"apis/jobflow.dev/v1/namespaces/n/podlogs",                                         "gl"},
    {"apis/events.k8s.io/v1/namespaces/n/events",                                        "gl"},
    {"apis/scheduling.k8s.io/v1/priorityclasses",                                        "gla"},
    {"apis/authorization.k8s.io/v1/selfsubjectaccessreviews",                            "c"},
    {"apis/authorization.k8s.io/v1/selfsubjectrulesreviews",                             "c"},
    {"apis/authentication.k8s.io/v1/selfsubjectreviews",                                 "c"},
    {"apis/authentication.k8s.io/v1/tokenreviews",                                       ""},
    {"apis/apps/v1/namespaces/n/deployments",                                            ""},
    {"apis/batch/v1/namespaces/n/cronjobs",                                              ""},
    {"apis/rbac.authorization.k8s.io/v1/clusterroles",                                   ""},
    {"apis/apiextensions.k8s.io/v1/customresourcedefinitions",                           ""},
    {"apis/coordination.k8s.io/v1/namespaces/n/leases",                                  ""},
    {"api/v1/namespaces/n/serviceaccounts",                                              ""},
    {"api/v1/watch/namespaces/n/pods",                                                   ""},
    {"api/v1/persistentvolumes",                                                         ""},
    /* clang-format on */
};

static const struct {
    const char *resource, *sub;
} read_subs[] = {
    {"jobflows", "steps"}, {"jobflows", "graph"}, {"jobflows", "progress"},
    {"jobs", "template"},  {"pods", "log"},       {"podlogs", "log"},
};

static const char json[] = "application/json", apply[] = "application/apply-patch+yaml";

static enum gateway_pass ask_typed(const char *path, enum api_method method, const char *type,
                                   struct error *err)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped_str target = mem_printf("/ui/api/%s", path);
    struct request_target parsed;

    check_ok(target, request_target_parse(target, arena, &parsed, err), *err);
    return gateway_may_pass(
        &(const struct gateway_request){
            .target = &parsed, .from = 2, .method = method, .content_type = type},
        err);
}

static enum gateway_pass ask(const char *path, enum api_method method, const char *type)
{
    struct error err = {0};

    return ask_typed(path, method, type, &err);
}

static void check_cell(const char *path, enum api_method method, const char *type, bool passes,
                       bool blind)
{
    enum gateway_pass pass = ask(path, method, type);

    check_int(path, pass != GATEWAY_REFUSED, passes);
    check_int(path, pass == GATEWAY_BLIND, passes && blind);
}

static void each_cell_is_as_specified(void **state)
{
    for (size_t i = 0; i < countof(spec); i++) {
        const char *verbs = spec[i].verbs;
        scoped_str object = mem_printf("%s/x", spec[i].path);

        check_cell(spec[i].path, API_GET, NULL, strchr(verbs, 'l'), false);
        check_cell(spec[i].path, API_HEAD, NULL, strchr(verbs, 'l'), false);
        check_cell(spec[i].path, API_POST, json, strchr(verbs, 'c'), false);
        check_cell(spec[i].path, API_PATCH, apply, false, false);
        check_cell(spec[i].path, API_PUT, json, false, false);
        check_cell(spec[i].path, API_DELETE, NULL, false, false); /* deletecollection */
        check_cell(object, API_GET, NULL, strchr(verbs, 'g'), false);
        check_cell(object, API_POST, json, false, false);
        check_cell(object, API_PUT, json, false, false);
        check_cell(object, API_PATCH, "application/merge-patch+json", strchr(verbs, 'p'), false);
        check_cell(object, API_PATCH, apply, strchr(verbs, 'a') || strchr(verbs, 'A'),
                   strchr(verbs, 'A'));
        check_cell(object, API_DELETE, NULL, strchr(verbs, 'd'), false);
        check_cell(object, API_OPTIONS, NULL, false, false);
        check_cell(object, API_OTHER, NULL, false, false);
    }
}

static bool is_read_sub(const char *path, const char *sub)
{
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; i < countof(read_subs); i++)
        if (strcmp(read_subs[i].resource, slash + 1) == 0 && strcmp(read_subs[i].sub, sub) == 0)
            return true;
    return false;
}

static void check_sub(const char *path, const char *sub, bool known)
{
    scoped_str whole = mem_printf("%s/x/%s", path, sub);
    static const enum api_method changes[] = {API_POST, API_PUT, API_PATCH, API_DELETE};

    check_cell(whole, API_GET, NULL, known && is_read_sub(path, sub), false);
    for (size_t i = 0; i < countof(changes); i++) {
        check_cell(whole, changes[i], json, false, false);
        check_cell(whole, changes[i], apply, false, false);
    }
}

static void no_subresource_passes_but_those_that_are_read(void **state)
{
    static const char *const others[] = {"token", "proxy",    "finalize", "ephemeralcontainers",
                                         "graph", "progress", "steps",    "template"};

    for (size_t i = 0; i < countof(spec); i++) {
        for (const struct subresource *row = subresources; row->name; row++)
            check_sub(spec[i].path, row->name, *spec[i].verbs);
        for (size_t k = 0; k < countof(others); k++)
            check_sub(spec[i].path, others[k], *spec[i].verbs);
    }
}

static void other_paths_do_not_pass(void **state)
{
    static const char *const paths[] = {
        "metrics",       "backup",
        "livez",         "openapi/v2",
        "logs",          "x",
        "version/x",     "api/v1/namespaces/n/pods/x/log/y",
        "api/v2/pods/x", "apis/flow.volcano.sh/v1alpha1/namespaces/n/jobflows/x/steps/y",
    };

    for (size_t i = 0; i < countof(paths); i++)
        check_int(paths[i], ask(paths[i], API_GET, NULL), GATEWAY_REFUSED);
    check_int("version", ask("version", API_GET, NULL), GATEWAY_READ);
    check_int("apis", ask("apis/flow.volcano.sh/v1alpha1", API_GET, NULL), GATEWAY_READ);
    check_int("api", ask("api/v1", API_GET, NULL), GATEWAY_READ);
    check_int("version is read only", ask("version", API_POST, json), GATEWAY_REFUSED);
}

static void a_watch_does_not_pass(void **state)
{
    static const char *const queries[] = {"watch=true", "watch=1",   "watch",
                                          "watch=",     "watch=yes", "limit=3&watch=true"};
    struct error err = {0};

    for (size_t i = 0; i < countof(queries); i++) {
        scoped_str path = mem_printf("api/v1/pods?%s", queries[i]);

        check_int(path, ask(path, API_GET, NULL), GATEWAY_REFUSED);
    }
    check_int("a followed log", ask("api/v1/namespaces/n/pods/x/log?follow=true", API_GET, NULL),
              GATEWAY_FOLLOW);
    check_int("follow of anything else", ask("api/v1/pods?follow=true", API_GET, NULL),
              GATEWAY_READ);
    check_int("no watch", ask("api/v1/pods?watch=false", API_GET, NULL), GATEWAY_READ);
    check_int("twice", ask_typed("api/v1/pods?limit=1&limit=2", API_GET, NULL, &err),
              GATEWAY_REFUSED);
    check_int("twice", err.code, ERR_BAD_REQUEST);
}

static void types_that_forms_can_send_do_not_pass(void **state)
{
    static const char *const types[] = {"text/plain",          "application/x-www-form-urlencoded",
                                        "multipart/form-data", "application/jsonx",
                                        "application/xml",     NULL};
    static const char path[] = "apis/flow.volcano.sh/v1alpha1/namespaces/n/jobflows";

    for (size_t i = 0; i < countof(types); i++) {
        struct error err = {0};

        check_int("form", ask_typed(path, API_POST, types[i], &err), GATEWAY_REFUSED);
        check_int("form", err.code, ERR_MEDIA_TYPE);
    }
    check_int("parameter", ask(path, API_POST, "application/json; charset=utf-8"), GATEWAY_CHANGE);
}

static void a_target_that_urls_cannot_have_does_not_pass(void **state)
{
    static const char *const bad[] = {
        "/ui/%61pi/version",      "/ui/api",
        "/ui//api/version",       "/ui/api/api/v1/namespaces/n#/pods/x",
        "/ui/api/api/v1/pods\\x", "/ui/api/a b",
        "/ui/api/\xc3\xa4",       "/ui/api/<",
        "/UI/api/version",
    };

    for (size_t i = 0; i < countof(bad); i++)
        check_str(bad[i], gateway_target(bad[i]), NULL);
    check_str("plain", gateway_target("/ui/api/api/v1/pods?limit=1&continue=a%2Fb"),
              "/api/v1/pods?limit=1&continue=a%2Fb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_is_as_specified),
        cmocka_unit_test(no_subresource_passes_but_those_that_are_read),
        cmocka_unit_test(other_paths_do_not_pass),
        cmocka_unit_test(a_watch_does_not_pass),
        cmocka_unit_test(types_that_forms_can_send_do_not_pass),
        cmocka_unit_test(a_target_that_urls_cannot_have_does_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
