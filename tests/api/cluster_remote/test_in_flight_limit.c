/*
 * Tests how many requests may be under way at once.
 */
#include "tests/unit.h"

#include "api/cluster_remote/in_flight_limit.h"

static void answer(struct in_flight_limit *limit, unsigned times, bool busy, int64_t took_ms)
{
    while (times--)
        in_flight_limit_answered(limit, busy, took_ms);
}

static void good_answers_widen_the_window(void **state)
{
    struct in_flight_limit limit;

    in_flight_limit_init(&limit, 20);
    check_int("first", limit.size, IN_FLIGHT_FIRST);
    answer(&limit, IN_FLIGHT_GROWS_AFTER - 1, false, 1);
    check_int("not yet", limit.size, IN_FLIGHT_FIRST);
    answer(&limit, 1, false, 1);
    check_int("one more", limit.size, IN_FLIGHT_FIRST + 1);
    answer(&limit, 1000, false, 1);
    check_int("the most", limit.size, 20);
}

static void an_overloaded_server_halves_the_window(void **state)
{
    struct in_flight_limit limit;

    in_flight_limit_init(&limit, 64);
    answer(&limit, 1, true, 1);
    check_int("once", limit.size, IN_FLIGHT_FIRST / 2);
    answer(&limit, 10, true, 1);
    check_int("the least", limit.size, IN_FLIGHT_LEAST);
    answer(&limit, 29 * IN_FLIGHT_GROWS_AFTER, false, 1);
    check_int("recovered", limit.size, IN_FLIGHT_LEAST + 29);
}

static void slow_answers_halve_the_window_once_for_each_group(void **state)
{
    struct in_flight_limit limit;

    in_flight_limit_init(&limit, 64);
    answer(&limit, IN_FLIGHT_SAMPLES, false, IN_FLIGHT_SLOW_MS + 1);
    check_int("one group", limit.size, IN_FLIGHT_FIRST / 2);
    answer(&limit, IN_FLIGHT_SAMPLES, false, IN_FLIGHT_SLOW_MS + 1);
    check_int("two groups", limit.size, IN_FLIGHT_FIRST / 4);
}

static void a_few_slow_answers_do_no_harm(void **state)
{
    struct in_flight_limit limit;

    in_flight_limit_init(&limit, 64);
    answer(&limit, 3, false, IN_FLIGHT_SLOW_MS + 1);
    answer(&limit, IN_FLIGHT_SAMPLES - 3, false, 1);
    check("grown", limit.size > IN_FLIGHT_FIRST);
}

static void a_small_limit_holds_from_the_start(void **state)
{
    struct in_flight_limit limit;

    in_flight_limit_init(&limit, 4);
    check_int("size", limit.size, 4);
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
