/* api/types/status. covers: kube-api.md 40 41 44 51; see and 12.1, 12.2 */
#include "tests/unit.h"

#include "api/types/kinds.h"
#include "api/types/status.h"

static const struct {
    const char *name;
    struct error errors[2];
    const struct kind *kind;
    const char *object, *status;
} cases[] = {
    {"not found",
     {{ERR_NOT_FOUND, "", "jobflows.flow.volcano.sh \"nope\" not found"}},
     &kind_job_flow,
     "nope",
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'jobflows.flow."
     "volcano.sh \\\"nope\\\" not "
     "found','reason':'NotFound','details':{'name':'nope','group':'flow.volcano.sh','kind':'"
     "jobflows'},'code':404}"},
    {"invalid",
     {{ERR_INVALID, "spec.jobRetainPolicy", "Unsupported value: x"}},
     &kind_job_flow,
     "f",
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'JobFlow.flow."
     "volcano.sh \\\"f\\\" is invalid: "
     "spec.jobRetainPolicy: Unsupported value: "
     "x','reason':'Invalid','details':{'name':'f','group':'flow.volcano.sh','kind':"
     "'JobFlow','causes':[{'reason':'FieldValueNotSupported','message':'Unsupported value: "
     "x','field':'spec.jobRetainPolicy'}]},"
     "'code':422}"},
    {"invalid twice",
     {{ERR_INVALID, "spec.a", "Required value"}, {ERR_INVALID, "spec.b", "Invalid value: 1: no"}},
     &kind_pod,
     "p",
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'Pod \\\"p\\\" "
     "is invalid: [spec.a: Required "
     "value, spec.b: Invalid value: 1: "
     "no]','reason':'Invalid','details':{'name':'p','kind':'Pod','causes':[{'reason':"
     "'FieldValueRequired','message':'Required "
     "value','field':'spec.a'},{'reason':'FieldValueInvalid','message':"
     "'Invalid value: 1: no','field':'spec.b'}]},'code':422}"},
    {"unknown fields",
     {{ERR_BAD_REQUEST, "spec.bogus", "unknown field 'spec.bogus'"},
      {ERR_BAD_REQUEST, "spec.x", "unknown field 'spec.x'"}},
     &kind_job_flow,
     NULL,
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'JobFlow in "
     "version \\\"v1alpha1\\\" cannot be "
     "handled as a JobFlow: strict decoding error: unknown field \\u0027spec.bogus\\u0027, unknown "
     "field \\u0027spec.x\\u0027',"
     "'reason':'BadRequest','details':{'group':'flow.volcano.sh','kind':'jobflows'},'code':400}"},
    {"internal",
     {{ERR_INTERNAL, "", "disk on fire"}},
     NULL,
     NULL,
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'Internal "
     "error occurred: disk on fire',"
     "'reason':'InternalError','details':{},'code':500}"},
    {"busy",
     {{ERR_TOO_MANY, "", "too many requests, please try again later"}},
     NULL,
     NULL,
     "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'too many "
     "requests, please try again later',"
     "'reason':'TooManyRequests','details':{'retryAfterSeconds':1},'code':429}"},
};

static json_t *json_of(const char *quoted)
{
    scoped_str text = mem_strdup(quoted);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';

    json_t *doc = json_loads(text, 0, NULL);

    check(text, doc != NULL);
    return doc;
}

static void failures_have_the_shape_clients_know(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        struct error_list errors = {0};

        for (size_t j = 0; j < countof(cases[i].errors) && *cases[i].errors[j].message; j++)
            error_list_append(&errors, &cases[i].errors[j]);

        scoped(json) json_t *status = status_from_errors(&errors, cases[i].kind, cases[i].object);
        scoped(json) json_t *expected = json_of(cases[i].status);
        scoped(buf) struct buf got = {0}, want = {0};

        json_text(status, &got);
        json_text(expected, &want);
        check_str(cases[i].name, got.data, want.data);

        struct error back = {0};

        assert_false(status_to_error(status, 0, &back));
        check_int(cases[i].name, back.code, cases[i].errors[0].code);
        error_list_release(&errors);
    }
}

static void too_many_findings_are_counted(void **state)
{
    struct error_list errors = {0};

    for (int i = 0; i < ERROR_LIST_MAX + 5; i++)
        error_list_add(&errors, ERR_INVALID, "a", "Required value");

    scoped(json) json_t *status = status_from_errors(&errors, &kind_pod, "p");

    check_has("message", json_string_value(json_object_get(status, "message")), ", and 5 more]");
    error_list_release(&errors);

    scoped(json) json_t *empty = status_from_errors(&errors, NULL, NULL);

    assert_int_equal(json_integer_value(json_object_get(empty, "code")), 500);
}

static void what_is_no_utf8_is_shown_all_the_same(void **state)
{
    const struct error err = {ERR_INVALID, "a", "Invalid value: \"\xff\""};
    scoped(json) json_t *status = status_from_error(&err, &kind_pod, "\xfe");

    check_str("message", json_string_value(json_object_get(status, "message")),
              "Pod \"?\" is invalid: a: Invalid value: \"?\"");
}

static void any_answer_becomes_an_error(void **state)
{
    static const struct {
        const char *status;
        int http;
        enum error_code code;
        const char *message;
    } answers[] = {
        {"{}", 503, ERR_UNAVAILABLE, "status 503 and no message"},
        {"{'message':'x','code':404}", 500, ERR_NOT_FOUND, "x"},
        {"{'message':'x','reason':'AlreadyExists','code':409}", 0, ERR_EXISTS, "x"},
        {"{'message':'x','reason':'Teapot','code':418}", 0, ERR_BAD_REQUEST, "x"},
        {"{'message':5,'code':'y','details':[]}", 599, ERR_INTERNAL, "status 599"},
        {"[1]", 401, ERR_UNAUTHORIZED, "status 401"},
    };

    for (size_t i = 0; i < countof(answers); i++) {
        scoped(json) json_t *status = json_of(answers[i].status);
        struct error err = {0};

        check_error(answers[i].status, status_to_error(status, answers[i].http, &err), err,
                    answers[i].code);
        check_has(answers[i].status, err.message, answers[i].message);
    }
}

static void a_deletion_names_what_is_gone(void **state)
{
    scoped(json) json_t *status = status_deleted(&kind_job_flow, "f", "u");
    scoped(json) json_t *expected =
        json_of("{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':"
                "{'name':'f','group':'flow.volcano.sh','kind':'jobflows','uid':'u'}}");

    assert_true(json_equal(status, expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_have_the_shape_clients_know),
        cmocka_unit_test(too_many_findings_are_counted),
        cmocka_unit_test(what_is_no_utf8_is_shown_all_the_same),
        cmocka_unit_test(any_answer_becomes_an_error),
        cmocka_unit_test(a_deletion_names_what_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
