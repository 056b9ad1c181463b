#include "tests/unit.h"

#include "cli/engine/idle.h"

enum { LONG_MS = 60 * 1000, SHORT_MS = 1000 };

static struct loop *quiet_loop(struct clock **out_clock)
{
    *out_clock = clock_virtual_new(1767225600000, 1);
    return loop_new(*out_clock);
}

static void the_timer_does_not_fire_while_requests_come(void **state)
{
    struct clock *clock;
    struct loop *loop = quiet_loop(&clock);
    struct idle_timer rest;

    idle_timer_start(&rest, loop);
    assert_false(timer_armed(&rest.timer));
    for (int i = 0; i < 10; i++) {
        idle_timer_note(&rest);
        loop_advance(loop, SHORT_MS);
        assert_true(timer_armed(&rest.timer));
    }
    idle_timer_stop(&rest);
    loop_free(loop);
    clock_free(clock);
}

static void no_timer_runs_while_idle(void **state)
{
    struct clock *clock;
    struct loop *loop = quiet_loop(&clock);
    struct idle_timer rest;

    idle_timer_start(&rest, loop);
    for (int i = 0; i < 2; i++) {
        idle_timer_note(&rest);
        loop_advance(loop, LONG_MS);
        assert_false(timer_armed(&rest.timer));
    }
    idle_timer_stop(&rest);
    idle_timer_stop(&(struct idle_timer){0});
    loop_free(loop);
    clock_free(clock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timer_does_not_fire_while_requests_come),
        cmocka_unit_test(no_timer_runs_while_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
