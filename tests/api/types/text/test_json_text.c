/*
 * Tests api/types/text/json_text. covers: reliability.md L-05 L-06 FZ-01; see kube-api.md 2.3
 */
#include "tests/unit.h"

#include "api/types/text/json_text.h"

static const struct json_limits small = {.max_bytes = 200, .max_depth = 3, .max_values = 6};

static const struct {
    const char *text, *printed; /* `printed`: the text when it is written again; NULL: an error with
                                 * `message` */
    enum error_code code;
    const char *message;
} cases[] = {
    {"{\"b\":1,\"a\":[true,false,null]}", "{\"b\":1,\"a\":[true,false,null]}"},
    {" [1.0, 1e3, 0.1, -2.50, 1e-7]", "[1,1000,0.1,-2.5,1e-07]"},
    {"[9007199254740993, 9223372036854775807, -9223372036854775808]",
     "[9007199254740993,9223372036854775807,-9223372036854775808]"},
    {"[1e300, 1e15, 999999999999999.0]", "[1e+300,1e+15,999999999999999]"},
    {"\"\\u00e4\\n\\\"\\\\\\u0001\"", "\"ä\\n\\\"\\\\\\u0001\""},
    {"[[[\"[[[[,,,,\\\"[[[\"]]]", "[[[\"[[[[,,,,\\\"[[[\"]]]"},
    {"[[[[1]]]]", NULL, ERR_BAD_REQUEST, "nested deeper than 3 levels"},
    {"[1,2,3,4,5,6,7]", NULL, ERR_BAD_REQUEST, "more than 6 values"},
    {"{\"a\":1,\"a\":2}", NULL, ERR_BAD_REQUEST, "duplicate object key"},
    {"[9223372036854775808]", NULL, ERR_BAD_REQUEST, "line 1, column"},
    {"{\"a\":1,\n\"b\"}", NULL, ERR_BAD_REQUEST, "line 2, column"},
    {"{\"a\":1} x", NULL, ERR_BAD_REQUEST, "end of file expected"},
    {"[\"\\u0000\"]", NULL, ERR_BAD_REQUEST, "\\u0000"},
    {"\"\xff\"", NULL, ERR_BAD_REQUEST, "line 1"},
    {"\"open", NULL, ERR_BAD_REQUEST, "line 1"},
    {"", NULL, ERR_BAD_REQUEST, "line 1"},
    {"\"\\ud83d\\ude00 \\/\\b\\f\\r\\t\"", "\"\xf0\x9f\x98\x80 /\\b\\f\\r\\t\""},
    {"{\"\\u0061\":{}}", "{\"a\":{}}"},
    {"{\"a\":1,\"\\u0061\":2}", NULL, ERR_BAD_REQUEST, "duplicate object key"},
    {"{}", "{}"},
    {"[]", "[]"},
    {"-0", "0"},
    {"[-0.0, -0E+2]", "[0,0]"},
    {"[1,2,3,4,5]", "[1,2,3,4,5]"},
    {"\"\\ud83d\"", NULL, ERR_BAD_REQUEST, "unpaired surrogate"},
    {"\"\\ude00\"", NULL, ERR_BAD_REQUEST, "unpaired surrogate"},
    {"\"\\u12g4\"", NULL, ERR_BAD_REQUEST, "four hexadecimal digits"},
    {"\"\\x\"", NULL, ERR_BAD_REQUEST, "line 1, column 3: an unknown escape"},
    {"\"a\tb\"", NULL, ERR_BAD_REQUEST, "a control character"},
    {"\"\xed\xa0\x80\"", NULL, ERR_BAD_REQUEST, "no UTF-8"},
    {"[01]", NULL, ERR_BAD_REQUEST, "begins with 0"},
    {"[1.]", NULL, ERR_BAD_REQUEST, "digits were expected"},
    {"[1e999]", NULL, ERR_BAD_REQUEST, "too large"},
    {"[+1]", NULL, ERR_BAD_REQUEST, "a value was expected"},
    {"[nul]", NULL, ERR_BAD_REQUEST, "a value was expected"},
    {"[1,]", NULL, ERR_BAD_REQUEST, "a value was expected"},
    {"[1 2]", NULL, ERR_BAD_REQUEST, "',' or ']' was expected"},
    {"{\"a\" 1}", NULL, ERR_BAD_REQUEST, "':' was expected"},
    {"{a:1}", NULL, ERR_BAD_REQUEST, "the name of a member was expected"},
    {"[1,\n2,", NULL, ERR_BAD_REQUEST, "line 2, column 3: the text ends too early"},
};

static void json_is_read_within_limits_and_printed_compactly(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};
        scoped(json) json_t *doc = json_parse(cases[i].text, strlen(cases[i].text), &small, &err);
        scoped(buf) struct buf text = {0};

        if (!cases[i].printed) {
            check_error(cases[i].text, doc, err, cases[i].code);
            check_has(cases[i].text, err.message, cases[i].message);
            continue;
        }
        check_ok(cases[i].text, doc, err);
        json_text(doc, &text);
        check_str(cases[i].text, text.data, cases[i].printed);

        scoped(json) json_t *again = json_parse(text.data, text.len, &small, &err);
        scoped(buf) struct buf second = {0};

        check_ok(cases[i].text, again, err);
        json_text(again, &second);
        check_str(cases[i].text, second.data, text.data);
    }
}

static void too_long_text_is_not_parsed(void **state)
{
    scoped_str text = mem_alloc(2001);
    struct error err = {0};

    memset(text, ' ', 2000);
    text[0] = '1';

    scoped(json) json_t *at = json_parse(text, 200, &small, &err);

    check_ok("at", at, err);
    check_error("beyond", json_parse(text, 201, &small, &err), err, ERR_TOO_LARGE);
    check_error("far beyond", json_parse(text, 2000, &small, &err), err, ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_within_limits_and_printed_compactly),
        cmocka_unit_test(too_long_text_is_not_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
