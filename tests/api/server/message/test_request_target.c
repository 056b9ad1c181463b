#include "tests/unit.h"

#include "api/server/message/request_target.h"
#include "api/server/rest/route.h"
#include "base/buf.h"

/* covers: kube-api.md 3; reliability.md SEC-09 */

struct target_case {
    const char *name, *text;
    const char *segments; /* segments of the path, joined by '|'; NULL: the target is refused */
    const char *message;  /* part of the message of a refusal */
};

static const struct target_case cases[] = {
    {"a plain path", "/api/v1/pods", "api|v1|pods", NULL},
    {"one slash at the end is ignored", "/api/v1/", "api|v1", NULL},
    {"the root", "/", "", NULL},
    {"escapes are decoded after the split", "/api/v1/no%64es", "api|v1|nodes", NULL},
    {"decoded once", "/a/%2525", "a|%25", NULL},
    {"a query is no part of the path", "/a?b/c", "a", NULL},
    {"plus is itself in a path", "/a+b", "a+b", NULL},
    {"an encoded slash", "/api/v1/a%2fb", NULL, "encoded /"},
    {"an encoded NUL", "/api/v1/a%00b", NULL, "control bytes"},
    {"an encoded newline", "/api/%0a", NULL, "control bytes"},
    {"a broken escape", "/api/%4", NULL, "broken % escape"},
    {"an escape of no digits", "/api/%zz", NULL, "broken % escape"},
    {"an escape cut by the next segment", "/api/%4/1", NULL, "broken % escape"},
    {"an empty segment", "/api//v1", NULL, "empty"},
    {"two slashes at the end", "/api//", NULL, "empty"},
    {"dots", "/api/../etc", NULL, ".."},
    {"encoded dots", "/api/%2e%2e/etc", NULL, ".."},
    {"one dot", "/./api", NULL, "."},
    {"no slash at the beginning", "api", NULL, "begin with /"},
    {"nothing", "", NULL, "begin with /"},
    {"an absolute target", "http://x/api", NULL, "begin with /"},
    {"too many segments", "/a/a/a/a/a/a/a/a/a/a/a/a/a", NULL, "could not find"},
};

static void targets_are_split_before_they_are_decoded(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct target_case *c = &cases[i];
        scoped(arena) struct arena *arena = arena_new(0);
        scoped(buf) struct buf joined = {0};
        struct request_target target;
        struct error err = {0};
        bool ok = request_target_parse(c->text, arena, &target, &err);

        if (!c->segments) {
            check(c->name, !ok);
            check_has(c->name, err.message, c->message);
            continue;
        }
        check_ok(c->name, ok, err);
        for (size_t j = 0; j < target.n_segments; j++)
            buf_printf(&joined, "%s%s", j ? "|" : "", target.segments[j]);
        check_str(c->name, joined.data ? joined.data : "", c->segments);
    }
}

static void queries_are_pairs_and_the_first_counts(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct request_target target;
    struct error err = {0};
    int64_t number;

    check_ok("query",
             request_target_parse("/a?x=1&x=2&y=a+b%26c&z&empty=&n=-5&bad=+7&&w=%3d", arena,
                                  &target, &err),
             err);
    check_str("first", request_query(&target, "x"), "1");
    check_str("decoded", request_query(&target, "y"), "a b&c");
    check_str("no value", request_query(&target, "z"), "");
    check_str("equals", request_query(&target, "w"), "=");
    check_str("absent", request_query(&target, "q"), NULL);
    check("negative", request_query_int(&target, "n", 0, &number, &err));
    check_int("negative", number, -5);
    check("empty is absent", request_query_int(&target, "empty", 9, &number, &err));
    check_int("absent", number, 9);
    check_error("blank", request_query_int(&target, "bad", 0, &number, &err), err, ERR_BAD_REQUEST);
    check_str("text", err.message, "strconv.ParseInt: parsing \" 7\": invalid syntax");
    check_error("least", request_query_int_min(&target, "n", 0, 0, &number, &err), err,
                ERR_INVALID);
    check_str("least", err.message, "Invalid value: -5: must be greater than or equal to 0");
    check_str("least", err.field, "n");
}

static void a_revision_is_a_number_without_a_sign(void **state)
{
    static const struct {
        const char *query;
        int64_t want; /* the expected number; -1: refused */
    } rows[] = {{"/a", 0},
                {"/a?resourceVersion=", 0},
                {"/a?resourceVersion=0", 0},
                {"/a?resourceVersion=17", 17},
                {"/a?resourceVersion=-1", -1},
                {"/a?resourceVersion=%2B1", -1},
                {"/a?resourceVersion=1x", -1},
                {"/a?resourceVersion=9223372036854775808", -1}};

    for (size_t i = 0; i < countof(rows); i++) {
        scoped(arena) struct arena *arena = arena_new(0);
        struct request_target target;
        struct error err = {0};
        int64_t got;
        bool ok;

        check_ok(rows[i].query, request_target_parse(rows[i].query, arena, &target, &err), err);
        ok = request_query_revision(&target, &got, &err);
        check_int(rows[i].query, ok ? got : -1, rows[i].want);
        check_int(rows[i].query, err.code, ok ? ERR_NONE : ERR_BAD_REQUEST);
    }
}

