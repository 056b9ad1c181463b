/*
 * Tests api/types/text/yaml: parsing, line numbers, limits. covers: reliability.md L-07 L-08 L-09
 * L-10 FZ-02
 */
#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/buf.h"

static struct yaml_stream *parse(const char *text, struct error *err)
{
    return yaml_parse(text, strlen(text), &yaml_limits_default, err);
}

static const struct {
    const char *yaml, *json; /* `json`: all documents of the stream as JSON, one per line */
} good[] = {
    {"a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}\n"},
    {"{\"a\": {\"b\": [1, 2.5, true, null, \"\\u00e4\"]}}",
     "{\"a\":{\"b\":[1,2.5,true,null,\"ä\"]}}\n"},
    {"a:\n- b\n- - c\n  - d\n", "{\"a\":[\"b\",[\"c\",\"d\"]]}\n"},
    {"", ""},
    {"# only a comment\n---\n---\n# and another\n", ""},
    {"a: 1\n---\nb: 2\n...\n---\nc: 3\n", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
    {"[y, Y, yes, on, ON, true, True, n, no, off, false, FALSE]",
     "[true,true,true,true,true,true,true,false,false,false,false,false]\n"},
    {"['yes', \"on\", !!str true, yEs, tRUE]", "[\"yes\",\"on\",\"true\",\"yEs\",\"tRUE\"]\n"},
    {"[null, ~, Null, '', 'null', ]", "[null,null,null,\"\",\"null\"]\n"},
    {"a:\nb:", "{\"a\":null,\"b\":null}\n"},
    {"[0, -1, +2, 0x1F, 0o17, 017, 0b101, 1_000, 08]", "[0,-1,2,31,15,15,5,1000,8]\n"},
    {"[9223372036854775807, -9223372036854775808, -0x10]",
     "[9223372036854775807,-9223372036854775808,-16]\n"},
    {"[1.5, .5, 1e3, 1.0, -2.5e-1, 1., 0.1]", "[1.5,0.5,1000,1,-0.25,1,0.1]\n"},
    {"[1.2.3, 2026-01-02, 1:30, 12h, '1', 1 2, -, +, 0x, 0xZ, e3, 1e, 500m]",
     "[\"1.2.3\",\"2026-01-02\",\"1:30\",\"12h\",\"1\",\"1 "
     "2\",\"-\",\"+\",\"0x\",\"0xZ\",\"e3\",\"1e\",\"500m\"]\n"},
    {"1: a\ntrue: b\nyes2: c\n~: d\n1.50: e\n",
     "{\"1\":\"a\",\"true\":\"b\",\"yes2\":\"c\",\"null\":\"d\",\"1.5\":\"e\"}\n"},
    {"a: |\n  x\n   y\n\nb: |-\n  x\nc: >\n  x\n  y\nd: |+\n  x\n\n",
     "{\"a\":\"x\\n y\\n\",\"b\":\"x\",\"c\":\"x y\\n\",\"d\":\"x\\n\\n\"}\n"},
    {"a: &x {b: 1}\nc: *x\nd: [*x]\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1}]}\n"},
    {"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}\n"},
    {"base: &b {p: 1, q: 2}\none: {<<: *b, q: 3}\n",
     "{\"base\":{\"p\":1,\"q\":2},\"one\":{\"q\":3,\"p\":1}}\n"},
    {"[&a {x: 1}, &b {x: 2, z: 4}, {p: 3, <<: [*a, *b]}, {'<<': 5}]",
     "[{\"x\":1},{\"x\":2,\"z\":4},{\"p\":3,\"x\":1,\"z\":4},{\"<<\":5}]\n"},
    {"[!!int '5', !!float 5, !!bool 'yes', !!null '', !custom 5, !!timestamp 2026-01-01]",
     "[5,5,true,null,\"5\",\"2026-01-01\"]\n"},
    {"y: 1\n'n': 2\n", "{\"true\":1,\"n\":2}\n"}, /* kubectl reads the key y as true, too */
    {"%YAML 1.1\n---\na: b\n", "{\"a\":\"b\"}\n"},
    {"\xEF\xBB\xBF"
     "a: b\n",
     "{\"a\":\"b\"}\n"},
    {"a: b\r\nc: d\r\n", "{\"a\":\"b\",\"c\":\"d\"}\n"},
    {"\xef\xbb\xbf# by an editor\r\na: b\r\n", "{\"a\":\"b\"}\n"},
    {"\xef\xbb\xbf---\na: b\n", "{\"a\":\"b\"}\n"},
    {"just text", "\"just text\"\n"},
};

static void documents_parse_as_in_kubectl(void **state)
{
    for (size_t i = 0; i < countof(good); i++) {
        struct error err = {0};
        scoped(yaml) struct yaml_stream *stream = parse(good[i].yaml, &err);
        scoped(buf) struct buf json = {0};

        check_ok(good[i].yaml, stream, err);
        for (size_t j = 0; j < yaml_count(stream); j++) {
            json_text(yaml_document(stream, j), &json);
            buf_char(&json, '\n');
        }
        check_str(good[i].yaml, json.data ? json.data : "", good[i].json);
    }
}

static const struct {
    const char *yaml, *message;
} bad[] = {
    {"a: b\n\tc: d\n", "line 2, column 1: a tab in the indentation: YAML is indented with spaces"},
    {"a:\n\t- b\n", "line 2, column 1: a tab in the indentation"},
    {"a: 1\nname:foo\nb: 2\n", "line 2, column 1: a space is missing after the colon"},
    {"spec:\n  - name:foo\n    image: x\n", "a ':' where no key can be"},
    {"a: \"open\nb: c\n", "line 3, column 1: a quote is never closed; it began in line 1"},
    {"a: 'open\nb: c\n", "a quote is never closed; it began in line 1"},
    {"msg: error: no\n",
     "line 1, column 11: a ':' where no key can be: put quotes around a value that contains ': '"},
    {"a: [1, 2\nb: 3\n", "a '[' is not closed"},
    {"a: {b: 1\nc: 3\n", "a '{' is not closed"},
    {"a: 1\n  b: 2\n", "line 2, column 4: a ':' where no key can be"},
    {"a:\n    b: 1\n  c: 2\n", "line 3, column 3: this line does not fit in"},
    {"a:\n  - x\n  y\n", "line 3, column 3: a key without ':'"},
    {"a:\n  - x\n  y: 1\n", "line 3, column 3: this line does not fit in"},
    {"a: @x\n", "line 1, column 4: a value cannot begin with this character: put quotes around it"},
    {"a: `x`\n", "put quotes around it"},
    {"a: \"\\q\"\n", "an unknown escape"},
    {"a: - b\n", "a list entry '-' cannot be here"},
    {"a: 1\na: 2\n", "line 2, column 1: duplicate key \"a\""},
    {"x:\n  - {b: 1, 'b': 2}\n", "line 2, column 12: duplicate key \"b\""},
    {"a: *x\n", "line 1, column 4: the alias *x has no anchor &x before it"},
    {"a: &x [*x]\n", "the alias *x is inside the value it stands for"},
    {"a: &x {b: [{c: *x}]}\n", "the alias *x is inside the value it stands for"},
    {"{<<: 5}\n", "<< merges a mapping or a list of mappings"},
    {"{<<: [5]}\n", "<< merges a mapping"},
    {"{<<: [{a: 1}, x]}\n", "<< merges a mapping"},
    {"[a]: b\n", "a key must be a word"},
    {"{[a, b]: c}\n", "a key must be a word"},
    {"[&k x, {*k : 1}]\n", "a key must be a word"},
    {"a: 9223372036854775808\n",
     "9223372036854775808 does not fit into a 64-bit integer: put quotes around it"},
    {"a: -0x8000000000000001\n", "does not fit into a 64-bit integer"},
    {"a: .inf\n", ".inf is no number JSON has"},
    {"a: 1e999\n", "1e999 is no number JSON has"},
    {"a: !!int x\n", "\"x\" is not what its tag !!int says"},
    {"a: \"x\\0y\"\n", "text cannot contain a NUL character"},
    {"\"x\\0y\": 1\n", "a key cannot contain a NUL character"},
    {"a: \x01\n", "line 1, column 4: a control character"},
    {"a: b\nc: \xff\n", "line 2, column 4: the text is not UTF-8"},
    {"\xff\xfe"
     "a",
     "line 1, column 1: the text is UTF-16"},
    {"a: 1\n]\n", "line 2"},
    {"%YAML 3.0\n---\na: 1\n", "this %YAML version is not supported"},
};

static void syntax_errors_have_a_hint_and_a_position(void **state)
{
    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = {0};

        check_error(bad[i].yaml, parse(bad[i].yaml, &err), err, ERR_BAD_REQUEST);
        check_has(bad[i].yaml, err.message, "line ");
        check_has(bad[i].yaml, err.message, bad[i].message);
    }
}

