#include "tests/unit.h"

#include "base/buf.h"

static void what_is_added_is_there_and_terminated(void **state)
{
    scoped(buf) struct buf buf = {0};

    buf_str(&buf, "pod");
    buf_char(&buf, '-');
    buf_int(&buf, 12);
    buf_printf(&buf, "/%s", "x");
    buf_add(&buf, "\0z", 2);
    buf_str(&buf, NULL);
    buf_add(&buf, NULL, 0);
    assert_int_equal(buf.len, 10);
    assert_memory_equal(buf.data, "pod-12/x\0z", 11);
}

static void integers_print_as_printf_would(void **state)
{
    static const int64_t cases[] = {0,   1,    -1,    9,         10,        99,
                                    100, -101, 12345, INT64_MAX, INT64_MIN, 1000000000000};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf buf = {0};
        scoped_str want = mem_printf("%" PRId64, cases[i]);

        buf_int(&buf, cases[i]);
        check_str(want, buf.data, want);
    }
}

static void a_short_form_ends_between_characters(void **state)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } rows[] = {{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aü", 2, "a…"}, {"aü", 3, "aü"},
                {"", 0, ""},       {"x", 0, "…"},       {"€", 2, "…"}};

    for (size_t i = 0; i < countof(rows); i++) {
        scoped(buf) struct buf buf = {0};

        buf_str_short(&buf, rows[i].text, rows[i].max);
        check_str(rows[i].text, buf.data ? buf.data : "", rows[i].want);
    }
}

static void long_formatted_text_fits(void **state)
{
    scoped(buf) struct buf buf = {0};

    for (int len = 0; len < 300; len++) {
        buf_clear(&buf);
        buf_printf(&buf, "%*d", len, 7);
        assert_int_equal(buf.len, len ? len : 1);
        assert_int_equal(strlen(buf.data), buf.len);
    }
}

static void reserving_once_moves_nothing_later(void **state)
{
    scoped(buf) struct buf buf = {0};

    buf_reserve(&buf, 10000);

    const char *data = buf.data;

    for (int i = 0; i < 10000; i++)
        buf_char(&buf, 'x');
    assert_ptr_equal(buf.data, data);
    assert_int_equal(strlen(buf.data), 10000);
}

static void taking_empties_the_buffer(void **state)
{
    struct buf buf = {0};
    scoped_str empty = buf_take(&buf);

    assert_string_equal(empty, "");
    buf_str(&buf, "text");

    scoped_str text = buf_take(&buf);

    assert_string_equal(text, "text");
    assert_null(buf.data);
    assert_int_equal(buf.cap, 0);
    buf_release(&buf);
    buf_release(NULL);
}

static void clearing_keeps_the_memory(void **state)
{
    scoped(buf) struct buf buf = {0};

    buf_clear(&buf);
    buf_str(&buf, "text");

    size_t cap = buf.cap;

    buf_clear(&buf);
    assert_string_equal(buf.data, "");
    assert_int_equal(buf.cap, cap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_there_and_terminated),
        cmocka_unit_test(integers_print_as_printf_would),
        cmocka_unit_test(a_short_form_ends_between_characters),
        cmocka_unit_test(long_formatted_text_fits),
        cmocka_unit_test(reserving_once_moves_nothing_later),
        cmocka_unit_test(taking_empties_the_buffer),
        cmocka_unit_test(clearing_keeps_the_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
