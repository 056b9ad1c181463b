/*
 * Tests selectors of lists and watches, and the Status of failures.
 */
#include "tests/unit.h"

#include "api/server/message/status.h"
#include "api/server/rest/filter.h"
#include "tests/support/objects.h"

struct filter_case {
    const char *query;
    const struct kind *kind; /* kind that is listed; NULL: Pod */
    bool matches;
    const char *message; /* part of the message of a refusal; NULL: accepted */
};

/* covers: kube-api.md 67 68 69 70; reliability.md L-31 */
static const struct filter_case cases[] = {
    {"", NULL, true, NULL},
    {"labelSelector=&fieldSelector=", NULL, true, NULL},
    {"fieldSelector=metadata.name=p1", NULL, true, NULL},
    {"fieldSelector=metadata.name==p1", NULL, true, NULL},
    {"fieldSelector=metadata.name=p2", NULL, false, NULL},
    {"fieldSelector=metadata.name!=p2", NULL, true, NULL},
    {"fieldSelector=metadata.namespace=default,metadata.name=p1", NULL, true, NULL},
    {"fieldSelector=metadata.namespace=other,metadata.name=p1", NULL, false, NULL},
    {"fieldSelector=status.phase=Running,spec.nodeName=n1", NULL, true, NULL},
    {"fieldSelector=status.phase!=Running", NULL, false, NULL},
    {"fieldSelector=spec.nodeName=", NULL, false, NULL},
    {"fieldSelector=spec.restartPolicy=Always", NULL, true, NULL},
    {"fieldSelector=metadata.name=p\\1", NULL, true, NULL},
    {"fieldSelector=metadata.name=a\\,b", NULL, false, NULL},
    {"fieldSelector=,metadata.name=p1,", NULL, true, NULL},
    {"fieldSelector=involvedObject.uid=u1", &kind_event, true, NULL},
    {"fieldSelector=involvedObject.uid=u2", &kind_event, false, NULL},
    {"fieldSelector=involvedObject.kind=JobFlow,reason=Started,type=Normal", &kind_event, true,
     NULL},
    {"fieldSelector=involvedObject.fieldPath=", &kind_event, true, NULL},
    {"fieldSelector=abc", NULL, false, "invalid selector: 'abc'; can't understand 'abc'"},
    {"fieldSelector==x", NULL, false, "can't understand '=x'"},
    {"fieldSelector=metadata.name=x\\", NULL, false, "can't understand"},
    {"fieldSelector=foo=bar", NULL, false, "\"foo\" is not a known field selector: only "},
    {"fieldSelector=spec.foo=bar", &kind_job_flow, false, "field label not supported: spec.foo"},
    {"fieldSelector=status.phase=x", &kind_job_flow, false, "field label not supported"},
    {"labelSelector=a+in+b", NULL, false, "unable to parse requirement: found 'b' expected: '('"},
    {"labelSelector=env!=x", NULL, true, NULL},
    {"labelSelector=env", NULL, false, NULL},
};

static struct object *subject(const struct kind *kind)
{
    if (kind == &kind_event)
        return sample_object(.name = "e1", .kind = kind,
                             .body = "{\"involvedObject\":{\"kind\":\"JobFlow\",\"uid\":\"u1\"},"
                                     "\"reason\":\"Started\",\"type\":\"Normal\"}");
    if (kind == &kind_job_flow)
        return sample_object(.name = "f1", .kind = kind, .body = "{\"spec\":{\"flows\":[]}}");
    return sample_object(.name = "p1", .kind = &kind_pod,
                         .body = "{\"spec\":{\"nodeName\":\"n1\",\"containers\":[]}}",
                         .status = "{\"phase\":\"Running\"}");
}

static void selectors_select_objects(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct filter_case *c = &cases[i];
        scoped(arena) struct arena *arena = arena_new(0);
        scoped(object) struct object *object = subject(c->kind);
        scoped(filter) struct filter filter = {0};
        scoped_str text = mem_printf("/a?%s", c->query);
        struct request_target target;
        struct error err = {0};
        bool ok;

        check(c->query, request_target_parse(text, arena, &target, NULL));
        ok = filter_parse(&target, object->kind, NULL, arena, &filter, &err);
        if (c->message) {
            check(c->query, !ok);
            check_int(c->query, err.code, ERR_BAD_REQUEST);
            check_has(c->query, err.message, c->message);
            continue;
        }
        check_ok(c->query, ok, err);
        check_int(c->query, filter_matches(&filter, object), c->matches);
    }
}

static void the_name_in_the_path_is_one_more_requirement(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(object) struct object *object = subject(NULL);
    scoped(filter) struct filter same = {0}, other = {0};
    struct request_target target;

    check("target", request_target_parse("/a", arena, &target, NULL));
    check("same", filter_parse(&target, &kind_pod, "p1", arena, &same, NULL));
    check("other", filter_parse(&target, &kind_pod, "p2", arena, &other, NULL));
    check("same", filter_matches(&same, object));
    check("other", !filter_matches(&other, object));
    check("not empty", !filter_is_empty(&same));
}