static const char flow[] = "# a comment\n"         /* 1 */
                           "apiVersion: v1\n"      /* 2 */
                           "metadata:\n"           /* 3 */
                           "  labels:\n"           /* 4 */
                           "    volcano.sh/x: y\n" /* 5 */
                           "spec:\n"               /* 6 */
                           "  flows:\n"            /* 7 */
                           "  - name: ä\n"         /* 8 */
                           "  - dependsOn:\n"      /* 9 */
                           "      targets: [a,\n"  /* 10 */
                           "        b]\n"          /* 11 */
                           "    name: c\n"         /* 12 */
                           "---\n"                 /* 13 */
                           "spec:\n"               /* 14 */
                           "  x: &a\n"             /* 15 */
                           "    k: [1]\n"          /* 16 */
                           "  y: *a\n";            /* 17 */

static const struct {
    size_t document;
    const char *path;
    size_t line;
} places[] = {
    {0, "", 2},
    {0, "apiVersion", 2},
    {0, "metadata.labels", 4},
    {0, "metadata.labels[volcano.sh/x]", 5},
    {0, "metadata.labels[none]", 4},
    {0, "spec.flows", 7},
    {0, "spec.flows[0]", 8},
    {0, "spec.flows[0].name", 8},
    {0, "spec.flows[0].missing", 8},
    {0, "spec.flows[1].dependsOn", 9},
    {0, "spec.flows[1].dependsOn.targets[1]", 11},
    {0, "spec.flows[1].name", 12},
    {0, "spec.flows[7]", 7},
    {0, "nowhere", 2},
    {1, "spec", 14},
    {1, "spec.x.k[0]", 16},
    {1, "spec.y.k", 17},
    {9, "spec", 1},
};

