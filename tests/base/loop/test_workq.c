#include "tests/unit.h"

#include "base/loop/workq.h"

struct counted {
    struct work work;
    int handled;
    int64_t last_ms;
    int fail_times; /* the first so many attempts fail and back off; then one succeeds */
};

static void count(struct work *work)
{
    struct counted *counted = container_of(work, struct counted, work);

    counted->handled++;
    counted->last_ms = loop_wall_ms(work->loop);
    if (counted->fail_times > 0) {
        counted->fail_times--;
        work_add_backoff(work);
    } else {
        work_forget(work);
    }
}

struct setup {
    struct clock *clock;
    struct loop *loop;
};

static struct setup set_up(void)
{
    struct clock *clock = clock_virtual_new(0, 1);

    return (struct setup){clock, loop_new(clock)};
}

static void tear_down(struct setup *setup)
{
    loop_free(setup->loop);
    clock_free(setup->clock);
}

static void a_key_is_handled_once_however_often_it_is_added(void **state)
{
    struct setup s = set_up();
    struct counted a = {0};

    work_init(&a.work, s.loop, count);
    work_add(&a.work);
    work_add(&a.work);
    loop_settle(s.loop);
    assert_int_equal(a.handled, 1);
    work_add(&a.work);
    loop_settle(s.loop);
    assert_int_equal(a.handled, 2);
    tear_down(&s);
}

static void a_delay_keeps_the_earlier_wake_up(void **state)
{
    struct setup s = set_up();
    struct counted a = {0};

    work_init(&a.work, s.loop, count);
    work_add_after(&a.work, 5000);
    work_add_after(&a.work, 9000);
    work_add_after(&a.work, 3000);
    assert_true(loop_drain(s.loop, 60000));
    assert_int_equal(a.handled, 1);
    assert_int_equal(a.last_ms, 3000);
    work_add_after(&a.work, 0);
    loop_settle(s.loop);
    assert_int_equal(a.handled, 2);
    work_add_after(&a.work, INT64_MAX);
    assert_false(loop_drain(s.loop, 60000));
    work_stop(&a.work);
    tear_down(&s);
}

static void adding_at_once_keeps_the_delay(void **state)
{
    struct setup s = set_up();
    struct counted a = {0};

    work_init(&a.work, s.loop, count);
    work_add_after(&a.work, 5000);
    work_add(&a.work);
    loop_settle(s.loop);
    assert_int_equal(a.handled, 1);
    assert_true(loop_drain(s.loop, 60000));
    assert_int_equal(a.handled, 2);
    assert_int_equal(a.last_ms, 5000);
    tear_down(&s);
}

/* covers: reliability.md L-41 */
static void failures_back_off_to_a_minute(void **state)
{
    static const int64_t delays_ms[] = {5,    10,   20,   40,    80,    160,   320,   640,
                                        1280, 2560, 5120, 10240, 20480, 40960, 60000, 60000};
    struct setup s = set_up();
    struct counted a = {.fail_times = countof(delays_ms)};
    int64_t want_ms = 0;

    work_init(&a.work, s.loop, count);
    work_add(&a.work);
    loop_settle(s.loop);
    for (size_t i = 0; i < countof(delays_ms); i++) {
        want_ms += delays_ms[i];
        loop_advance(s.loop, delays_ms[i] - 1);
        assert_int_equal(a.handled, i + 1);
        loop_advance(s.loop, 1);
        assert_int_equal(a.handled, i + 2);
        assert_int_equal(a.last_ms, want_ms);
    }
    assert_int_equal(a.work.failures, 0); /* the last attempt succeeded */
    a.fail_times = 1;
    work_add(&a.work);
    assert_true(loop_drain(s.loop, 60000));
    assert_int_equal(a.last_ms, want_ms + 5);
    tear_down(&s);
}

static void stopped_work_is_not_handled(void **state)
{
    struct setup s = set_up();
    struct counted a = {0}, never_initialised = {0};

    work_init(&a.work, s.loop, count);
    work_add(&a.work);
    work_add_after(&a.work, 10);
    work_stop(&a.work);
    work_stop(&a.work);
    work_stop(&never_initialised.work);
    assert_true(loop_drain(s.loop, 1000));
    assert_int_equal(a.handled, 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_handled_once_however_often_it_is_added),
        cmocka_unit_test(a_delay_keeps_the_earlier_wake_up),
        cmocka_unit_test(adding_at_once_keeps_the_delay),
        cmocka_unit_test(failures_back_off_to_a_minute),
        cmocka_unit_test(stopped_work_is_not_handled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