static void selectors_are_bounded(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf text = {0};
    scoped(filter) struct filter filter = {0};
    struct request_target target;
    struct error err = {0};

    buf_str(&text, "/a?fieldSelector=");
    for (int i = 0; i <= 64; i++)
        buf_str(&text, "metadata.name=x,");
    check("target", request_target_parse(text.data, arena, &target, NULL));
    check_error("terms", filter_parse(&target, &kind_pod, NULL, arena, &filter, &err), err,
                ERR_BAD_REQUEST);
    check_has("terms", err.message, "more than 64");
    for (int i = 0; i < 250; i++)
        buf_str(&text, "metadata.name=x,");
    check("target", request_target_parse(text.data, arena, &target, NULL));
    check_error("bytes", filter_parse(&target, &kind_pod, NULL, arena, &filter, &err), err,
                ERR_BAD_REQUEST);
    check_has("bytes", err.message, "longer than 4096");
}

struct status_case {
    const char *name;
    struct error errors[3];
    struct status_subject about;
    const char *has[4];
};

/* clang-format off */
static const struct status_case statuses[] = {
    {"not found", {{ERR_NOT_FOUND, "", "jobflows.flow.volcano.sh \"x\" not found"}},
     {&kind_job_flow, .name = "x"},
     {"\"message\":\"jobflows.flow.volcano.sh \\\"x\\\" not found\"", "\"reason\":\"NotFound\"",
      "\"details\":{\"name\":\"x\",\"group\":\"flow.volcano.sh\",\"kind\":\"jobflows\"}", "\"code\":404}"}},
    {"one finding", {{ERR_INVALID, "spec.flows", "Invalid value: \"x\": must be a list"}},
     {&kind_job_flow, .name = "e1"},
     {"\"message\":\"JobFlow.flow.volcano.sh \\\"e1\\\" is invalid: spec.flows: Invalid value: \\\"x\\\": must be a list\"",
      "\"kind\":\"JobFlow\"", "\"causes\":[{\"reason\":\"FieldValueInvalid\",", "\"code\":422}"}},
    {"several findings", {{ERR_INVALID, "a", "Required value"}, {ERR_INVALID, "b", "Duplicate value: \"z\""}},
     {&kind_pod, .name = "p"},
     {"\"message\":\"Pod \\\"p\\\" is invalid: [a: Required value, b: Duplicate value: \\\"z\\\"]\"",
      "FieldValueRequired", "FieldValueDuplicate"}},
    {"unknown fields", {{ERR_BAD_REQUEST, "spec.a", "unknown field \"spec.a\""}, {ERR_BAD_REQUEST, "spec.b", "unknown field \"spec.b\""}},
     {&kind_job_flow, .name = "f"},
     {"\"message\":\"JobFlow in version \\\"v1alpha1\\\" cannot be handled as a JobFlow: strict decoding error: unknown field \\\"spec.a\\\", unknown field \\\"spec.b\\\"\"",
      "\"reason\":\"BadRequest\""}},
    {"options", {{ERR_INVALID, "tailLines", "Invalid value: -1: must be greater than or equal to 0"}},
     {&kind_pod, .options = "PodLogOptions", .name = "p"},
     {"\"message\":\"PodLogOptions \\\"p\\\" is invalid: tailLines: Invalid value: -1",
      "\"kind\":\"PodLogOptions\""}},
    {"ahead of time", {{ERR_TIMEOUT, "resourceVersion", "Too large resource version: 9, current: 5"}},
     {0},
     {"\"retryAfterSeconds\":1", "ResourceVersionTooLarge", "\"code\":504}"}},
    {"a fault of ours", {{ERR_INTERNAL, "", "it broke"}}, {0},
     {"\"message\":\"Internal error occurred: it broke\"", "\"details\":{}", "\"code\":500}"}},
};
/* clang-format on */

static void failures_have_the_words_of_kubernetes(void **state)
{
    for (size_t i = 0; i < countof(statuses); i++) {
        const struct status_case *c = &statuses[i];
        scoped(buf) struct buf text = {0};
        struct error_list errors = {0};

        for (size_t j = 0; j < countof(c->errors) && c->errors[j].code; j++)
            error_list_append(&errors, &c->errors[j]);
        status_write_failure(&errors, &c->about, &text);
        error_list_release(&errors);
        for (size_t j = 0; j < countof(c->has) && c->has[j]; j++)
            check_has(c->name, text.data, c->has[j]);
        json_decref(json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_select_objects),
        cmocka_unit_test(the_name_in_the_path_is_one_more_requirement),
        cmocka_unit_test(selectors_are_bounded),
        cmocka_unit_test(failures_have_the_words_of_kubernetes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
