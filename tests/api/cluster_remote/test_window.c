/*
 * Tests how many requests may be under way at once.
 */
#include "tests/unit.h"

#include "api/cluster_remote/window.h"

static void answer(struct window *window, unsigned times, bool busy, int64_t took_ms)
{
    while (times--)
        window_answered(window, busy, took_ms);
}

static void good_answers_widen_the_window(void **state)
{
    struct window window;

    window_init(&window, 20);
    check_int("first", window.size, WINDOW_FIRST);
    answer(&window, WINDOW_GROWS_AFTER - 1, false, 1);
    check_int("not yet", window.size, WINDOW_FIRST);
    answer(&window, 1, false, 1);
    check_int("one more", window.size, WINDOW_FIRST + 1);
    answer(&window, 1000, false, 1);
    check_int("the most", window.size, 20);
}

static void an_overloaded_server_halves_the_window(void **state)
{
    struct window window;

    window_init(&window, 64);
    answer(&window, 1, true, 1);
    check_int("once", window.size, WINDOW_FIRST / 2);
    answer(&window, 10, true, 1);
    check_int("the least", window.size, WINDOW_LEAST);
    answer(&window, 29 * WINDOW_GROWS_AFTER, false, 1);
    check_int("recovered", window.size, WINDOW_LEAST + 29);
}

static void slow_answers_halve_the_window_once_for_each_group(void **state)
{
    struct window window;

    window_init(&window, 64);
    answer(&window, WINDOW_SAMPLES, false, WINDOW_SLOW_MS + 1);
    check_int("one group", window.size, WINDOW_FIRST / 2);
    answer(&window, WINDOW_SAMPLES, false, WINDOW_SLOW_MS + 1);
    check_int("two groups", window.size, WINDOW_FIRST / 4);
}

static void a_few_slow_answers_do_no_harm(void **state)
{
    struct window window;

    window_init(&window, 64);
    answer(&window, 3, false, WINDOW_SLOW_MS + 1);
    answer(&window, WINDOW_SAMPLES - 3, false, 1);
    check("grown", window.size > WINDOW_FIRST);
}

static void a_small_limit_holds_from_the_start(void **state)
{
    struct window window;

    window_init(&window, 4);
    check_int("size", window.size, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers_widen_the_window),
        cmocka_unit_test(an_overloaded_server_halves_the_window),
        cmocka_unit_test(slow_answers_halve_the_window_once_for_each_group),
        cmocka_unit_test(a_few_slow_answers_do_no_harm),
        cmocka_unit_test(a_small_limit_holds_from_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