static void paths_have_lines(void **state)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream = parse(flow, &err);

    check_ok("parse", stream, err);
    for (size_t i = 0; i < countof(places); i++)
        check_int(places[i].path, yaml_line(stream, places[i].document, places[i].path),
                  places[i].line);
}

/* Appends `before`, `count` times `part`, and `after`. */
static void repeat(struct buf *out, const char *before, const char *part, size_t count,
                   const char *after)
{
    buf_clear(out);
    buf_str(out, before);
    for (size_t i = 0; i < count; i++)
        buf_str(out, part);
    buf_str(out, after);
}

static bool accepted(const struct buf *text, const struct yaml_limits *limits, struct error *err)
{
    scoped(yaml) struct yaml_stream *stream = yaml_parse(text->data, text->len, limits, err);

    return stream != NULL;
}

static const struct {
    const char *name, *before, *part, *after;
    size_t at; /* the largest count that is accepted */
    struct yaml_limits limits;
    const char *message;
} bounds[] = {
    {"depth", "", "[", "", 7, {1000, 9, 7, 9, 9, 999, 9}, "nested deeper than 7 levels"},
    {"values", "- 1\n", "- 1\n", "", 18, {1000, 9, 9, 9, 9, 20, 9}, "more than 20 values"},
    {"documents", "", "a\n---\n", "", 5, {1000, 5, 9, 9, 9, 999, 9}, "more than 5 documents"},
    {"anchors", "", "- &a 1\n", "", 4, {1000, 9, 9, 4, 9, 999, 9}, "more than 4 anchors"},
    {"aliases", "- &a 1\n", "- *a\n", "", 4, {1000, 9, 9, 4, 4, 999, 99}, "more than 4 aliases"},
    {"expanded",
     "- &a [1, 1, 1]\n",
     "- *a\n",
     "",
     5,
     {1000, 9, 9, 9, 99, 999, 20},
     "the aliases of this text stand for more than 20 values"},
    {"bytes", "", "aaaaa", "", 20, {100, 9, 9, 9, 9, 999, 9}, "the limit is 100"},
};

static void limits_hold_at_plus_one_and_times_ten(void **state)
{
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < countof(bounds); i++) {
        const size_t beyond[] = {bounds[i].at + 1, bounds[i].at * 10};
        struct error err = {0};

        repeat(&text, bounds[i].before, bounds[i].part, bounds[i].at, bounds[i].after);
        if (*bounds[i].part == '[') /* closes the lists, so that the limit is the only error */
            for (size_t j = 0; j < bounds[i].at; j++)
                buf_char(&text, ']');
        check_ok(bounds[i].name, accepted(&text, &bounds[i].limits, &err), err);
        for (size_t j = 0; j < countof(beyond); j++) {
            repeat(&text, bounds[i].before, bounds[i].part, beyond[j], bounds[i].after);
            check(bounds[i].name, !accepted(&text, &bounds[i].limits, &err));
            check_has(bounds[i].name, err.message, bounds[i].message);
            check_has(bounds[i].name, err.message, "line ");
        }
    }
}

