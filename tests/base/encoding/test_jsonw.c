#include "tests/unit.h"

#include <jansson.h>
#include <string.h>

#include "base/encoding/jsonw.h"

static void strings_are_escaped_as_the_standard_asks(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name, *value, *want;
    } cases[] = {
        {"plain",                    "abc",                  "\"abc\""},
        {"empty",                    "",                     "\"\""},
        {"quote and backslash",      "a\"b\\c",              "\"a\\\"b\\\\c\""},
        {"short escapes",            "\b\f\n\r\t",           "\"\\b\\f\\n\\r\\t\""},
        {"other controls",           "\x01\x1f",             "\"\\u0001\\u001f\""},
        {"slash stays",              "a/b",                  "\"a/b\""},
        {"delete stays",             "\x7f",                 "\"\x7f\""},
        {"two bytes",                "\u00e4",               "\"\u00e4\""},
        {"three bytes",              "\u20ac",               "\"\u20ac\""},
        {"four bytes",               "\U0001F600",           "\"\U0001F600\""},
        {"stray continuation",       "a\x80z",               "\"a\uFFFDz\""},
        {"cut sequence",             "a\xe2\x82",            "\"a\uFFFD\uFFFD\""},
        {"overlong slash",           "\xc0\xaf",             "\"\uFFFD\uFFFD\""},
        {"overlong three",           "\xe0\x80\xaf",         "\"\uFFFD\uFFFD\uFFFD\""},
        {"surrogate",                "\xed\xa0\x80",         "\"\uFFFD\uFFFD\uFFFD\""},
        {"above the last character", "\xf4\x90\x80\x80",     "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},
        {"last character",           "\xf4\x8f\xbf\xbf",     "\"\xf4\x8f\xbf\xbf\""},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf out = {0};
        struct jsonw w = jsonw_to(&out);

        jsonw_str(&w, cases[i].value);
        check_str(cases[i].name, out.data, cases[i].want);
    }
}

static void what_needs_an_escape_is_found_at_every_place(void **state)
{
    static const char specials[] = {'"',    '\\', '\n', '\x1f', '\x7f', '\x80',
                                    '\xff', ' ',  '!',  '#',    ']'};

    for (size_t s = 0; s < countof(specials); s++) {
        for (size_t place = 0; place < 19; place++) {
            char text[19];
            scoped(buf) struct buf out = {0};
            scoped(buf) struct buf want = {0};
            struct jsonw w = jsonw_to(&out);

            memset(text, 'a', sizeof text);
            text[place] = specials[s];
            /* Writes one byte at a time, so no run of plain bytes is copied at once. */
            for (size_t i = 0; i < sizeof text; i++) {
                scoped(buf) struct buf one = {0};
                struct jsonw single = jsonw_to(&one);

                jsonw_strn(&single, text + i, 1);
                buf_add(&want, one.data + 1, one.len - 2);
            }
            jsonw_strn(&w, text, sizeof text);
            assert_memory_equal(out.data + 1, want.data, want.len);
            assert_int_equal(out.len, want.len + 2);
        }
    }
}

static void every_byte_gives_text_that_parses(void **state)
{
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char text[] = {'a', (char)first, (char)second, 'z'};
            struct buf out = {0};
            struct jsonw w = jsonw_to(&out);

            jsonw_strn(&w, text, sizeof text);

            json_t *value = json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

            if (!value)
                check_fail("bytes %02x %02x: %s", first, second, out.data);
            json_decref(value);
            buf_release(&out);
        }
    }
}

static void commas_are_placed_by_the_writer(void **state)
{
    scoped(buf) struct buf out = {0};
    struct jsonw w = jsonw_to(&out);

    jsonw_open(&w);
    jsonw_member_open(&w, "metadata");
    jsonw_member_str(&w, "name", "a");
    jsonw_member_open(&w, "labels");
    jsonw_close(&w);
    jsonw_member_int(&w, "generation", -3);
    jsonw_close(&w);
    jsonw_member_open_list(&w, "items");
    jsonw_int(&w, 1);
    jsonw_bool(&w, true);
    jsonw_open(&w);
    jsonw_close(&w);
    jsonw_open_list(&w);
    jsonw_close_list(&w);
    jsonw_str(&w, NULL);
    jsonw_raw(&w, "{\"x\":1}", 7);
    jsonw_close_list(&w);
    jsonw_member_bool(&w, "last", false);
    jsonw_member_raw(&w, "raw", "", 0);
    jsonw_member_time(&w, "at", 1767323045000);
    jsonw_close(&w);
    check_str("object", out.data,
              "{\"metadata\":{\"name\":\"a\",\"labels\":{},\"generation\":-3},"
              "\"items\":[1,true,{},[],null,{\"x\":1}],\"last\":false,\"raw\":null,"
              "\"at\":\"2026-01-02T03:04:05Z\"}");
}

static void optional_members_are_left_out_when_empty(void **state)
{
    scoped(buf) struct buf out = {0};
    struct jsonw w = jsonw_to(&out);

    jsonw_open(&w);
    jsonw_member_str_opt(&w, "a", NULL);
    jsonw_member_str_opt(&w, "b", "");
    jsonw_member_int_opt(&w, "c", 0);
    jsonw_member_bool_opt(&w, "d", false);
    jsonw_member_time_opt(&w, "e", 0);
    jsonw_member_str_opt(&w, "f", "x");
    jsonw_member_int_opt(&w, "g", 1);
    jsonw_member_bool_opt(&w, "h", true);
    jsonw_member_time_opt(&w, "i", 1000);
    jsonw_close(&w);
    check_str("object", out.data,
              "{\"f\":\"x\",\"g\":1,\"h\":true,\"i\":\"1970-01-01T00:00:01Z\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_escaped_as_the_standard_asks),
        cmocka_unit_test(what_needs_an_escape_is_found_at_every_place),
        cmocka_unit_test(every_byte_gives_text_that_parses),
        cmocka_unit_test(commas_are_placed_by_the_writer),
        cmocka_unit_test(optional_members_are_left_out_when_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
