/*
 * Tests of base/jsonscan: finds members, elements and ends of values in valid and malformed JSON
 * text.
 */
#include "tests/unit.h"

#include <string.h>

#include "base/encoding/jsonscan.h"

static const struct {
    const char *name, *text, *behind;
} values[] = {
    {"number", "12,3", ",3"},
    {"string with brackets", "\"}],\",1", ",1"},
    {"string with quotes", "\"a\\\"b\\\\\",1", ",1"},
    {"nested", "{\"a\":[1,{\"b\":\"]\"}]},1", ",1"},
    {"last of an object", "true}", "}"},
    {"last of a list", "null]", "]"},
    {"string without end", "\"abc", ""},
    {"string that ends in a backslash", "\"abc\\", ""},
    {"brackets without end", "[[{", ""},
    {"nothing", "", ""},
};

static void the_end_of_a_value_is_found(void **unused)
{
    for (size_t i = 0; i < countof(values); i++)
        check_str(values[i].name, jsonscan_skip(values[i].text), values[i].behind);
}

static const struct {
    const char *name, *text;
    bool is;
} objects[] = {
    {"empty", "{}", true},
    {"nested", "{\"a\":[1,{\"b\":[]},\"]\"],\"c\":{\"d\":{}}}", true},
    {"scalars", "{\"a\":true,\"b\":false,\"c\":null,\"d\":-0.5e+10,\"e\":0,\"f\":1E9}", true},
    {"escapes", "{\"a\\n\":\"\\u00e4\\\"\\\\\"}", true},
    {"not ASCII", "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}", true},
    {"nothing", "", false},
    {"a list", "[]", false},
    {"a string", "\"a\"", false},
    {"bytes behind it", "{}x", false},
    {"a second one", "{}{}", false},
    {"cut", "{\"a\":[1", false},
    {"cut in a string", "{\"a", false},
    {"cut in an escape", "{\"a\\", false},
    {"cut in an escape of four digits", "{\"a\\u00", false},
    {"an unknown escape", "{\"a\\x\":1}", false},
    {"a wrong bracket", "{\"a\":[1}}", false},
    {"no value", "{\"a\":}", false},
    {"no colon", "{\"a\"}", false},
    {"a comma too many", "{\"a\":1,}", false},
    {"a comma too many in a list", "{\"a\":[1,]}", false},
    {"no comma", "{\"a\":[1 2]}", false},
    {"a key that is no string", "{1:2}", false},
    {"a word", "{\"a\":truth}", false},
    {"a number that begins with zero", "{\"a\":01}", false},
    {"a number without digits", "{\"a\":-}", false},
    {"a fraction without digits", "{\"a\":1.}", false},
    {"an exponent without digits", "{\"a\":1e}", false},
    {"blanks", "{ \"a\":1}", false},
    {"a control character", "{\"a\":\"\n\"}", false},
    {"no UTF-8", "{\"a\":\"\xff\"}", false},
};

static void an_object_is_told_from_other_texts(void **unused)
{
    char deep[4 * JSONSCAN_DEPTH + 16] = "{\"a\":";

    for (size_t i = 0; i < countof(objects); i++)
        check_int(objects[i].name, jsonscan_is_object(objects[i].text, strlen(objects[i].text)),
                  objects[i].is);
    memset(deep + 5, '[', JSONSCAN_DEPTH);
    memset(deep + 5 + JSONSCAN_DEPTH, ']', JSONSCAN_DEPTH);
    deep[5 + 2 * JSONSCAN_DEPTH] = '}';
    check("too deep", !jsonscan_is_object(deep, strlen(deep)));
}

static const struct {
    const char *name, *text, *key, *begins;
} members[] = {
    {"the first", "{\"a\":1,\"b\":2}", "a", "1,\"b\":2}"},
    {"behind a nested one", "{\"a\":{\"b\":1},\"b\":2}", "b", "2}"},
    {"a key that begins alike", "{\"ab\":1,\"a\":2}", "a", "2}"},
    {"none of that name", "{\"a\":1}", "b", NULL},
    {"an empty object", "{}", "a", NULL},
    {"a list", "[1]", "a", NULL},
    {"blanks", "{ \"a\": 1}", "a", NULL},
    {"a key without value", "{\"a\"}", "a", NULL},
    {"a cut key", "{\"a", "a", NULL},
};

static void a_member_is_found_by_its_key(void **unused)
{
    for (size_t i = 0; i < countof(members); i++) {
        const char *value = jsonscan_member(members[i].text, members[i].key);

        check(members[i].name, (value != NULL) == (members[i].begins != NULL));
        if (value)
            check_str(members[i].name, value, members[i].begins);
    }
    check("no text", !jsonscan_member(NULL, "a"));
}

static void elements_come_one_by_one(void **unused)
{
    const char *at = "[1,[2,3],\"4\"]", *empty = "[]", *none = "{\"a\":1}", *cut = "[1,";

    check_str("first", jsonscan_next_element(&at), "1,[2,3],\"4\"]");
    check_str("second", jsonscan_next_element(&at), "[2,3],\"4\"]");
    check_str("third", jsonscan_next_element(&at), "\"4\"]");
    check("the end", !jsonscan_next_element(&at));
    check_str("where it ends", at, "]");
    check("of none", !jsonscan_next_element(&empty));
    check("of an object", !jsonscan_next_element(&none));
    check("one of a cut list", jsonscan_next_element(&cut) && !jsonscan_next_element(&cut));
}

static void strings_without_escapes_are_read_in_place(void **unused)
{
    size_t len = 0;

    check("plain", jsonscan_string("\"abc\",", &len) && len == 3);
    check("empty", jsonscan_string("\"\"", &len) && len == 0);
    check("escaped", !jsonscan_string("\"a\\u0062\"", &len));
    check("cut", !jsonscan_string("\"ab", &len));
    check("no string", !jsonscan_string("12", &len));
}

static void times_are_read_in_place(void **unused)
{
    int64_t ms = 7;

    check("a time", jsonscan_time("\"1970-01-01T00:00:02Z\",", &ms) && ms == 2000);
    check("none", !jsonscan_time(NULL, &ms));
    check("a word", !jsonscan_time("\"soon\"", &ms));
    check("a long one", !jsonscan_time("\"1970-01-01T00:00:02.000000000000000000000000000000000000"
                                       "000000000000000000000000000000000000000000Z\"",
                                       &ms));
    check("kept", ms == 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_value_is_found),
        cmocka_unit_test(an_object_is_told_from_other_texts),
        cmocka_unit_test(a_member_is_found_by_its_key),
        cmocka_unit_test(elements_come_one_by_one),
        cmocka_unit_test(strings_without_escapes_are_read_in_place),
        cmocka_unit_test(times_are_read_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