static void booleans_are_true_unless_0_or_false(void **state)
{
    static const struct {
        const char *value;
        bool want;
    } rows[] = {{"=true", true}, {"=True", true}, {"", true},        {"=", true},
                {"=1", true},    {"=0", false},   {"=false", false}, {"=FALSE", false}};

    for (size_t i = 0; i < countof(rows); i++) {
        scoped(arena) struct arena *arena = arena_new(0);
        scoped_str text = mem_printf("/a?watch%s", rows[i].value);
        struct request_target target;

        check(text, request_target_parse(text, arena, &target, NULL));
        check_int(text, request_query_bool(&target, "watch"), rows[i].want);
        check(text, !request_query_bool(&target, "other"));
    }
}

static void long_targets_and_many_pairs_are_refused(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf text = {0};
    struct request_target target;
    struct error err = {0};

    buf_str(&text, "/a?");
    for (int i = 0; i <= REQUEST_QUERY_PAIRS_MAX; i++)
        buf_printf(&text, "k%d=v&", i);
    check_error("pairs", request_target_parse(text.data, arena, &target, &err), err,
                ERR_BAD_REQUEST);
    while (text.len <= REQUEST_TARGET_BYTES_MAX)
        buf_char(&text, 'x');
    check_error("bytes", request_target_parse(text.data, arena, &target, &err), err,
                ERR_TARGET_TOO_LONG);
    check_has("bytes", err.message, "longer than 8192 bytes");
}

struct route_case {
    const char *path;
    const struct kind *kind; /* kind of the resource; NULL: there is none at that path */
    const char *ns, *name;
    enum route_subresource sub;
};

static const struct route_case routes[] = {
    {"/api/v1/pods", &kind_pod, NULL, NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a/pods", &kind_pod, "a", NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a/pods/p", &kind_pod, "a", "p", ROUTE_MAIN},
    {"/api/v1/namespaces/a/pods/p/log", &kind_pod, "a", "p", ROUTE_LOG},
    {"/api/v1/namespaces/a/pods/p/status", &kind_pod, "a", "p", ROUTE_STATUS},
    {"/api/v1/namespaces/status/pods/status", &kind_pod, "status", "status", ROUTE_MAIN},
    {"/api/v1/namespaces", &kind_namespace, "", NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a", &kind_namespace, "", "a", ROUTE_MAIN},
    {"/api/v1/namespaces/a/status", &kind_namespace, "", "a", ROUTE_STATUS},
    {"/api/v1/nodes/n", &kind_node, "", "n", ROUTE_MAIN},
    {"/apis/flow.volcano.sh/v1alpha1/jobflows", &kind_job_flow, NULL, NULL, ROUTE_MAIN},
    {"/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows/f/status", &kind_job_flow, "a", "f",
     ROUTE_STATUS},
    {"/apis/scheduling.volcano.sh/v1beta1/queues/q", &kind_queue, "", "q", ROUTE_MAIN},
    {"/api", NULL, NULL, NULL, ROUTE_MAIN},
    {"/api/v1", NULL, NULL, NULL, ROUTE_MAIN},
    {"/apis/flow.volcano.sh/v1alpha1", NULL, NULL, NULL, ROUTE_MAIN},
    {"/apis/nope.io/v1/x", NULL, NULL, NULL, ROUTE_MAIN},
    {"/api/v1/pods/p", NULL, NULL, NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a/nodes", NULL, NULL, NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a/pods/p/exec", &kind_pod, "a", "p", ROUTE_EXEC},
    {"/api/v1/namespaces/a/pods/p/eviction", &kind_pod, "a", "p", ROUTE_EVICTION},
    {"/api/v1/namespaces/a/pods/p/scale", NULL, NULL, NULL, ROUTE_MAIN},
    {"/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/j/scale", &kind_job, "a", "j", ROUTE_SCALE},
    {"/api/v1/namespaces/a/pods/p/log/x", NULL, NULL, NULL, ROUTE_MAIN},
    {"/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows/f/log", NULL, NULL, NULL, ROUTE_MAIN},
    {"/api/v1/namespaces/a/configmaps/c/status", NULL, NULL, NULL, ROUTE_MAIN},
};

static void paths_lead_to_kinds_names_and_subresources(void **state)
{
    for (size_t i = 0; i < countof(routes); i++) {
        const struct route_case *c = &routes[i];
        scoped(arena) struct arena *arena = arena_new(0);
        struct request_target target;
        struct route route;
        struct error err = {0};

        check_ok(c->path, request_target_parse(c->path, arena, &target, &err), err);
        if (!c->kind) {
            check_error(c->path, route_find(&target, &route, &err), err, ERR_NOT_FOUND);
            check(c->path, !route.kind);
            continue;
        }
        check_ok(c->path, route_find(&target, &route, &err), err);
        check(c->path, route.kind == c->kind);
        check_str(c->path, route.ns, c->ns);
        check_str(c->path, route.name, c->name);
        check_int(c->path, route.sub, c->sub);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_split_before_they_are_decoded),
        cmocka_unit_test(queries_are_pairs_and_the_first_counts),
        cmocka_unit_test(a_revision_is_a_number_without_a_sign),
        cmocka_unit_test(booleans_are_true_unless_0_or_false),
        cmocka_unit_test(long_targets_and_many_pairs_are_refused),
        cmocka_unit_test(paths_lead_to_kinds_names_and_subresources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
