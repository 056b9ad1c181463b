/*
 * Tests api/types/text/yaml_write. covers: kube-api.md 64; reliability.md FZ-02
 */
#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"

static const struct {
    const char *json, *yaml;
} cases[] = {
    {"{\"a\":1,\"b\":\"x\",\"c\":true,\"d\":null,\"e\":1.5}",
     "a: 1\nb: x\nc: true\nd: null\ne: 1.5\n"},
    {"{\"a\":{},\"b\":[],\"c\":\"\"}", "a: {}\nb: []\nc: \"\"\n"},
    {"{\"a\":[1,{\"b\":2,\"c\":[3]},[4,[5]],{}]}",
     "a:\n- 1\n- b: 2\n  c:\n  - 3\n- - 4\n  - - 5\n- {}\n"},
    {"{\"a\":{\"b\":{\"c\":1}}}", "a:\n  b:\n    c: 1\n"},
    {"[\"yes\",\"1\",\"0x1F\",\"1.5\",\"null\",\"~\",\"1e3\",\"<<\",\"off\",\"n\",\".inf\"]",
     "- \"yes\"\n- \"1\"\n- \"0x1F\"\n- \"1.5\"\n- \"null\"\n- \"~\"\n- \"1e3\"\n- \"<<\"\n- "
     "\"off\"\n- \"n\"\n- \".inf\"\n"},
    {"[\"a: b\",\"a:\",\"# x\",\"a # b\",\"- "
     "a\",\"-a\",\"?\",\":\",\"[x\",\"{x\",\"&x\",\"*x\",\"!x\",\"|x\",\">x\",\"'x\",\"%x\",\"@"
     "x\"]",
     "- 'a: b'\n- 'a:'\n- '# x'\n- 'a # b'\n- '- a'\n- -a\n- '?'\n- ':'\n- '[x'\n- '{x'\n- '&x'\n- "
     "'*x'\n- '!x'\n- '|x'\n- "
     "'>x'\n- '''x'\n- '%x'\n- '@x'\n"},
    {"[\" a\",\"a "
     "\",\"---\",\"...\",\"a:b\",\"a#b\",\"it's\",\"500m\",\"ä€😀\"]",
     "- ' a'\n- 'a '\n- '---'\n- '...'\n- a:b\n- a#b\n- it's\n- 500m\n- ä€😀\n"},
    {"[\"=\",\"<<\",\"==\",\"a=b\"]", "- \"=\"\n- \"<<\"\n- ==\n- a=b\n"},
    {"[\"2026-01-02T03:04:05Z\",\"2026-1-2\",\"2026-01-02x\",\"226-01-02\",\"2026-01\"]",
     "- \"2026-01-02T03:04:05Z\"\n- \"2026-1-2\"\n- 2026-01-02x\n- 226-01-02\n- 2026-01\n"},
    {"{\"run\":\"echo a\\necho b\\n\",\"keep\":\"x\\n\\n\",\"strip\":\"x\\n "
     "y\",\"mid\":\"a\\n\\nb\\n\"}",
     "run: |\n  echo a\n  echo b\nkeep: |+\n  x\n\nstrip: |-\n  x\n   y\nmid: |\n  a\n\n  b\n"},
    {"[\"a\\nb\\n\",{\"c\":\"d\\ne\"}]", "- |\n  a\n  b\n- c: |-\n    d\n    e\n"},
    {"[\"\\n\",\"\\na\",\" a\\nb\",\"a "
     "\\nb\",\"a\\tb\",\"\\u0001\\u007f\\u0085\\u2028\\ufeff\\\\\\\"\"]",
     "- \"\\n\"\n- \"\\na\"\n- \" a\\nb\"\n- \"a \\nb\"\n- \"a\\tb\"\n- "
     "\"\\x01\\x7f\\x85\\u2028\\ufeff\\\\\\\"\"\n"},
    {"{\"true\":1,\"a b\":2,\"\":3,\"- x\":4,\"a\\nb\":5}",
     "\"true\": 1\na b: 2\n\"\": 3\n'- x': 4\n\"a\\nb\": 5\n"},
    {"\"text\"", "text\n"},
    {"{}", "{}\n"},
};

static void documents_print_as_in_kubectl(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *doc = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
        scoped(buf) struct buf yaml = {0};

        check(cases[i].json, doc != NULL);
        yaml_write(doc, &yaml);
        check_str(cases[i].json, yaml.data, cases[i].yaml);
    }
}

static void check_round_trip(const json_t *doc)
{
    scoped(buf) struct buf yaml = {0};
    struct error err = {0};

    yaml_write(doc, &yaml);

    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml.data, yaml.len, &yaml_limits_default, &err);

    check_ok(yaml.data, stream, err);
    assert_int_equal(yaml_count(stream), 1);
    check(yaml.data, json_equal(yaml_document(stream, 0), doc));
}

static void written_yaml_reads_back(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *doc = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);

        check_round_trip(doc);
    }

    /* Every combination of three of the special characters, as value and as key, reads back
     * unchanged. */
    static const char chars[] = " \t\n-:#?[]{},&*!|>'\"%@`a1.~<\\\x7f";

    for (size_t i = 0; i < (sizeof chars - 1) * (sizeof chars - 1) * (sizeof chars - 1); i++) {
        const char text[] = {chars[i % (sizeof chars - 1)],
                             chars[i / (sizeof chars - 1) % (sizeof chars - 1)],
                             chars[i / (sizeof chars - 1) / (sizeof chars - 1)], '\0'};
        scoped(json) json_t *doc = json_pack("{s:s, s:[s]}", text, text, "list", text);

        check_round_trip(doc);
    }
}

static void long_keys_use_the_question_mark_form(void **state)
{
    scoped_str key = mem_alloc(2001);
    scoped(json) json_t *doc = NULL;

    memset(key, 'k', 2000);
    doc = json_pack("{s:{s:i,s:[i]},s:s}", key, "a", 1, "b", 2, "z", "y");
    check_round_trip(doc);
}

/* What counts is the written form: a tab takes two characters, a control character four. */
static void keys_that_escapes_make_long_use_the_question_mark_form(void **state)
{
    static const struct {
        char fill;
        size_t len;
    } keys[] = {{'\t', 600}, {'\t', 1000}, {'\x01', 300}, {'\'', 999}, {'k', 1000}, {'k', 1001}};

    for (size_t i = 0; i < countof(keys); i++) {
        char key[1025] = "";
        scoped(json) json_t *doc = NULL;

        memset(key, keys[i].fill, keys[i].len);
        doc = json_pack("{s:[{s:i}]}", "list", key, 1);
        check_round_trip(doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_print_as_in_kubectl),
        cmocka_unit_test(written_yaml_reads_back),
        cmocka_unit_test(long_keys_use_the_question_mark_form),
        cmocka_unit_test(keys_that_escapes_make_long_use_the_question_mark_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
