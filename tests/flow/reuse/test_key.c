/* The key of a step's work, and the words of its commands. covers: everyday.md EVD-103, EVD-104 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/job/job.h"
#include "api/types/schema/walk.h"
#include "api/types/text/json_text.h"
#include "base/file.h"
#include "flow/reuse/command_words.h"
#include "flow/reuse/key.h"

static json_t *doc_of(const char *text)
{
    json_t *doc = json_read(text, strlen(text));

    check(text, doc != NULL);
    return doc;
}

static char *canonical(const char *text)
{
    scoped(json) json_t *doc = doc_of(text);
    struct buf out = {0};

    reuse_canonical(doc, &out);
    return buf_take(&out);
}

static void order_of_members_does_not_count_and_order_of_lists_does(void **state)
{
    scoped_str a =
        canonical("{\"spec\":{\"tasks\":[{\"name\":\"x\",\"replicas\":2}],\"minSuccess\":1}}");
    scoped_str b =
        canonical("{\"spec\":{\"minSuccess\":1,\"tasks\":[{\"replicas\":2,\"name\":\"x\"}]}}");
    scoped_str c = canonical("{\"spec\":{\"tasks\":[{\"name\":\"x\"},{\"name\":\"y\"}]}}");
    scoped_str d = canonical("{\"spec\":{\"tasks\":[{\"name\":\"y\"},{\"name\":\"x\"}]}}");

    assert_string_equal(a, b);
    assert_string_not_equal(c, d);
    assert_string_equal(a, "{\"minSuccess\":1,\"tasks\":[{\"name\":\"x\",\"replicas\":2}]}");
}

/* The walk over all rows of a job's specification. */
struct rows {
    const char *decisions; /* the text of decisions.txt */
    const struct schema *seen[256];
    size_t n_seen, n_rows;
};

/* The document in which only the member at the end of `path` is set, owned. A path is a list of member
 * names, each with `[]` behind it if it is a list. */
static char *with(const char *const *path, size_t depth)
{
    struct buf text = {0};

    buf_str(&text, "{\"spec\":");
    for (size_t i = 0; i < depth; i++) {
        size_t len = strlen(path[i]);
        bool list = len > 2 && strcmp(path[i] + len - 2, "[]") == 0;

        buf_printf(&text, "{\"%.*s\":%s", (int)(list ? len - 2 : len), path[i], list ? "[" : "");
    }
    buf_str(&text, "1");
    for (size_t i = depth; i-- > 0;) {
        size_t len = strlen(path[i]);

        buf_str(&text, len > 2 && strcmp(path[i] + len - 2, "[]") == 0 ? "]}" : "}");
    }
    buf_char(&text, '}');
    return buf_take(&text);
}

static void check_row(struct rows *rows, const struct schema *schema, const struct field *field,
                      const char **path, size_t depth)
{
    scoped_str counts = mem_printf("\n%s.%s counts\n", schema->name, field->name);
    scoped_str incidental = mem_printf("\n%s.%s incidental\n", schema->name, field->name);
    bool decided = strstr(rows->decisions, counts) || strstr(rows->decisions, incidental);
    scoped_str set = with(path, depth);
    scoped_str unset = with(path, depth - 1);
    scoped_str one = canonical(set);

    rows->n_rows++;
    if (!decided)
        check_fail("%s.%s: decide in tests/flow/reuse/decisions.txt whether it changes what a job "
                   "computes, and set .incidental in its row if it does not",
                   schema->name, field->name);
    check_int(incidental, field->incidental, strstr(rows->decisions, incidental) != NULL);
    check_int(set, strstr(one, "1") == NULL, field->incidental);
}

static void check_rows(struct rows *rows, const struct schema *schema, const char **path,
                       size_t depth)
{
    for (size_t i = 0; i < rows->n_seen; i++)
        if (rows->seen[i] == schema)
            return;
    assert_true(rows->n_seen < countof(rows->seen) && depth < 14);
    rows->seen[rows->n_seen++] = schema;
    for (const struct field *field = schema->fields; field && field->name; field++) {
        enum field_form form = field_shapes[field->type].form;
        scoped_str name = NULL;

        if (strchr(field->name, '.'))
            continue; /* a shorter name for a member of a member */
        name = mem_printf("%s%s", field->name, form == FORM_LIST ? "[]" : "");
        path[depth] = name;
        check_row(rows, schema, field, path, depth + 1);
        if (field->of && !field->incidental && form != FORM_MAP)
            check_rows(rows, field->of, path, depth + 1);
    }
}

static void each_row_of_a_job_is_decided(void **state)
{
    scoped_str file = source_path("tests/flow/reuse/decisions.txt");
    scoped(buf) struct buf text = {0};
    struct rows rows = {0};
    const char *path[16];
    struct error err = {0};

    buf_char(&text, '\n');
    check_ok(file, file_read(file, 1 << 20, &text, &err), err);
    rows.decisions = text.data;
    check_rows(&rows, &job_spec_schema, path, 0);
    check("all rows", rows.n_rows > 300);
}

