/*
 * Tests api/types/selector. covers: kube-api.md 67 68 69 70; reliability.md L-31 FZ-07; see
 * kube-api.md 9.1, 9.2
 */
#include "tests/unit.h"

#include "api/types/labels.h"

static const struct kv labels[] = {
    {"env", "a"}, {"app.k8s.io/name", "x"}, {"n", "5"}, {"empty", ""}};
static const struct meta meta = {.labels = labels, .n_labels = countof(labels)};

static const struct {
    const char *text;
    bool matches;
} good[] = {
    {"", true},
    {"  ", true},
    {"env=a", true},
    {"env==a", true},
    {" env = a , n=5 ", true},
    {"env=b", false},
    {"env!=b", true},
    {"env!=a", false},
    {"none!=a", true},
    {"none=a", false},
    {"env", true},
    {"none", false},
    {"!env", false},
    {"!none", true},
    {"! none", true},
    {"env in (a,b)", true},
    {"env in (b)", false},
    {"env notin (b,c)", true},
    {"env notin (a)", false},
    {"none notin (a)", true},
    {"env in (a,b),!z", true},
    {"app.k8s.io/name=x", true},
    {"empty=", true},
    {"empty=,env=a", true},
    {"env=", false},
    {"empty in ()", true},
    {"empty in (a,)", true},
    {"env in (,a)", true},
    {"n>4", true},
    {"n>5", false},
    {"n<6", true},
    {"env>1", false},
    {"none<1", false},
    {"in in (in)", false},
    {"notin", false},
    {"env=a,env!=a", false},
};

static void selectors_match_as_in_kubernetes(void **state)
{
    for (size_t i = 0; i < countof(good); i++) {
        struct error err = {0};
        scoped(selector) struct selector *selector = selector_parse(good[i].text, &err);
        scoped(buf) struct buf printed = {0};

        check_ok(good[i].text, selector, err);
        check_int(good[i].text, selector_matches(selector, &meta), good[i].matches);

        selector_print(selector, &printed);

        scoped(selector) struct selector *again =
            selector_parse(printed.data ? printed.data : "", &err);

        check_ok(good[i].text, again, err);
        check_int(good[i].text, selector_matches(again, &meta), good[i].matches);
    }
    assert_true(selector_matches(NULL, &meta));
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"a in b", "unable to parse requirement: found 'b' expected: '('"},
    {"=a", "found '=', expected: !, identifier, or 'end of string'"},
    {",a", "found ',', expected: !, identifier, or 'end of string'"},
    {"a,", "found '', expected: identifier after ','"},
    {"a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"},
    {"!a=b", "found '=', expected: ',' or 'end of string'"},
    {"a=b c", "found 'c', expected: ',' or 'end of string'"},
    {"a in (b", "found '', expected: ',' or ')'"},
    {"a in (b c)", "found 'c', expected: ',' or ')'"},
    {"a=(", "found '(', expected: identifier"},
    {"!", "found '', expected: identifier"},
    {"a/b/c=d",
     "unable to parse requirement: invalid label key \"a/b/c\": a qualified name must consist of"},
    {"a=b/c", "Invalid value: \"b/c\": a valid label must be"},
    {"a>b", "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"},
    {"a>", "must be an integer"},
    {"ä=b", "invalid label key"},
};

static void broken_selectors_are_explained(void **state)
{
    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = {0};

        check_error(bad[i].text, selector_parse(bad[i].text, &err), err, ERR_BAD_REQUEST);
        check_has(bad[i].text, err.message, bad[i].message);
    }
}

static void selectors_are_bounded(void **state)
{
    for (size_t terms = 64; terms <= 640; terms = terms == 64 ? 65 : terms * 10 - 10) {
        scoped(buf) struct buf text = {0};

        for (size_t j = 0; j < terms; j++)
            buf_str(&text, j ? ",a=b" : "a=b");

        scoped(selector) struct selector *selector = selector_parse(text.data, NULL);

        check_int("terms", selector != NULL, terms == 64);
    }
    for (size_t len = 4096; len <= 40960; len = len == 4096 ? 4097 : len * 10 - 10) {
        scoped_str text = mem_alloc(len + 1);

        memset(text, ' ', len);
        text[0] = text[2] = 'a';
        text[1] = '=';

        scoped(selector) struct selector *selector = selector_parse(text, NULL);

        check_int("bytes", selector != NULL, len == 4096);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_match_as_in_kubernetes),
        cmocka_unit_test(broken_selectors_are_explained),
        cmocka_unit_test(selectors_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
