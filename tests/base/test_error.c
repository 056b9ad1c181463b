#include "tests/unit.h"

#include <errno.h>

static void setting_an_error_returns_false_and_fills_it(void **state)
{
    struct error err = {0};

    assert_false(error_set(&err, ERR_INVALID, "spec.tasks[0].name", "must be %s", "a DNS label"));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, "spec.tasks[0].name");
    assert_string_equal(err.message, "must be a DNS label");
    assert_false(error_set(NULL, ERR_INVALID, "", "no error is requested"));
    error_prefix(NULL, "x");
}

static void codes_have_status_and_reason(void **state)
{
    static const struct {
        const char *name;
        enum error_code code;
        int status;
        const char *reason;
    } cases[] = {
        {"not found", ERR_NOT_FOUND, 404, "NotFound"},
        {"conflict", ERR_CONFLICT, 409, "Conflict"},
        {"exists", ERR_EXISTS, 409, "AlreadyExists"},
        {"gone", ERR_GONE, 410, "Expired"},
        {"invalid", ERR_INVALID, 422, "Invalid"},
        {"storage", ERR_STORAGE, 507, "InsufficientStorage"},
        {"out of range", (enum error_code)999, 500, "InternalError"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        check_int(cases[i].name, error_http_status(cases[i].code), cases[i].status);
        check_str(cases[i].name, error_reason(cases[i].code), cases[i].reason);
    }
}

static void arguments_may_point_into_the_error(void **state)
{
    struct error err = {0};

    error_set(&err, ERR_INVALID, "spec", "inner");
    error_set(&err, ERR_CONFLICT, err.field, "outer: %s", err.message);
    assert_string_equal(err.field, "spec");
    assert_string_equal(err.message, "outer: inner");
}

static void context_goes_in_front(void **state)
{
    struct error err = {0};

    error_set(&err, ERR_NOT_FOUND, "", "no such template");
    error_prefix(&err, "step %s: ", "train");
    error_prefix(&err, "flow %s: ", "ml");
    assert_string_equal(err.message, "flow ml: step train: no such template");
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void long_text_is_cut_between_characters(void **state)
{
    struct error err = {0};
    char text[3 * ERROR_MESSAGE_MAX];

    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 4 < sizeof text; i += 3)
            memcpy(text + i, "\u20ac", 4); /* three bytes and the terminating NUL */
        error_set(&err, ERR_INVALID, text, "%s", text);

        size_t len = strlen(err.message), field_len = strlen(err.field);

        assert_in_range(len, ERROR_MESSAGE_MAX - 3, ERROR_MESSAGE_MAX - 1);
        assert_int_equal((len - shift) % 3, 0);
        assert_int_equal((field_len - shift) % 3, 0);

        error_set(&err, ERR_INVALID, "", "b");
        error_prefix(&err, "%s", text);
        len = strlen(err.message);
        assert_in_range(len, ERROR_MESSAGE_MAX - 3, ERROR_MESSAGE_MAX - 1);
        assert_string_equal(err.message + len - 4, "\u20acb");
    }
}

static void errno_is_told_in_words(void **state)
{
    static const struct {
        int number;
        enum error_code code;
        const char *message;
    } cases[] = {
        {ENOENT, ERR_NOT_FOUND, "open a: No such file or directory"},
        {-ENOENT, ERR_NOT_FOUND, "open a: No such file or directory"},
        {EACCES, ERR_INTERNAL, "open a: Permission denied"},
        {ENOSPC, ERR_STORAGE, "open a: No space left on device"},
        {9999, ERR_INTERNAL, "open a: error 9999"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};

        assert_false(error_errno(&err, cases[i].number, "open %s", "a"));
        check_int(cases[i].message, err.code, cases[i].code);
        check_str(cases[i].message, err.message, cases[i].message);
    }
}

static void the_reason_survives_a_long_name(void **state)
{
    struct error err = {0};
    char name[2 * ERROR_MESSAGE_MAX];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    error_errno(&err, EACCES, "%s", name);
    check_has("long name", err.message, "x: Permission denied");
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_MAX - 1);
}

static void a_list_folds_into_one_error(void **state)
{
    struct error_list list = {0};
    struct error err = {0};

    assert_true(error_list_ok(&list, &err));
    assert_int_equal(err.code, ERR_NONE);

    error_list_add(&list, ERR_INVALID, "spec.a", "must be %d", 1);
    assert_false(error_list_ok(&list, &err));
    assert_string_equal(err.field, "spec.a");
    assert_string_equal(err.message, "must be 1");

    error_list_append(&list, &(struct error){.code = ERR_TOO_LARGE, .message = "too large"});
    assert_false(error_list_ok(&list, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, "");
    assert_string_equal(err.message, "spec.a: must be 1; too large");
    assert_false(error_list_ok(&list, NULL));

    error_list_release(&list);
    assert_true(error_list_ok(&list, &err));
    error_list_release(&list);
}

static void a_list_counts_what_it_does_not_keep(void **state)
{
    struct error_list list = {0};
    struct error err = {0};

    for (int i = 0; i < ERROR_LIST_MAX + 50; i++)
        error_list_add(&list, ERR_INVALID, "spec", "finding number %d of a long list", i);
    assert_int_equal(list.count, ERROR_LIST_MAX);
    assert_int_equal(list.dropped, 50);
    check_str("last kept", list.items[ERROR_LIST_MAX - 1].message,
              "finding number 99 of a long list");

    assert_false(error_list_ok(&list, &err));

    size_t shown = 0;

    for (const char *at = err.message; (at = strstr(at, "finding number")); at++)
        shown++;

    scoped_str tail = mem_printf("; and %zu more", ERROR_LIST_MAX + 50 - shown);

    check_has("tail", err.message, tail);
    assert_string_equal(err.message + strlen(err.message) - strlen(tail), tail);
    error_list_release(&list);
}

static void appending_an_element_of_the_list_itself_is_fine(void **state)
{
    struct error_list list = {0};

    error_list_add(&list, ERR_INVALID, "f", "m");
    for (int i = 0; i < 20; i++)
        error_list_append(&list, &list.items[0]);
    assert_int_equal(list.count, 21);
    assert_string_equal(list.items[20].message, "m");
    error_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_an_error_returns_false_and_fills_it),
        cmocka_unit_test(codes_have_status_and_reason),
        cmocka_unit_test(arguments_may_point_into_the_error),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(errno_is_told_in_words),
        cmocka_unit_test(the_reason_survives_a_long_name),
        cmocka_unit_test(a_list_folds_into_one_error),
        cmocka_unit_test(a_list_counts_what_it_does_not_keep),
        cmocka_unit_test(appending_an_element_of_the_list_itself_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