static void sources_are_found_wherever_a_pod_refers_to_them(void **state)
{
    static const char spec[] =
        "{\"tasks\":[{\"template\":{\"spec\":{\"containers\":[{\"env\":[{\"valueFrom\":"
        "{\"configMapKeyRef\":{\"name\":\"c\",\"key\":\"k\"}}},{\"valueFrom\":{\"secretKeyRef\":"
        "{\"name\":\"s\",\"key\":\"p\"}}}],\"envFrom\":[{\"configMapRef\":{\"name\":\"all\"}},"
        "{\"secretRef\":{\"name\":\"alls\"}}]}],\"volumes\":[{\"configMap\":{\"name\":\"v\","
        "\"items\":[{\"key\":\"one\"}]}},{\"secret\":{\"secretName\":\"vs\"}},{\"projected\":"
        "{\"sources\":[{\"secret\":{\"name\":\"ps\"}}]}}]}}}]}";
    static const struct {
        bool secret;
        const char *name, *key;
    } want[] = {{false, "c", "k"},   {true, "s", "p"},   {false, "all", NULL}, {true, "alls", NULL},
                {false, "v", "one"}, {true, "vs", NULL}, {true, "ps", NULL}};
    scoped(json) json_t *doc = doc_of(spec);
    struct reuse_sources found = {0};

    reuse_sources_find(doc, &found);
    check_int("sources", found.count, countof(want));
    for (size_t i = 0; i < countof(want); i++) {
        check_int(want[i].name, found.items[i].secret, want[i].secret);
        check_str(want[i].name, found.items[i].name, want[i].name);
        check_str(want[i].name, found.items[i].key, want[i].key);
    }
    reuse_sources_release(&found);
}

static void each_part_of_a_key_counts(void **state)
{
    const struct sha256 one = {{1}}, two = {{2}};
    const struct reuse_key_parts parts[] = {
        {"ns", "{}", NULL, &one, 1}, {"other", "{}", NULL, &one, 1}, {"ns", "{1}", NULL, &one, 1},
        {"ns", "{}", "k", &one, 1},  {"ns", "{}", NULL, &two, 1},    {"ns", "{}", NULL, NULL, 0},
        {"ns{", "}", NULL, &one, 1},
    };
    struct sha256 keys[countof(parts)];

    for (size_t i = 0; i < countof(parts); i++) {
        reuse_key(&parts[i], &keys[i]);
        for (size_t k = 0; k < i; k++)
            check("different", !sha256_equal(&keys[i], &keys[k]));
    }
}

static void differences_are_named_by_their_member(void **state)
{
    static const struct {
        const char *before, *after, *want;
    } cases[] = {
        {"{\"a\":{\"command\":[\"x\",\"y\"]}}", "{\"a\":{\"command\":[\"x\",\"z\"]}}",
         "command changed"},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", "b is new"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", "b is gone"},
        {"{\"env\":[{\"name\":\"LR\",\"value\":\"1\"}]}",
         "{\"env\":[{\"name\":\"LR\",\"value\":\"2\"}]}", "value of LR changed"},
        {"{\"tasks\":[{\"name\":\"a\"}]}", "{\"tasks\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
         "tasks changed"},
        {"{\"a\":1}", "{\"a\":1}", ""},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *before = doc_of(cases[i].before);
        scoped(json) json_t *after = doc_of(cases[i].after);
        scoped(buf) struct buf out = {0};

        buf_str(&out, "");
        check_int(cases[i].after, reuse_difference(before, after, &out), *cases[i].want != '\0');
        check_str(cases[i].after, out.data, cases[i].want);
    }
}

static void words_are_split_where_a_shell_would(void **state)
{
    static const char spec[] =
        "{\"tasks\":[{\"template\":{\"spec\":{\"initContainers\":[{\"command\":[\"init.sh\"]}],"
        "\"containers\":[{\"command\":[\"sh\",\"-c\",\"sort <in.txt>out.txt;python 'a b.py' "
        "--x=y.csv "
        "(sub) && "
        "in.txt\"],\"args\":[\"last\"]},{\"workingDir\":\"/else\",\"command\":[\"not\"]}]}}}]}";
    scoped(json) json_t *doc = doc_of(spec);
    scoped(arena) struct arena *arena = arena_new(100);
    struct str_list words = reuse_command_words(doc, arena);
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < words.count; i++)
        buf_printf(&text, "%s ", words.items[i]);
    assert_string_equal(text.data,
                        "init.sh sh -c sort in.txt out.txt python a b.py --x y.csv sub last ");
    assert_null(reuse_working_dir(doc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_members_does_not_count_and_order_of_lists_does),
        cmocka_unit_test(each_row_of_a_job_is_decided),
        cmocka_unit_test(sources_are_found_wherever_a_pod_refers_to_them),
        cmocka_unit_test(each_part_of_a_key_counts),
        cmocka_unit_test(differences_are_named_by_their_member),
        cmocka_unit_test(words_are_split_where_a_shell_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