/* Beyond the limit libyaml would run for hours. The test ends, so libyaml is not called. */
static void tag_directives_are_limited(void **state)
{
    static const struct {
        const char *name, *line_break;
        int directives;
        bool accepted;
    } cases[] = {
        {"a thousand", "\n", 1000, true},
        {"more", "\n", 1002, false},
        {"a flood", "\n", 300000, false},
        {"as on old machines", "\r", 300000, false},
        {"next lines", "\xC2\x85", 300000, false},
        {"separated lines", "\xE2\x80\xA8", 300000, false},
        {"paragraphs", "\xE2\x80\xA9", 300000, false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf text = {0};
        struct error err = {0};

        for (int n = 0; n < cases[i].directives; n++)
            buf_printf(&text, "%%TAG !t%d! tag:example.org,2000:%s", n, cases[i].line_break);
        buf_str(&text, "--- a\n");
        check_int(cases[i].name, accepted(&text, &yaml_limits_default, &err), cases[i].accepted);
        if (!cases[i].accepted)
            check_has(cases[i].name, err.message, "more than 1000 %TAG directives");
    }
}

static void empty_text_has_no_document(void **state)
{
    scoped(yaml_reader) struct yaml_reader *reader = yaml_reader_new(NULL, 0, &yaml_limits_default);
    scoped(json) json_t *doc = NULL;
    struct error err = {0};

    check("read", yaml_reader_next(reader, &doc, &err));
    check("nothing", !doc);
}

static void alias_expansion_is_limited(void **state)
{
    static const char laughs[] =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
        "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
        "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    scoped(buf) struct buf text = {0};
    struct error err = {0};

    check_error("laughs", parse(laughs, &err), err, ERR_BAD_REQUEST);
    check_has("laughs", err.message, "stand for more than 200000 values");

    /* A long text counts as more than one value. */
    buf_str(&text, "a: &a ");
    for (int i = 0; i < 1000000; i++)
        buf_char(&text, 'x');
    buf_str(&text, "\nb: [");
    for (int i = 0; i < 900; i++)
        buf_str(&text, "*a,");
    buf_str(&text, "]\n");
    check_error("text", parse(text.data, &err), err, ERR_BAD_REQUEST);

    /* The depths of nested aliases add up. */
    buf_clear(&text);
    buf_str(&text, "x0: &x0 [[[[[[[[[[1]]]]]]]]]]\n");
    for (int i = 1; i < 100; i++)
        buf_printf(&text, "x%d: &x%d [[[[[[[[[[*x%d]]]]]]]]]]\n", i, i, i - 1);
    check_error("depth", parse(text.data, &err), err, ERR_BAD_REQUEST);
    check_has("depth", err.message, "nested deeper than 128 levels");
}

static void aliases_are_copies(void **state)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream = parse("a: &x {k: [1]}\nb: *x\n", &err);
    json_t *doc = yaml_document(stream, 0);

    json_array_append_new(json_object_get(json_object_get(doc, "a"), "k"), json_integer(2));
    assert_int_equal(json_array_size(json_object_get(json_object_get(doc, "b"), "k")), 1);
}

static void reader_returns_documents_in_order(void **state)
{
    static const char text[] = "a: ä\n---\nb: 2\n---\nc: [\n";
    scoped(yaml_reader) struct yaml_reader *reader =
        yaml_reader_new(text, sizeof text - 1, &yaml_limits_default);
    struct error err = {0};
    json_t *doc;

    assert_true(yaml_reader_next(reader, &doc, &err) && json_object_get(doc, "a"));
    json_decref(doc);
    assert_true(yaml_reader_next(reader, &doc, &err) && json_object_get(doc, "b"));
    assert_int_equal(yaml_reader_line(reader), 2);
    assert_int_equal(yaml_reader_offset(reader), 6);
    json_decref(doc);
    assert_false(yaml_reader_next(reader, &doc, &err));
    assert_null(doc);
    check_has("error", err.message, "line ");
    /* Further calls after the end give no document. */
    assert_true(yaml_reader_next(reader, &doc, &err));
    assert_null(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_parse_as_in_kubectl),
        cmocka_unit_test(syntax_errors_have_a_hint_and_a_position),
        cmocka_unit_test(paths_have_lines),
        cmocka_unit_test(limits_hold_at_plus_one_and_times_ten),
        cmocka_unit_test(tag_directives_are_limited),
        cmocka_unit_test(empty_text_has_no_document),
        cmocka_unit_test(alias_expansion_is_limited),
        cmocka_unit_test(aliases_are_copies),
        cmocka_unit_test(reader_returns_documents_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
